// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import EventLoop
internal import Sockets
internal import Wire

/// One session's connection to the streaming process.
final class BackendLink {
    /// Bytes for the backend, the PROXY header first.
    let outgoing = ByteBuffer()
    /// The backend has not accepted yet.
    private(set) var isConnecting = true
    /// Its stream is over.
    var hasEnded = false
    /// It has sent something.
    private(set) var hasSpoken = false
    /// It takes nothing any more; what it still says is read.
    private(set) var isDeaf = false
    /// The device has ended its half: so do we, once everything is written.
    var endsAfterFlush = false

    private let target: Doors.Backend
    private let loop: EventLoop
    private let ready: (IOEvents) -> Void
    private var shared: SharedSocket?
    private var watch: Watch?
    private var retry: Timer?
    private var problem: SocketError?
    private var sentFIN = false

    /// Between two tries at a Unix socket whose queue is full; such a connect does not wait by itself.
    private static let retryInterval: Duration = .milliseconds(20)

    enum Received {
        case bytes
        case nothing
        /// At the end of its stream; the problem when it broke off.
        case ended(problem: String?)
    }

    /// Begins to connect. Throws when that fails at once. `first` is written before anything else; `ready` is called
    /// when connecting has ended, and for what ``watchFor(readable:)`` asks.
    init(
        _ target: Doors.Backend, first: [UInt8], loop: EventLoop, ready: @escaping (IOEvents) -> Void
    ) throws(SocketError) {
        self.target = target
        self.loop = loop
        self.ready = ready
        outgoing.append(first)
        try dial()
    }

    private func dial() throws(SocketError) {
        let shared: SharedSocket
        switch target {
        case .unix(let path):
            do {
                shared = SharedSocket(try Socket.unixConnect(path: path, nonblocking: true))
                isConnecting = false
            } catch  where error.isWouldBlock {
                retry = loop.timer(after: Self.retryInterval) { [unowned self] in dialAgain() }
                return
            }
        case .tcp(let address):
            shared = SharedSocket(try Socket.tcpConnect(address, nonblocking: true))
            disableNagle(shared.socket)
        }
        self.shared = shared
        watch = loop.watch(shared.socket.descriptor, readable: !isConnecting, writable: isConnecting) {
            [unowned self] events in self.ready(events)
        }
    }

    private func dialAgain() {
        do { try dial() } catch { problem = error }
        if problem != nil || !isConnecting { ready([]) }
    }

    /// Asked while connecting, when ``ready`` was called: throws when connecting failed.
    func finishConnecting() throws(SocketError) {
        if let problem { throw problem }
        guard let shared else { return }
        let code = shared.socket.connectError()
        guard code == 0 else { throw SocketError(errno: code, call: "connect to the backend") }
        isConnecting = false
    }

    /// Whether it has said something that nobody has read yet.
    var hasBytesReady: Bool { shared.map { $0.socket.bytesReady() > 0 } ?? false }

    /// Reads once, at most `max` bytes.
    func receive(into buffer: ByteBuffer, max: Int) -> Received {
        guard let shared else { return .nothing }
        do {
            guard let count = try shared.socket.read(into: buffer, max: max) else { return .nothing }
            guard count > 0 else { return .ended(problem: nil) }
            hasSpoken = true
            return .bytes
        } catch {
            return .ended(problem: error.message)
        }
    }

    /// Writes what it takes now. A backend that has closed shows at the next read, where its last words are.
    func flush() {
        guard let shared, !isConnecting else { return }
        while !outgoing.isEmpty {
            do {
                guard try shared.socket.write(from: outgoing) != nil else { return }
            } catch {
                isDeaf = true
                outgoing.removeAll()
            }
        }
        if endsAfterFlush, !sentFIN {
            sentFIN = true
            shared.socket.shutdownWrite()
        }
    }

    /// Asks the loop for what is wanted: bytes, unless the device is behind; room, while bytes wait.
    func watchFor(readable: Bool) {
        watch?.set(
            readable: readable && !isConnecting && !hasEnded, writable: isConnecting || !outgoing.isEmpty)
    }

    /// Gives the memory of an empty buffer back when it is more than `kept` bytes.
    func releaseIdleMemory(above kept: Int) {
        if outgoing.isEmpty, outgoing.capacity > kept { outgoing.releaseStorage() }
    }

    /// Ends it: what waits is offered once more, and the descriptor is closed.
    func close() {
        flush()
        watch = nil
        retry = nil
        shared = nil
    }
}
