// SPDX-License-Identifier: Apache-2.0

internal import EventLoop
package import Sockets
internal import Synchronization

/// How it stands with the bus, told when it changes.
package enum BusState: Sendable, Equatable {
    case connected
    /// Once for all tries until it is there again; why, for people.
    case lost(String)
}

/// Where a bus is, and how patiently it is looked for.
package struct BusPlace: Sendable {
    /// The machine's bus. The service always uses this address: no variable or option can show it another
    /// (03 §10 point 9).
    package static let system = BusPlace(address: "unix:path=/run/dbus/system_bus_socket")

    /// In D-Bus's words: `unix:path=…`.
    package var address: String
    /// Between tries.
    package var pauses = ReconnectPauses.usual
    /// How long a bus has to let this process in.
    package var connectLimit: Duration = .seconds(5)

    package init(address: String) { self.address = address }
}

/// A message bus kept in touch with: one connection, one thread ("bus") that owns it, made again with growing pauses
/// whenever it is lost. What needs the bus is a ``BusUser`` made on that thread.
package final class Bus: Sendable {
    private struct State {
        var jobs: [@Sendable (BusLink) -> Void] = []
        var users = 0
        var thread: JoinHandle?
    }

    private let place: BusPlace
    private let mailbox: Mailbox
    private let wakeUp: WakeUp
    private let state = Mutex(State())

    /// Connects to nothing yet. Throws when descriptors have run out.
    package init(_ place: BusPlace) throws(SocketError) {
        self.place = place
        mailbox = try Mailbox()
        wakeUp = try WakeUp()
    }

    deinit { stop() }

    /// Adds a user, made on the bus's thread; when the bus is there, it is told at once.
    @discardableResult
    package func add<User: BusUser>(_ make: @escaping @Sendable (BusLink) -> User) -> BusUserHandle<User> {
        let number = state.withLock { state in
            state.users += 1
            return state.users
        }
        post { link in link.add(make(link), number: number) }
        return BusUserHandle(bus: self, number: number)
    }

    /// Begins to connect. `note` is called on the bus's thread. Once; throws when the system has no
    /// thread or descriptor left.
    package func start(_ note: @escaping @Sendable (BusState) -> Void = { _ in }) throws(SocketError) {
        let started = try runLoop(name: "bus", mailbox) { [weak self, place, wakeUp] loop in
            let link = BusLink(place, loop: loop, note: note)
            let jobs = loop.watch(wakeUp.descriptor, readable: true, writable: false) { _ in
                wakeUp.clear()
                for job in self?.takeJobs() ?? [] { job(link) }
            }
            link.connect()
            loop.run()
            link.close()
            withExtendedLifetime(jobs) {}
        }
        state.withLock { $0.thread = started }
    }

    /// Ends the connection and the thread. No user is called after this returns, not even with what is pending.
    package func stop() {
        mailbox.stop()
        let running = state.withLock { state in
            let running = state.thread
            state.thread = nil
            return running
        }
        running?.join()
    }

    /// Runs a job on the bus's thread, after those posted before it.
    fileprivate func post(_ job: @escaping @Sendable (BusLink) -> Void) {
        let isFirst = state.withLock { state in
            state.jobs.append(job)
            return state.jobs.count == 1
        }
        if isFirst { wakeUp.signal() }
    }

    private func takeJobs() -> [@Sendable (BusLink) -> Void] {
        state.withLock { state in
            let jobs = state.jobs
            state.jobs = []
            return jobs
        }
    }
}

/// The way to a user from other threads.
package struct BusUserHandle<User: BusUser>: Sendable {
    fileprivate let bus: Bus
    fileprivate let number: Int

    /// Runs a job with the user on the bus's thread, in the order they were told; never after the bus has stopped.
    package func tell(_ job: @escaping @Sendable (User) -> Void) {
        bus.post { [number] link in
            if let user = link.user(number) as? User { job(user) }
        }
    }
}
