// SPDX-License-Identifier: Apache-2.0

internal import EventLoop
package import Policy
package import RouterProbe
package import Sockets
internal import Synchronization
package import Wire

/// Has the router asked for the mapping and the pinhole that the owner wants, and for their end (05 B8, B9): on a thread of
/// its own, one request at a time. `MappingKeeper` decides.
package final class MappingRunner: Sendable {
    /// What carries a request out; each blocks, 6 s at most.
    package struct Operations: Sendable {
        package var map: @Sendable (MappingWish, LANLink) -> MappingOutcome
        package var unmap: @Sendable (MappingGrant, LANLink) -> UnmappingOutcome
        package var openPinhole: @Sendable (PinholeWish, LANLink) -> PinholeOutcome
        package var renewPinhole: @Sendable (PinholeGrant, LANLink) -> PinholeOutcome
        package var closePinhole: @Sendable (PinholeGrant, LANLink) -> UnmappingOutcome

        package init(
            map: @escaping @Sendable (MappingWish, LANLink) -> MappingOutcome,
            unmap: @escaping @Sendable (MappingGrant, LANLink) -> UnmappingOutcome,
            openPinhole: @escaping @Sendable (PinholeWish, LANLink) -> PinholeOutcome,
            renewPinhole: @escaping @Sendable (PinholeGrant, LANLink) -> PinholeOutcome,
            closePinhole: @escaping @Sendable (PinholeGrant, LANLink) -> UnmappingOutcome
        ) {
            self.map = map
            self.unmap = unmap
            self.openPinhole = openPinhole
            self.renewPinhole = renewPinhole
            self.closePinhole = closePinhole
        }

        /// The real ones.
        package init(_ mapper: RouterMapper) {
            self.init(
                map: mapper.map, unmap: mapper.unmap, openPinhole: mapper.pinhole,
                renewPinhole: mapper.renewPinhole, closePinhole: mapper.closePinhole)
        }
    }

    /// How things stand.
    package struct Standing: Sendable, Equatable {
        package var mapping: MappingOutcome?
        package var mappingExpires: MonotonicTime?
        package var pinhole: PinholeOutcome?
        package var pinholeExpires: MonotonicTime?
        /// Whether an earlier request by name has brought the mapping at last, so that the setting may follow.
        package var isNewlyGranted = false

        package init() {}
    }

    private let desk: MappingDesk
    private let thread = Mutex<JoinHandle?>(nil)

    /// `link` says where the router is asked from, at the time of each request; nil: from nowhere now. `told` hears each
    /// change, on this runner's thread.
    package init(
        _ operations: Operations, link: @escaping @Sendable () -> LANLink?,
        now: @escaping @Sendable () -> MonotonicTime = { monotonicNow() },
        told: @escaping @Sendable (Standing) -> Void
    ) throws(SocketError) {
        desk = try MappingDesk(operations, link, now, told)
    }

    deinit { stop(within: .zero) }

    /// Begins. Once.
    package func start() throws(SocketError) {
        let started = try runThread(name: "mapping") { [desk] in desk.run() }
        thread.withLock { $0 = started }
    }

    /// All that is decided from is this now.
    package func update(_ situation: MappingKeeper.Situation) { desk.post(.situation(situation)) }

    /// Somebody asks for the mapping by name, whatever was refused before, and hears what came of it (within 6 s of its
    /// turn). The mapping is kept while internet access is on, until ``release(_:)`` or the setting takes over.
    package func request(_ done: @escaping @Sendable (Standing) -> Void) { desk.post(.request(done)) }

    /// Nobody wants it by name any more. Hears how the removal ended once nothing more can be done now.
    package func release(_ done: @escaping @Sendable (Standing) -> Void) { desk.post(.release(done)) }

    /// Takes away what is there, as far as that goes within the time, and ends the thread.
    package func stop(within limit: Duration) {
        let running = thread.withLock { thread in
            let running = thread
            thread = nil
            return running
        }
        // A router that hangs is left behind, and the thread that asks it: the lease ends by itself.
        if let running, desk.stop(within: limit) { running.join() }
    }
}

/// What the runner's thread holds.
private final class MappingDesk: Sendable {
    typealias Standing = MappingRunner.Standing
    typealias Told = @Sendable (Standing) -> Void

    enum Event: Sendable {
        case situation(MappingKeeper.Situation)
        case request(Told)
        case release(Told)
    }

    private struct Inbox {
        var events: [Event] = []
        var ends: MonotonicTime?
    }

