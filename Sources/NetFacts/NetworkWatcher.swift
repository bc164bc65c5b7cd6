// SPDX-License-Identifier: Apache-2.0

internal import EventLoop
package import Policy
package import Sockets
internal import Synchronization

/// Keeps the doors' interface table current: read once at the start, then again at once whenever the kernel says that a
/// link, address, route or rule changed (spec 09 point 34). Nothing polls.
package final class NetworkWatcher: Sendable {
    private let follower: Follower
    private let thread = Mutex<JoinHandle?>(nil)

    /// Reads the table. Throws when the kernel gives no rtnetlink socket or no answer.
    package init() throws(SocketError) { follower = try Follower() }

    deinit { stop() }

    /// The table of this moment.
    package var table: InterfaceTable { follower.latest.withLock { $0 } }

    /// Begins to follow changes, on a thread of its own, which calls `onChange` with each table that differs from the
    /// one before; the first is compared with what `init` read. Once.
    package func start(_ onChange: @escaping @Sendable (InterfaceTable) -> Void) throws(SocketError) {
        let follower = follower
        follower.onChange.withLock { $0 = onChange }
        let started = try runThread(name: "network") { follower.follow() }
        thread.withLock { $0 = started }
    }

    /// Reads the table now, on this thread, and tells it if it is another one: for whoever met an interface that the table
    /// does not have, because the kernel's word about it may wait to be read. Before `start`, nobody is told.
    package func lookAgain() { try? follower.look() }

    /// Ends the thread; `onChange` is not called by it after this returns.
    package func stop() {
        follower.stopping.signal()
        thread.withLock { $0 }?.join()
    }

    /// One look, for tools; follows nothing.
    package static func read() throws(SocketError) -> InterfaceTable {
        var routes = try RouteSocket()
        return try routes.read().table(Sysfs().facts)
    }
}

/// What the thread holds; not the watcher, which may go while it runs.
private final class Follower: Sendable {
    let latest: Mutex<InterfaceTable>
    let stopping: WakeUp
    /// Who is told; nil before the start.
    let onChange = Mutex<(@Sendable (InterfaceTable) -> Void)?>(nil)
    private let changes: ChangeSocket
    private let routes: Mutex<RouteSocket>

    /// How long after a look that failed the next one is made, in milliseconds.
    private static let retryMilliseconds: Int32 = 1000

    /// The socket that is told was opened before the first look, so that no change falls between the two.
    init() throws(SocketError) {
        changes = try ChangeSocket()
        stopping = try WakeUp()
        var routes = try RouteSocket()
        latest = Mutex(try routes.read().table(Sysfs().facts))
        self.routes = Mutex(routes)
    }

    func follow() {
        var limit: Int32?
        while changes.wait(orUntil: stopping, limit: limit) {
            do {
                try look()
                limit = nil
            } catch {
                // Out of memory or descriptors: the old table stays until the kernel answers again.
                limit = Self.retryMilliseconds
            }
        }
    }

    /// Reads the table, and tells it if it is another one. Whoever looks tells before the next look, so that an older
    /// table never follows a newer one.
    func look() throws(SocketError) {
        try routes.withLock { routes throws(SocketError) in
            let table = try routes.read().table(Sysfs().facts)
            let isNew = latest.withLock { latest in
                if latest == table { return false }
                latest = table
                return true
            }
            if isNew { onChange.withLock { $0 }?(table) }
        }
    }
}
