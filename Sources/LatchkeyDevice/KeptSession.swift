// SPDX-License-Identifier: Apache-2.0

internal import NetFacts
internal import Sockets
internal import Wire

/// A session that is kept: when it ends by itself it comes back, and a remote one comes home when the host is listed on
/// the network (06 B4, B7). Carries out what a `SessionKeeper` says.
///
/// ```swift
/// let kept = KeptSession(try await device.connect(to: host), of: device)
/// await kept.run(onChange: { print($0) }, onMessage: { message in … })
/// ```
///
/// The messages of all its connections come as one stream, those of a connection in its order. Coming home drops nothing
/// of it: the remote connection's messages come first, up to the hand-over, then those of the new one from its first.
public actor KeptSession {
    /// How it is kept.
    public struct Options: Sendable {
        /// A person asked for the remote door: it does not come home.
        public var isConnectRemotely = false
        /// Kind 9 as JSON, sent at once on a connection that is made at home, so that rate and quality change together.
        public var homeViewport: [UInt8]?

        /// The usual ones.
        public init() {}
    }

    /// What happens around the keeper.
    enum Input: Sendable {
        case rows([BrowsedRow])
        case network(DeviceNetwork)
        case note(Int, SessionNote)
        case dialled(Int, Session?, DialCandidate?, ListedRow?, DialReport)
        case drained(Int)
        case timer
    }

    let device: Device
    let options: Options
    private let rows: (any RowSource)?
    let first: Session
    private var keeper: SessionKeeper?
    private var sessions: [Int: Session] = [:]
    /// The session that is read, and those that follow it.
    private var reading: [Int] = []
    /// Where messages are sent; nil while there is no session.
    private var current: Int?
    /// A fence holds what is to be sent.
    private var isFenced = false
    private var sendWaiters: [CheckedContinuation<Void, Never>] = []
    var dials: [Int: Task<Void, Never>] = [:]
    /// Where each dial's session is, for the record of its host.
    private var places: [Int: (place: DialCandidate, row: ListedRow?)] = [:]
    /// The device's way to the world when it was last looked at.
    private var way: [String] = []
    private var timerAt: MonotonicTime?
    private var totals = SessionTotals()
    private var hasEnded = false
    private let inputs: AsyncStream<Input>
    let feed: AsyncStream<Input>.Continuation

    private static let firstNumber = 0

    /// Keeps a session that has just begun, and that nobody else reads. Without `rows` nothing is known of the network:
    /// the session comes back by the host's remote addresses alone.
    package init(_ session: Session, of device: Device, rows: (any RowSource)?, options: Options = Options())
    {
        self.device = device
        self.options = options
        self.rows = rows
        first = session
        door = session.door
        (inputs, feed) = AsyncStream.makeStream(of: Input.self)
    }

    /// Keeps a session that has just begun, and that nobody else reads. The host is looked for on the network by Avahi.
    public init(_ session: Session, of device: Device, options: Options = Options()) {
        self.init(session, of: device, rows: HostBrowser(device: device), options: options)
    }

    /// The door that serves it, or did last.
    public private(set) var door: HostDoor

    /// What has been seen so far, over all connections.
    public func summary() async -> SessionSummary {
        var totals = totals
        for number in reading {
            if let session = sessions[number] { totals.add(await session.summary()) }
        }
        return totals.summary
    }

    /// Sends one message; waits while the session is being handed over, and while it is lost. Throws `closed` once it is
    /// over or its task is cancelled, and what ended the connection when it ends meanwhile: then the message may have been
    /// lost with it.
    public func send(kind: UInt8, _ payload: [UInt8]) async throws(DeviceError) {
        while current == nil || isFenced {
            if hasEnded { throw DeviceError(.closed, "the session is over") }
            if Task.isCancelled { throw DeviceError(.closed, "the message was given up") }
            await withTaskCancellationHandler {
                await withCheckedContinuation { sendWaiters.append($0) }
            } onCancel: {
                // All of them look again, and the others wait on.
                Task { await self.resumeSends() }
            }
        }
        guard let current, let session = sessions[current] else {
            throw DeviceError(.closed, "the session is over")
        }
        try await session.send(kind: kind, payload)
    }

    /// Runs until nothing brings the session back by itself, or the task is cancelled; once.
    ///
    /// `onMessage` is called with one message after the other, and read no further meanwhile. `onChange` is called in the
    /// order of what happens, beside it. Throws nothing: what the session came to is the last change.
    public func run(
        onChange: @escaping @Sendable (SessionChange) -> Void,
        onMessage: @escaping @Sendable (SessionMessage) async -> Void
    ) async {
        let watcher = startWatching()
        // Children come and go as long as the session lives: none is kept.
        await withDiscardingTaskGroup { group in
            await begin(onChange)
            read(&group, onMessage)
            await withTaskCancellationHandler {
                for await input in inputs {
                    if Task.isCancelled { break }
                    await take(input, &group, onChange, onMessage)
                    if keeper?.isOver ?? true, reading.isEmpty { break }
                    arm(&group)
                }
            } onCancel: {
                feed.finish()
            }
            feed.finish()
            rows?.stop()
            dials.values.forEach { $0.cancel() }
            await closeAll()
            group.cancelAll()
        }
        watcher?.stop()
    }

    // MARK: Beginning

    private func startWatching() -> NetworkWatcher? {
        let feed = feed
        guard let watcher = try? NetworkWatcher() else { return nil }
        way = DeviceNetwork(watcher.table).way
        try? watcher.start { feed.yield(.network(DeviceNetwork($0))) }
        return watcher
    }

    private func begin(_ onChange: @Sendable (SessionChange) -> Void) async {
        let number = Self.firstNumber
        var live = SessionKeeper.Live(number: number, door: first.door)
        let feed = feed
        let seen = await first.connection.follow { feed.yield(.note(number, $0)) }
        live.launchID = seen?.windowList?.launchID
        live.newestInfo = seen?.newestInfo ?? 0
        var facts = SessionKeeper.Facts(host: first.host)
        facts.isConnectRemotely = options.isConnectRemotely
        facts.hasRemoteAddresses = !remotePlaces().isEmpty
        facts.hasRows = startRows(onChange)
        keeper = SessionKeeper(facts, live: live, at: monotonicNow())
        await adopt(number, first)
        var change = SessionChange(.connected)
        describe(&change, first)
        onChange(change)
    }

    private func startRows(_ onChange: @Sendable (SessionChange) -> Void) -> Bool {
        guard let rows else { return false }
        let feed = feed
        do throws(RowSourceError) {
            try rows.start { feed.yield(.rows($0)) }
            return true
        } catch {
            onChange(SessionChange(.failed, reason: "browse", message: error.message))
            return false
        }
    }

    private func adopt(_ number: Int, _ session: Session) async {
        if session.door == .remote { await session.connection.isRemote() }
        sessions[number] = session
        door = session.door
        reading.append(number)
        current = number
        resumeSends()
    }

    // MARK: What happens

    private func take(
        _ input: Input, _ group: inout DiscardingTaskGroup, _ onChange: @Sendable (SessionChange) -> Void,
        _ onMessage: @escaping @Sendable (SessionMessage) async -> Void
    ) async {
        let now = monotonicNow()
        var effects: [SessionKeeper.Effect] = []
        switch input {
        case .rows(let rows): effects = keeper?.listed(rows, at: now) ?? []
        case .network(let network):
            for session in sessions.values {
                if let local = session.connection.local {
                    await session.connection.path(isViable: network.has(local))
                }
            }
            if network.way != way {
                way = network.way
                effects = keeper?.pathHasChanged(at: now) ?? []
            }
        case .note(let number, let note): effects = await take(note, number, at: now)
        case .dialled(let number, let session, let place, let row, let report):
            if let place { places[number] = (place, row) }
            effects = await dialled(number, session, report, at: now)
        case .drained(let number):
            reading.removeAll { $0 == number }
            await retire(number)
            read(&group, onMessage)
        case .timer:
            timerAt = nil
            effects = keeper?.advance(at: now) ?? []
        }
        await perform(effects, &group, onChange, onMessage)
    }

    private func take(_ note: SessionNote, _ number: Int, at now: MonotonicTime) async -> [SessionKeeper
        .Effect]
    {
        switch note {
        case .windowList(let list): return keeper?.heard(windowList: list, on: number, at: now) ?? []
        case .hostInfo(let info): return keeper?.heard(info: info, on: number, at: now) ?? []
        case .fencePassed: return keeper?.fencePassed(number, at: now) ?? []
        case .ended:
            // A dial that lost one of its connections has not lost its session.
            guard let session = sessions[number], await session.connection.hasEnded else { return [] }
            if current == number { current = nil }
            // The host may have told its addresses since.
            keeper?.facts.hasRemoteAddresses = !remotePlaces().isEmpty
            return keeper?.ended(number, goodbye: await session.summary().goodbye, at: now) ?? []
        }
    }

    private func dialled(
        _ number: Int, _ session: Session?, _ report: DialReport, at now: MonotonicTime
    ) async -> [SessionKeeper.Effect] {
        dials.removeValue(forKey: number)
        guard let session else {
            let error = report.error
            places.removeValue(forKey: number)
            return keeper?.failed(
                number, report.failure ?? .noAnswer, goodbye: error?.goodbye, at: now) ?? []
        }
        sessions[number] = session
        let key = await session.connection.hostFingerprint
        let effects = keeper?.served(number, key: key, door: session.door, at: now) ?? []
        // It may have ended before anybody was told that it is served.
        if await session.connection.hasEnded { feed.yield(.note(number, .ended)) }
        return effects
    }

    private func perform(
        _ effects: [SessionKeeper.Effect], _ group: inout DiscardingTaskGroup,
        _ onChange: @Sendable (SessionChange) -> Void,
        _ onMessage: @escaping @Sendable (SessionMessage) async -> Void
    ) async {
        for effect in effects {
            switch effect {
            case .dialRemote(let number): dial(number, remoteTargets(), &group)
            case .dialRow(let number, let row, let interface, let isMove):
                dialRow(number, row, interface: interface, isMove: isMove, &group)
            case .giveUp(let number):
                dials.removeValue(forKey: number)?.cancel()
                places.removeValue(forKey: number)
                await sessions.removeValue(forKey: number)?.close()
            case .fence(let number):
                isFenced = true
                await sessions[number]?.connection.sendFence()
            case .liftFence: unfence()
            case .carryOn(let number): await carryOn(number, &group, onMessage)
            case .tell(var change):
                if change.kind == .connected || change.kind == .moved, let current {
                    sessions[current].map { describe(&change, $0) }
                }
                onChange(change)
            case .end: hasEnded = true
            }
        }
    }

    private func carryOn(
        _ number: Int, _ group: inout DiscardingTaskGroup,
        _ onMessage: @escaping @Sendable (SessionMessage) async -> Void
    ) async {
        guard let session = sessions[number] else { return }
        let old = reading
        isFenced = false
        await adopt(number, session)
        if let (place, row) = places.removeValue(forKey: number) { device.note(session, at: place, row: row) }
        // What came whole is still read, before anything of the new one.
        for number in old { await sessions[number]?.close() }
        if old.isEmpty { read(&group, onMessage) }
    }

    // MARK: Reading

    /// Reads the next connection in turn to its end.
    private func read(
        _ group: inout DiscardingTaskGroup, _ onMessage: @escaping @Sendable (SessionMessage) async -> Void
    ) {
        guard let number = reading.first, let session = sessions[number] else { return }
        let feed = feed
        group.addTask {
            while let message = try? await session.next() { await onMessage(message) }
            feed.yield(.drained(number))
        }
    }

    private func retire(_ number: Int) async {
        guard let session = sessions.removeValue(forKey: number) else { return }
        totals.add(await session.summary())
    }

    private func closeAll() async {
        hasEnded = true
        for session in sessions.values { await session.close() }
        current = nil
        resumeSends()
    }

    private func unfence() {
        isFenced = false
        resumeSends()
    }

    private func resumeSends() {
        let waiters = sendWaiters
        sendWaiters = []
        waiters.forEach { $0.resume() }
    }

    private func arm(_ group: inout DiscardingTaskGroup) {
        let now = monotonicNow()
        guard let due = keeper?.deadline(at: now), timerAt.map({ due < $0 }) ?? true else { return }
        timerAt = due
        let feed = feed
        group.addTask {
            // Cancelled only at the end.
            _ = try? await Task.sleep(for: max(.zero, due - monotonicNow()))
            feed.yield(.timer)
        }
    }

    private func describe(_ change: inout SessionChange, _ session: Session) {
        change.route = session.route
        change.door = session.door
        change.endpoint = session.endpoint
    }
}
