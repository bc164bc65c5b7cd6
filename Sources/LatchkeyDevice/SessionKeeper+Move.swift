// SPDX-License-Identifier: Apache-2.0

internal import Wire

/// A remote session's move to the home door, from its dial to the hand-over.
extension SessionKeeper {
    mutating func judgeMove(at now: MonotonicTime) -> [Effect] {
        guard let move, let seen = heard[move.dial.number], move.fenceUntil == nil else { return [] }
        switch move.judge.judge(seen) {
        case .wait: return []
        case .refuse:
            let isLaunch = seen.windowList.map { $0.launchID != move.judge.launchID } ?? false
            let isKey = seen.key.map { $0 != move.judge.pin } ?? false
            return endMove(
                .refused, reason: isKey ? "wrongHost" : isLaunch ? "launch" : "hostInfo", giveUp: true,
                at: now)
        case .accept:
            guard move.isServed, case .live(let live, let gone) = phase else { return [] }
            if gone != nil { return handOver(move, at: now) }
            self.move?.fenceUntil = now + HomeComing.fenceLimit
            return [.fence(live.number)]
        }
    }

    /// The new connection carries the session from here.
    mutating func handOver(_ move: Move, at now: MonotonicTime) -> [Effect] {
        let seen = heard.removeValue(forKey: move.dial.number)
        var live = Live(number: move.dial.number, door: .home, launchID: move.judge.launchID)
        if case .verified(let verified) = seen?.info { live.newestInfo = verified.info.issuedAt }
        live.rowName = move.dial.row.row.name
        bonjourName = live.rowName
        servedSince = now
        phase = .live(live, gone: nil)
        self.move = nil
        coming = nil
        return [.carryOn(live.number), .tell(SessionChange(.moved, row: live.rowName))]
    }

    mutating func moveFailed(
        _ move: Move, _ failure: DialFailure, hasGoodbye: Bool, seen: HomeMove.Seen?, at now: MonotonicTime
    ) -> [Effect] {
        if !hasGoodbye, let next = unwired(move.dial, failure) {
            self.move?.dial = next
            return [.dialRow(next.number, next.row, interface: nil, isMove: true)]
        }
        let isRefused = hasGoodbye || failure == .wrongHost || failure == .revoked
        if failure == .wrongHost { noteLookAlike(move.dial.id) }
        return endMove(isRefused ? .refused : .failed, reason: failure.code.rawValue, giveUp: false, at: now)
    }

    mutating func endMove(
        _ end: HomeComing.MoveEnd, reason: String, giveUp: Bool, at now: MonotonicTime
    ) -> [Effect] {
        guard let ended = move else { return [] }
        move = nil
        heard.removeValue(forKey: ended.dial.number)
        coming?.ended(ended.dial.id, end)
        var effects: [Effect] = giveUp ? [.giveUp(ended.dial.number)] : []
        guard case .live(let live, let gone) = phase else { return effects }
        if ended.fenceUntil != nil { effects.append(.liftFence(live.number)) }
        effects.append(
            .tell(SessionChange(.stayed, row: ended.dial.row.row.name, reason: reason)))
        if let gone { return effects + lose(live, gone, at: now) }
        return effects + advance(at: now)
    }
}
