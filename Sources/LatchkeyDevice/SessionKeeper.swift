// SPDX-License-Identifier: Apache-2.0

internal import Wire

/// Keeps a session: what is done when it ends by itself (06 B4), and how a remote one comes home (06 B7). Pure: it is told
/// what is listed, what a dial came to, what a connection said, and answers what to do next.
///
/// Each dial it asks for has a number, and so has the session that comes of it.
struct SessionKeeper: Sendable {
    /// A session that is served.
    struct Live: Sendable, Equatable {
        /// The number of its dial.
        var number: Int
        /// The door it is served at.
        var door: HostDoor
        /// The launch that its window list names.
        var launchID: String?
        /// `issuedAt` of its newest host info that holds.
        var newestInfo: Double = 0
        /// It came by a peer-to-peer row.
        var isPeerToPeer = false
        /// The name of the row it came by; nil for another place.
        var rowName: String?
    }

    /// What is known of the host and of what a person wants.
    struct Facts: Sendable {
        /// As it is saved.
        var host: SavedHost
        /// The session was asked to be remote.
        var isConnectRemotely = false
        /// Rows can come.
        var hasRows = true
        /// There are remote addresses to dial.
        var hasRemoteAddresses = true
    }

    /// What to do now.
    enum Effect: Sendable, Equatable {
        /// Dial the remote addresses, in their order.
        case dialRemote(Int)
        /// Dial this row; by this interface alone, or as it is listed. For a move within `HomeComing`'s times.
        case dialRow(Int, BrowsedRow, interface: String?, isMove: Bool)
        /// Give that dial up; close what came of it.
        case giveUp(Int)
        /// Hold what is to be sent, and ask the host on this session whether it has read everything.
        case fence(Int)
        /// The fence is off: go on with this session.
        case liftFence(Int)
        /// This session carries from here; the one before is closed once all it has delivered is read.
        case carryOn(Int)
        /// Tell whoever uses the session.
        case tell(SessionChange)
        /// It is over.
        case end
    }

    /// A dial of a row: its wired interface first, if it has one.
    struct RowDial: Sendable {
        var number: Int
        var row: BrowsedRow
        var isWired: Bool
        /// Tells rows apart.
        var id: String { row.row.id }
    }

    /// A move under way.
    struct Move: Sendable {
        var dial: RowDial
        var judge: HomeMove
        /// The connection is served, and may be taken.
        var isServed = false
        /// When the rest has to have come.
        var until: MonotonicTime?
        /// When the hand-over no longer waits.
        var fenceUntil: MonotonicTime?
    }

    enum Phase: Sendable {
        /// Served; `gone` when that connection has ended and a move is to carry the session on.
        case live(Live, gone: Gone?)
        case lost(ReconnectSchedule)
        case over
    }

    /// How a session ended.
    struct Gone: Sendable {
        var at: MonotonicTime
        var goodbye: SessionGoodbye?
    }

    var facts: Facts
    var phase: Phase
    /// The name of the row that the host was last reached by.
    var bonjourName: String?
    /// As listed, in display order.
    var rows: [BrowsedRow] = []
    /// The host's rows, with the times since when.
    var book = RowBook()
    /// When the network stopped listing the host.
    var networkLeftAt: MonotonicTime?
    /// Rows that showed another key; forgotten when they are no longer listed.
    var lookAlikes: Set<String> = []
    /// What the connections of dials have said that are not the session yet.
    var heard: [Int: HomeMove.Seen] = [:]
    var coming: HomeComing?
    var move: Move?
    /// Since when the session is served by the connection it has, or had last.
    var servedSince: MonotonicTime
    /// How many connections in a row ended soon after they were served.
    var briefInRow = 0
    /// Dials under way while the session is lost.
    var remoteDial: Int?
    var rowDial: RowDial?
    var lastNumber: Int

    /// A session that is served.
    init(_ facts: Facts, live: Live, at now: MonotonicTime) {
        self.facts = facts
        bonjourName = live.rowName ?? facts.host.bonjourName
        lastNumber = live.number
        servedSince = now
        phase = .live(live, gone: nil)
        beginComing(live, at: now)
    }

