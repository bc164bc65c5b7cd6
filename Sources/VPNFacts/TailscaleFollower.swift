// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import EventLoop
package import Sockets
internal import Synchronization
package import SystemBus
internal import Wire

/// Hears from tailscaled that something about it changed (09.37): its event stream is followed while this runs, and
/// begun again, with growing pauses, when it ends. What changed is asked elsewhere; nothing that arrives is kept.
package final class TailscaleFollower: Sendable {
    private let places: Places
    private let pauses: ReconnectPauses
    private let onChange: @Sendable () -> Void
    private let mailbox: Mailbox
    private let thread = Mutex<JoinHandle?>(nil)

    /// `onChange` is called on this follower's thread, also when the daemon came, or went.
    package convenience init(onChange: @escaping @Sendable () -> Void) throws(SocketError) {
        try self.init(Places.system, onChange: onChange)
    }

    /// Elsewhere, with other pauses.
    package init(
        _ places: Places, pauses: ReconnectPauses = .usual, onChange: @escaping @Sendable () -> Void
    ) throws(SocketError) {
        self.places = places
        self.pauses = pauses
        self.onChange = onChange
        mailbox = try Mailbox()
    }

    deinit { stop() }

    /// Begins, on a thread of its own. Once.
    package func start() throws(SocketError) {
        let started = try runLoop(name: "tailscale", mailbox) { [places, pauses, onChange] loop in
            let stream = BusStream(
                TailscaleDaemon(sockets: places.tailscale), loop: loop, pauses: pauses, onChange: onChange)
            stream.connect()
            loop.run()
            withExtendedLifetime(stream) {}
        }
        thread.withLock { $0 = started }
    }

    /// Ends the thread; `onChange` is not called after this returns. Prompt.
    package func stop() {
        mailbox.stop()
        thread.withLock { $0 }?.join()
    }
}

/// One connection to the event stream after the other, on the follower's thread.
private final class BusStream {
    private let daemon: TailscaleDaemon
    private let loop: EventLoop
    private var pauses: ReconnectPauses
    private let onChange: () -> Void
    private var connection: Connection?
    private var watch: Watch?
    private var timer: Timer?

    /// Read at once.
    private static let chunk = 65_536
    /// A stream that lasted so long had been a good one.
    private static let steady = Duration.seconds(10)

    init(
        _ daemon: TailscaleDaemon, loop: EventLoop, pauses: ReconnectPauses, onChange: @escaping () -> Void
    ) {
        self.daemon = daemon
        self.loop = loop
        self.pauses = pauses
        self.onChange = onChange
    }

    /// A socket and how far its answer is read.
    private final class Connection {
        let socket: Socket
        let outgoing = ByteBuffer()
        let incoming = ByteBuffer()
        var parser = HTTPResponseParser()
        var events = TailscaleEvents()
        var isFollowing = false
        let begun = monotonicNow()
        init(_ socket: consuming Socket) { self.socket = socket }
    }

    func connect() {
        timer = nil
        guard let path = daemon.socket else { return retry() }
        do throws(SocketError) {
            let made = Connection(try Socket.unixConnect(path: path, nonblocking: true))
            made.outgoing.append(Array(TailscaleEvents.request.utf8))
            connection = made
            watch = loop.watch(made.socket.descriptor, readable: true, writable: true) {
                [unowned self] events in
                if events.contains(.readable) { read() } else { write() }
            }
        } catch {
            retry()
        }
    }

    private func retry() {
        let wasFollowing = connection?.isFollowing ?? false
        // One that ends at once each time is not begun at once each time.
        if let connection, wasFollowing, monotonicNow() - connection.begun > Self.steady { pauses.reset() }
        watch = nil
        connection = nil
        timer = loop.timer(after: pauses.next()) { [unowned self] in connect() }
        if wasFollowing { onChange() }
    }

    private func write() {
        guard let connection else { return }
        do throws(SocketError) {
            while !connection.outgoing.isEmpty {
                guard try connection.socket.write(from: connection.outgoing) != nil else { return }
            }
            watch?.set(readable: true, writable: false)
        } catch {
            retry()
        }
    }

    private func read() {
        guard let connection else { return }
        do throws(SocketError) {
            guard try connection.socket.read(into: connection.incoming, max: Self.chunk) != nil else {
                return
            }
        } catch {
            return retry()
        }
        let bytes = connection.incoming.take(connection.incoming.count)
        guard !bytes.isEmpty else { return retry() }
        var hasChanged = false
        do throws(HTTPResponseParser.Malformed) {
            for piece in try connection.parser.feed(bytes[...]) {
                switch piece {
                case .head(let head):
                    guard head.status == 200 else { return retry() }
                    connection.isFollowing = true
                    hasChanged = true
                case .body(let part): if connection.events.feed(part) { hasChanged = true }
                case .end: return retry()
                }
            }
        } catch {
            return retry()
        }
        if hasChanged { onChange() }
    }
}

/// tailscaled's event stream: one JSON object a line (ipn.Notify). Which lines say that something changed is all that is
/// read of it.
struct TailscaleEvents {
    /// No private keys are wanted, and nothing of how it stands: that is asked elsewhere.
    static let request =
        "GET /localapi/v0/watch-ipn-bus?mask=16 HTTP/1.1\r\nHost: \(TailscaleDaemon.host)\r\n\r\n"

    /// A map of a large tailnet is longer than this; nothing of one is read but that it came.
    static let lineLimit = 64 * 1024
    /// What a report is made of.
    private static let keys: Set = ["State", "Prefs", "NetMap", "SelfChange"]

    private var line: [UInt8] = []
    private var isTooLong = false

    /// Takes bytes in; whether a line that ended in them says that something changed.
    mutating func feed(_ bytes: [UInt8]) -> Bool {
        var hasChanged = false
        var rest = bytes[...]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            take(rest[..<end])
            if isChange { hasChanged = true }
            line = []
            isTooLong = false
            rest = rest[(end + 1)...]
        }
        take(rest)
        return hasChanged
    }

    private mutating func take(_ part: ArraySlice<UInt8>) {
        if line.count + part.count > Self.lineLimit {
            isTooLong = true
            line = []
        }
        if !isTooLong { line += part }
    }

    private var isChange: Bool {
        if isTooLong { return true }
        guard !line.isEmpty, let members = (try? JSON.parse(line))?.members else { return false }
        return members.contains { Self.keys.contains($0.key) && !$0.value.isNull }
    }
}
