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
    private(set) var isConnecting: Bool
    /// Its stream is over.
    var hasEnded = false
    /// It has sent something.
    private(set) var hasSpoken = false
    /// It takes nothing any more; what it still says is read.
    private(set) var isDeaf = false
    /// The device has ended its half: so do we, once everything is written.
    var endsAfterFlush = false

    private let socket: Socket
    private let target: Backend
    private let loop: EventLoop
    private let ready: (IOEvents) -> Void
    private var watch: Watch?
    private var retry: Timer?
    private var sentFIN = false

    /// Between two tries at a Unix socket whose queue is full; such a connect does not wait by itself.
    private static let retryInterval: Duration = .milliseconds(20)

    enum Received {
        case bytes
        case nothing
        /// At the end of its stream; the problem when it broke off.
        case ended(problem: String?)
    }

    /// Begins to connect. Throws when that fails at once. `first` is written before anything else.
    init(
        _ target: Backend, first: [UInt8], loop: EventLoop, ready: @escaping (IOEvents) -> Void
    ) throws(SocketError) {
        self.target = target
        self.loop = loop
        self.ready = ready
        switch target {
        case .unix(let path):
            socket = try Socket.unixConnect(path: path, nonblocking: true)
            isConnecting = false
        case .tcp(let address):
            socket = try Socket.tcpConnect(address, nonblocking: true)
            disableNagle(socket)
            isConnecting = true
        }
        outgoing.append(first)
        watch = loop.watch(socket.descriptor, readable: !isConnecting, writable: isConnecting) {
            [unowned self] events in self.ready(events)
        }
    }

    /// A connect under way has ended; throws when it failed.
    func finishConnecting() throws(SocketError) {
        let code = socket.connectError()
        guard code == 0 else { throw SocketError(errno: code, call: "connect to the backend") }
        isConnecting = false
    }

    /// Reads once, at most `max` bytes.
    func receive(into buffer: ByteBuffer, max: Int) -> Received {
        do {
            guard let count = try socket.read(into: buffer, max: max) else { return .nothing }
            guard count > 0 else { return .ended(problem: nil) }
            hasSpoken = true
            return .bytes
        } catch {
            return .ended(problem: error.message)
        }
    }

    /// Writes what it takes now. A backend that has closed shows at the next read, where its last words are.
    func flush() {
        while !outgoing.isEmpty {
            do {
                guard try socket.write(from: outgoing) != nil else { return }
            } catch {
                isDeaf = true
                outgoing.removeAll()
            }
        }
        if endsAfterFlush, !sentFIN {
            sentFIN = true
            socket.shutdownWrite()
        }
    }

    /// Asks the loop for what is wanted: bytes, unless the device is behind; room, while bytes wait.
    func watchFor(readable: Bool) {
        watch?.set(
            readable: readable && !isConnecting && !hasEnded, writable: isConnecting || !outgoing.isEmpty)
    }

    func releaseIdleMemory(above kept: Int) {
        if outgoing.isEmpty, outgoing.capacity > kept { outgoing.releaseStorage() }
    }

    /// Ends it: what waits is offered once more, then everything is closed with the last reference.
    func close() {
        if !isConnecting { flush() }
        watch = nil
    }
}