    /// Whether nothing brings it back.
    var isOver: Bool { if case .over = phase { true } else { false } }

    /// When to call `advance` next, if nothing happens before.
    func deadline(at now: MonotonicTime) -> MonotonicTime? {
        switch phase {
        case .over: return nil
        case .lost(let schedule):
            if case .wait(let time) = schedule.next(at: now) { return time }
            return nil
        case .live:
            if let move { return [move.until, move.fenceUntil].compactMap { $0 }.min() }
            if case .wait(let time) = coming?.next(at: now) { return time }
            return nil
        }
    }

    // MARK: What happens

    /// What the browser lists now.
    mutating func listed(_ rows: [BrowsedRow], at now: MonotonicTime) -> [Effect] {
        // A plain door is never dialled by its row (02 section 7.3), so it counts as no listing.
        self.rows = rows.filter(\.row.isTLS)
        let own = self.rows.map(\.row).filter {
            $0.isOf(hostID: facts.host.id, bonjourName: bonjourName)
        }
        let wasListed = !networkRows.isEmpty
        book.update(own, at: now)
        if networkRows.isEmpty {
            networkLeftAt = wasListed ? now : networkLeftAt
        } else {
            networkLeftAt = nil
        }
        lookAlikes.formIntersection(rows.map(\.row.id))
        coming?.listed(rows.map(\.row), at: now)
        if case .lost(var schedule) = phase {
            schedule.listed(own, at: now)
            phase = .lost(schedule)
        }
        return advance(at: now)
    }

    /// The device's own way to the network is another one.
    mutating func pathHasChanged(at now: MonotonicTime) -> [Effect] {
        if case .lost(var schedule) = phase {
            schedule.pathHasChanged()
            phase = .lost(schedule)
        }
        return advance(at: now)
    }

    /// A window list came on a session, or on the connection of a dial.
    mutating func heard(windowList: WindowListFacts, on number: Int, at now: MonotonicTime) -> [Effect] {
        if case .live(var live, let gone) = phase, live.number == number {
            live.launchID = windowList.launchID
            phase = .live(live, gone: gone)
            return advance(at: now)
        }
        guard isDialled(number) else { return [] }
        heard[number, default: .init()].windowList = .init(launchID: windowList.launchID)
        return judgeMove(at: now)
    }

    /// A host info came; nil for one that does not hold.
    mutating func heard(info: VerifiedHostInfo?, on number: Int, at now: MonotonicTime) -> [Effect] {
        if case .live(var live, let gone) = phase, live.number == number {
            if let info { live.newestInfo = max(live.newestInfo, info.info.issuedAt) }
            phase = .live(live, gone: gone)
            return []
        }
        // One bad info makes it bad for good.
        if case .bad = heard[number]?.info { return [] }
        guard isDialled(number) else { return [] }
        heard[number, default: .init()].info = info.map { .verified($0) } ?? .bad
        return judgeMove(at: now)
    }

    /// A dial's connection is served: its first window list has come.
    mutating func served(_ number: Int, key: Fingerprint?, door: HostDoor, at now: MonotonicTime) -> [Effect]
    {
        if move?.dial.number == number {
            move?.isServed = true
            move?.until = now + DialRace.servedLimit
            heard[number, default: .init()].key = key
            return judgeMove(at: now)
        }
        guard case .lost = phase else { return [.giveUp(number)] }
        var live = Live(number: number, door: door)
        if let dial = rowDial, dial.number == number {
            live.isPeerToPeer = dial.row.row.isPeerToPeer
            live.rowName = dial.row.row.name
            bonjourName = live.rowName
        } else if remoteDial != number {
            return [.giveUp(number)]
        }
        let seen = heard.removeValue(forKey: number)
        live.launchID = seen?.windowList?.launchID
        if case .verified(let verified) = seen?.info { live.newestInfo = verified.info.issuedAt }
        var effects: [Effect] = []
        if let remoteDial, remoteDial != number { effects.append(.giveUp(remoteDial)) }
        remoteDial = nil
        rowDial = nil
        servedSince = now
        phase = .live(live, gone: nil)
        beginComing(live, at: now)
        return effects + [.carryOn(number), .tell(SessionChange(.connected, row: live.rowName))]
            + advance(at: now)
    }