    private let inbox = Mutex(Inbox())
    private let wakeUp: WakeUp
    private let finished: WakeUp
    private let operations: MappingRunner.Operations
    private let link: @Sendable () -> LANLink?
    private let now: @Sendable () -> MonotonicTime
    private let told: Told

    init(
        _ operations: MappingRunner.Operations, _ link: @escaping @Sendable () -> LANLink?,
        _ now: @escaping @Sendable () -> MonotonicTime, _ told: @escaping Told
    ) throws(SocketError) {
        wakeUp = try WakeUp()
        finished = try WakeUp()
        self.operations = operations
        self.link = link
        self.now = now
        self.told = told
    }

    func post(_ event: Event) {
        inbox.withLock { $0.events.append(event) }
        wakeUp.signal()
    }

    /// Whether the thread is done in time.
    func stop(within limit: Duration) -> Bool {
        let ends = now() + limit
        inbox.withLock { $0.ends = ends }
        wakeUp.signal()
        return finished.wait(until: monotonicNow() + limit)
    }

    /// What the thread knows.
    private struct State {
        var keeper = MappingKeeper()
        var situation = MappingKeeper.Situation()
        /// Somebody asked by name, and the setting does not say so (yet).
        var isRequested = false
        var waiting: [Told] = []
        /// What came of a request by name that brought nothing, for those who wait.
        var refusal: MappingOutcome?
        var last = Standing()
    }

    func run() {
        defer { finished.signal() }
        var state = State()
        while true {
            wakeUp.clear()
            let (events, ends) = inbox.withLock { inbox in
                defer { inbox.events = [] }
                return (inbox.events, inbox.ends)
            }
            for event in events { take(event, &state) }
            if let ends {
                state.situation.wantsMapping = false
                state.situation.wantsPinhole = false
                state.isRequested = false
                // A request that waits for its turn after a refusal has no turn any more.
                guard now() < ends, carryOut(&state) else { break }
                continue
            }
            if carryOut(&state) { continue }
            report(&state)
            _ = wakeUp.wait(until: state.keeper.nextTime())
        }
        report(&state)
    }

    private func take(_ event: Event, _ state: inout State) {
        switch event {
        case .situation(let situation):
            // With internet access off it is over; the setting speaks for itself from its own commit on.
            let isSettled = situation.wantsMapping || state.situation.wantsMapping
            if !situation.isAllowed || isSettled { state.isRequested = false }
            state.situation = situation
        case .request(let done):
            state.isRequested = state.situation.isAllowed && !state.situation.wantsMapping
            state.keeper.isAskedAgain()
            state.waiting.append(done)
        case .release(let done):
            state.isRequested = false
            state.situation.wantsMapping = false
            state.waiting.append(done)
        }
    }

    /// The next request to the router, if there is one.
    private func carryOut(_ state: inout State) -> Bool {
        var situation = state.situation
        situation.wantsMapping = situation.wantsMapping || state.isRequested
        guard let operation = state.keeper.next(situation, at: now()) else { return false }
        let link = link()
        switch operation {
        case .map(let wish):
            let outcome = link.map { operations.map(wish, $0) } ?? .pending
            state.keeper.finished(outcome, at: now())
            // What was refused is not tried again for somebody who has had the answer.
            switch outcome {
            case .active, .pending: break
            default:
                if state.isRequested { state.refusal = outcome }
                state.isRequested = false
            }
        case .unmap(let grant):
            state.keeper.finished(link.map { operations.unmap(grant, $0) } ?? .pending, at: now())
        case .openPinhole(let wish):
            state.keeper.finished(link.map { operations.openPinhole(wish, $0) } ?? .pending, at: now())
        case .renewPinhole(let grant):
            state.keeper.finished(link.map { operations.renewPinhole(grant, $0) } ?? .pending, at: now())
        case .closePinhole(let grant):
            state.keeper.pinholeClosed(link.map { operations.closePinhole(grant, $0) } ?? .pending, at: now())
        }
        return true
    }

    private func report(_ state: inout State) {
        var standing = Standing()
        standing.mapping = state.keeper.mapping
        standing.mappingExpires = state.keeper.mappingExpires
        standing.pinhole = state.keeper.pinhole
        standing.pinholeExpires = state.keeper.pinholeExpires
        // Whoever waits for it sees to the setting.
        if state.isRequested, state.waiting.isEmpty, case .active = standing.mapping {
            standing.isNewlyGranted = true
        }
        if standing != state.last {
            state.last = standing
            told(standing)
        }
        if let refusal = state.refusal { standing.mapping = refusal }
        let waiting = state.waiting
        (state.waiting, state.refusal) = ([], nil)
        for done in waiting { done(standing) }
    }
}
