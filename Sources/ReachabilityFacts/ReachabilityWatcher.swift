// SPDX-License-Identifier: Apache-2.0

internal import EventLoop
package import Policy
internal import RouterProbe
package import Sockets
internal import Synchronization
internal import Wire

/// Keeps what a report is made of current while it is wanted, and looks anew for whoever asks (05 A5, B6, B12; 09.36).
package final class ReachabilityWatcher: Sendable {
    private let desk: WatchDesk
    private let thread = Mutex<JoinHandle?>(nil)

    /// `publish` is told each time the facts changed or were confirmed, from one thread of this watcher, in order; the first
    /// time when the first whole look at this host is done (05 A1 rule 3), the router's answer then still being nil or
    /// unfinished. When the watching begins or ends it is told evidence of nothing, if it had been told of something.
    package init(
        _ witnesses: ReachabilityWitnesses, publish: @escaping @Sendable (ReachabilityEvidence) -> Void
    ) throws(SocketError) {
        desk = try WatchDesk(witnesses, publish)
    }

    deinit { stop() }

    /// Begins, with the table of this moment. Once.
    package func start(_ table: InterfaceTable) throws(SocketError) {
        let desk = desk
        let started = try runThread(name: "reachability") { desk.run(table) }
        thread.withLock { $0 = started }
    }

    /// The switches are these now. Takes effect at once; does nothing when they are as before.
    package func want(_ wanted: ReachabilityWanted) { desk.post(.want(wanted)) }

    /// The interfaces are these now; looked at 0.5 s later, with what came in between.
    package func networkChanged(_ table: InterfaceTable) { desk.post(.network(table)) }

    /// The router was made to forward a port, or to forward it no more: while it is watched it is asked again.
    package func forwardsChanged() { desk.post(.forwardsChanged) }

    /// Looks at everything, the router included whatever the switch says, and tells `done` within 7 s; ``publish`` comes
    /// first. Whoever asks while one is being made shares it.
    package func look(_ done: @escaping @Sendable (ReachabilityEvidence) -> Void) { desk.look(done) }

    /// Ends its threads; nothing is told after this returns. Whoever waits for a look is told what is known. A witness that
    /// is still being asked is left to its own end.
    package func stop() {
        desk.stop()
        let running = thread.withLock { thread in
            let running = thread
            thread = nil
            return running
        }
        if let running, desk.hasEnded(within: Self.patience) { running.join() }
    }

    /// Where the system has no thread to ask on, the watcher's own asks, for seconds; it is then left behind like any other.
    private static let patience = Duration.seconds(1)
}

/// What the watcher's thread holds; not the watcher, which may go while it runs.
private final class WatchDesk: Sendable {
    private struct Inbox {
        var events: [WatchState.Event] = []
        var waiting: [UInt64: @Sendable (ReachabilityEvidence) -> Void] = [:]
        var lastID: UInt64 = 0
        var isStopped = false
        /// Nobody waits for the thread any more, and nobody is told anything.
        var isLeft = false
    }

    private let inbox = Mutex(Inbox())
    private let wakeUp: WakeUp
    private let finished: WakeUp
    private let witnesses: ReachabilityWitnesses
    private let publish: @Sendable (ReachabilityEvidence) -> Void

    init(
        _ witnesses: ReachabilityWitnesses, _ publish: @escaping @Sendable (ReachabilityEvidence) -> Void
    ) throws(SocketError) {
        wakeUp = try WakeUp()
        finished = try WakeUp()
        self.witnesses = witnesses
        self.publish = publish
    }

    func post(_ event: WatchState.Event) {
        let isTaken = inbox.withLock { inbox in
            if !inbox.isStopped { inbox.events.append(event) }
            return !inbox.isStopped
        }
        if isTaken { wakeUp.signal() }
    }

    func look(_ done: @escaping @Sendable (ReachabilityEvidence) -> Void) {
        inbox.withLock { inbox in
            guard !inbox.isStopped else { return }
            inbox.lastID += 1
            inbox.waiting[inbox.lastID] = done
            inbox.events.append(.look(inbox.lastID))
        }
        wakeUp.signal()
    }

    func stop() {
        inbox.withLock { $0.isStopped = true }
        wakeUp.signal()
    }

    /// Whether the thread is done in time; if not, it is left to itself.
    func hasEnded(within limit: Duration) -> Bool {
        if finished.wait(until: monotonicNow() + limit) { return true }
        inbox.withLock { $0.isLeft = true }
        return false
    }

    func run(_ table: InterfaceTable) {
        defer { finished.signal() }
        var state = WatchState(table, now: witnesses.now())
        var following = Following()
        while true {
            wakeUp.clear()
            let (events, isStopped) = inbox.withLock { inbox in
                defer { inbox.events = [] }
                return (inbox.events, inbox.isStopped)
            }
            for event in events {
                for effect in state.take(event, now: witnesses.now()) { perform(effect, &following) }
            }
            if isStopped { break }
            for effect in state.step(now: witnesses.now()) { perform(effect, &following) }
            _ = wakeUp.wait(until: state.nextDeadline)
        }
        for effect in state.stop() { perform(effect, &following) }
    }

    /// What ends each thing that is followed.
    private struct Following {
        var vpn: (@Sendable () -> Void)?
        var gateway: (@Sendable () -> Void)?
    }

    private func perform(_ effect: WatchState.Effect, _ following: inout Following) {
        let gatherer = ReachabilityGatherer(witnesses)
        switch effect {
        case .lookAtHost(let table, let port, let name):
            begin("reach-host") { .hostEnded(gatherer.lookAtHost(table, port: port, name: name)) }
        case .askRouter(let question):
            begin("reach-router") { .routerEnded(question, gatherer.askRouter(question)) }
        case .publish(let evidence):
            if !inbox.withLock({ $0.isLeft }) { publish(evidence) }
        case .answer(let id, let evidence):
            inbox.withLock { $0.isLeft ? nil : $0.waiting.removeValue(forKey: id) }?(evidence)
        case .followVPN(let isOn):
            following.vpn?()
            following.vpn =
                isOn ? witnesses.followTailscale?({ [weak self] in self?.post(.vpnChanged) }) : nil
        case .followGateway(let question):
            following.gateway?()
            following.gateway = question.flatMap { question in
                witnesses.followGateway?(question, { [weak self] in self?.post(.announced) })
            }
        }
    }

    /// On a thread of its own, since every one of them may take seconds; this one when there is no other.
    private func begin(_ name: String, _ look: @escaping @Sendable () -> WatchState.Event) {
        do throws(SocketError) {
            _ = try runThread(name: name) { [self] in post(look()) }
        } catch {
            post(look())
        }
    }
}
