// The local API's server. SPDX-License-Identifier: Apache-2.0

internal import EventLoop
internal import Glibc
package import Sockets
internal import Synchronization
package import Wire

/// HTTP/1.1 on a Unix socket and on loopback TCP (spec 07), one thread for all of it.
///
/// It knows nothing of what the routes do; they come as a table.
package final class APIServer: Sendable {
    /// A line for the log, at level error.
    package typealias Log = @Sendable (_ message: String, _ fields: [(String, String)]) -> Void
    /// Told of every answer: the route's index in the table (nil: refused before one), the status, the time it took.
    package typealias Observe = @Sendable (_ route: Int?, _ status: Int, _ took: Duration) -> Void

    /// What it is made of.
    package struct Configuration: Sendable {
        /// Path of the Unix socket; nil: none.
        package var unixPath: String?
        /// The TCP port on loopback; 0: any free one; nil: none.
        package var tcpPort: UInt16?
        /// Listening sockets from the service manager; they stand in for those above of their kind.
        package var inherited: [Int32] = []
        /// Who may use the Unix socket.
        package var callers: SocketCallers
        /// The role a bearer token gives; compares in constant time.
        package var authorize: @Sendable (String) -> Role?
        /// Every operation.
        package var routes: [APIRoute]
        /// The events of `Answer.events`.
        package var events: EventHub?
        /// Takes a line for the log.
        package var log: Log = { _, _ in }
        /// Told of every answer.
        package var observe: Observe = { _, _, _ in }

        /// A server of these routes that listens nowhere yet.
        package init(
            callers: SocketCallers, authorize: @escaping @Sendable (String) -> Role?, routes: [APIRoute],
            events: EventHub? = nil
        ) {
            self.callers = callers
            self.authorize = authorize
            self.routes = routes
            self.events = events
        }
    }

    /// The path of the Unix socket; nil: none, or one that was inherited.
    package let unixPath: String?
    /// The TCP port; nil: none.
    package let port: UInt16?
    /// Where it listens over TCP: "127.0.0.1:7456".
    package let tcpAddresses: [SocketAddress]
    private let mailbox: Mailbox
    private let events: EventHub?
    private let thread: Mutex<JoinHandle?>

    /// Listens and serves. Throws the socket call that failed; with `isAddressInUse` when the port or the path is taken.
    package init(_ configuration: Configuration) throws(SocketError) {
        let bound = try BoundListeners(configuration)
        unixPath = bound.unixPath
        port = bound.port
        tcpAddresses = bound.addresses
        events = configuration.events
        mailbox = try Mailbox()
        let table = RouteTable(configuration.routes)
        let setup = ServerThread.Setup(
            listeners: bound.descriptors, callers: configuration.callers,
            rules: CallerRules(port: bound.port),
            gatekeeper: { [authorize = configuration.authorize] in
                Gatekeeper(table: table, authorize: authorize)
            },
            mailbox: mailbox, log: configuration.log, observe: configuration.observe)
        let started = try WakeUp()
        let outcome = StartOutcome()
        let handle = try runThread(name: "api") {
            let server = ServerThread(setup)
            outcome.isRunning.store(server != nil, ordering: .releasing)
            started.signal()
            server?.run()
        }
        _ = started.wait(until: nil)
        thread = Mutex(handle)
        guard outcome.isRunning.load(ordering: .acquiring) else {
            throw SocketError(errno: EMFILE, call: "MHD_start_daemon")
        }
        events?.attach(mailbox)
    }

    /// Answers what waits with 503, ends event streams, closes every connection and joins the thread. Removes the
    /// socket's file. A second call does nothing.
    package func stop() {
        let handle = thread.withLock { handle in
            defer { handle = nil }
            return handle
        }
        guard let handle else { return }
        events?.attach(nil)
        mailbox.stop()
        handle.join()
        if let unixPath { try? removeFile(unixPath) }
    }

    deinit { stop() }
}

/// Whether the server's thread came up.
private final class StartOutcome: Sendable {
    let isRunning = Atomic(false)
}