    /// A dial failed.
    mutating func failed(
        _ number: Int, _ failure: DialFailure, goodbye: SessionGoodbye? = nil, at now: MonotonicTime
    ) -> [Effect] {
        let seen = heard.removeValue(forKey: number)
        if let move, move.dial.number == number {
            return moveFailed(move, failure, hasGoodbye: goodbye != nil, seen: seen, at: now)
        }
        guard case .lost(var schedule) = phase else { return [] }
        if let dial = rowDial, dial.number == number {
            return rowFailed(dial, failure, goodbye, at: now)
        }
        guard remoteDial == number else { return [] }
        remoteDial = nil
        // What a goodbye forbids counts whatever word the dial has for it.
        let isHomeOnly = goodbye?.comingBack == .homeOnly
        schedule.remoteDialFailed(isHomeOnly ? .remoteOff : failure, at: now)
        phase = .lost(schedule)
        let told = Effect.tell(
            SessionChange(.failed, reason: goodbye?.reason ?? failure.code.rawValue, message: goodbye?.words))
        if let goodbye, goodbye.comingBack == .never { return [told] + finish(goodbye.reason, goodbye.words) }
        return [told] + advance(at: now)
    }

    /// A session's connection ended by itself.
    mutating func ended(_ number: Int, goodbye: SessionGoodbye?, at now: MonotonicTime) -> [Effect] {
        if let move, move.dial.number == number, move.isServed {
            return endMove(
                goodbye == nil ? .failed : .refused, reason: goodbye?.reason ?? "lost", giveUp: true, at: now)
        }
        guard case .live(let live, gone: nil) = phase, live.number == number else { return [] }
        let gone = Gone(at: now, goodbye: goodbye)
        if let goodbye, goodbye.comingBack == .never {
            return (move.map { [.giveUp($0.dial.number)] } ?? []) + finish(goodbye.reason, goodbye.words)
        }
        guard let move else { return lose(live, gone, at: now) }
        phase = .live(live, gone: gone)
        // The move carries the session on, without a fence.
        return move.fenceUntil == nil ? [] : handOver(move, at: now)
    }

    /// The host has read all that was sent on a session before the fence, and all it sent before has come.
    mutating func fencePassed(_ number: Int, at now: MonotonicTime) -> [Effect] {
        guard case .live(let live, _) = phase, live.number == number, let move, move.fenceUntil != nil else {
            return []
        }
        return handOver(move, at: now)
    }

    /// Time passed, or something changed: what is due now.
    mutating func advance(at now: MonotonicTime) -> [Effect] {
        switch phase {
        case .over: return []
        case .lost: return advanceLost(at: now)
        case .live(let live, let gone):
            if let move {
                if let until = move.fenceUntil {
                    return now >= until ? handOver(move, at: now) : []
                }
                guard let until = move.until, now >= until else { return [] }
                return endMove(.failed, reason: "noAnswer", giveUp: true, at: now)
            }
            guard gone == nil, let launchID = live.launchID, let pin = facts.host.pin,
                case .move(let id) = coming?.next(at: now), let row = rows.first(where: { $0.row.id == id })
            else { return [] }
            coming?.began(id, at: now)
            let judge = HomeMove(
                launchID: launchID, pin: pin, newestInfo: max(live.newestInfo, facts.host.infoIssuedAt))
            let dial = RowDial(number: nextNumber(), row: row, isWired: row.row.wiredInterface != nil)
            move = Move(dial: dial, judge: judge)
            return [
                .tell(SessionChange(.moving, row: row.row.name)),
                .dialRow(dial.number, row, interface: row.row.wiredInterface, isMove: true),
            ]
        }
    }
}
