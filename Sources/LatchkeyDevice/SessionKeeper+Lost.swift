// SPDX-License-Identifier: Apache-2.0

internal import Wire

/// After a session ended by itself.
extension SessionKeeper {
    var networkRows: [RowBook.Entry] {
        book.entries.filter { !$0.row.isPeerToPeer && !lookAlikes.contains($0.row.id) }
    }

    /// What is no longer listed is another row when it comes back.
    mutating func noteLookAlike(_ id: String) {
        if rows.contains(where: { $0.row.id == id }) { lookAlikes.insert(id) }
    }

    /// Whether a dial of this number is under way.
    func isDialled(_ number: Int) -> Bool {
        [move?.dial.number, rowDial?.number, remoteDial].contains(number)
    }

    mutating func nextNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

    /// A remote session looks for its home row from here on.
    mutating func beginComing(_ live: Live, at now: MonotonicTime) {
        coming = nil
        guard live.door == .remote else { return }
        var coming = HomeComing(host: facts.host, isConnectRemotely: facts.isConnectRemotely)
        coming.listed(rows.map(\.row), at: now)
        lookAlikes.forEach { coming.refuse($0) }
        self.coming = coming
    }

    mutating func finish(_ reason: String, _ words: String?) -> [Effect] {
        phase = .over
        move = nil
        let dials = [remoteDial, rowDial?.number].compactMap { $0 }.map { Effect.giveUp($0) }
        remoteDial = nil
        rowDial = nil
        return dials + [.tell(SessionChange(.over, reason: reason, message: words)), .end]
    }

    // MARK: Lost

    mutating func lose(_ live: Live, _ gone: Gone, at now: MonotonicTime) -> [Effect] {
        var loss = ReconnectSchedule.Loss(hostID: facts.host.id, at: gone.at)
        loss.bonjourName = bonjourName
        loss.wasPeerToPeer = live.isPeerToPeer
        loss.goodbye = gone.goodbye?.reason
        loss.comingBack = gone.goodbye?.comingBack ?? .everywhere
        loss.networkLeftAt = networkLeftAt
        loss.hasRemoteAddresses = facts.hasRemoteAddresses
        briefInRow = gone.at - servedSince < ReconnectSchedule.brief ? briefInRow + 1 : 0
        loss.briefBefore = max(0, briefInRow - 1)
        var schedule = ReconnectSchedule(loss, listed: book.entries.map { ($0.row, $0.since) })
        lookAlikes.forEach { schedule.refuse($0) }
        phase = .lost(schedule)
        coming = nil
        let told = SessionChange(
            .lost, reason: gone.goodbye?.reason ?? "lost", message: gone.goodbye?.words)
        return [.tell(told)] + advance(at: now)
    }

    mutating func advanceLost(at now: MonotonicTime) -> [Effect] {
        guard case .lost(var schedule) = phase else { return [] }
        switch schedule.next(at: now) {
        case .dialRow(let id):
            guard let row = rows.first(where: { $0.row.id == id }) else { return [] }
            schedule.rowDialBegan(id, at: now)
            phase = .lost(schedule)
            // A row takes over from a remote dial that has no window list yet.
            let given = remoteDial.map { [Effect.giveUp($0)] } ?? []
            remoteDial = nil
            let dial = RowDial(number: nextNumber(), row: row, isWired: row.row.wiredInterface != nil)
            rowDial = dial
            return given + [
                .tell(SessionChange(.dialling, row: row.row.name)),
                .dialRow(dial.number, row, interface: row.row.wiredInterface, isMove: false),
            ]
        case .dialRemote:
            schedule.remoteDialBegan()
            phase = .lost(schedule)
            let number = nextNumber()
            remoteDial = number
            return [.tell(SessionChange(.dialling)), .dialRemote(number)]
        case .wait: return []
        case .nothing:
            let isIdle = remoteDial == nil && rowDial == nil
            guard isIdle, !facts.hasRows else { return [] }
            return finish("nothingLeft", "the host did not come back")
        }
    }

    mutating func rowFailed(
        _ dial: RowDial, _ failure: DialFailure, _ goodbye: SessionGoodbye?, at now: MonotonicTime
    ) -> [Effect] {
        guard case .lost(var schedule) = phase else { return [] }
        if let next = unwired(dial, failure) {
            rowDial = next
            return [.dialRow(next.number, next.row, interface: nil, isMove: false)]
        }
        rowDial = nil
        let isLookAlike = failure == .wrongHost
        if isLookAlike { noteLookAlike(dial.id) }
        schedule.rowDialFailed(dial.id, isLookAlike: isLookAlike, at: now)
        phase = .lost(schedule)
        let told = Effect.tell(
            SessionChange(
                .failed, row: dial.row.row.name, reason: goodbye?.reason ?? failure.code.rawValue,
                message: goodbye?.words))
        // The pinned host itself has said no.
        if failure == .revoked {
            return [told] + finish("removed", "the host does not know this device any more")
        }
        if let goodbye, goodbye.comingBack == .never { return [told] + finish(goodbye.reason, goodbye.words) }
        return [told] + advance(at: now)
    }

    /// The second half of a row's dial, after its wired interface led nowhere. What showed another key has no second half.
    mutating func unwired(_ dial: RowDial, _ failure: DialFailure) -> RowDial? {
        let leadsNowhere: Set<DialFailure> = [
            .noAnswer, .refused, .vpnOff, .notSill, .nameNotFound, .localNetwork,
        ]
        guard dial.isWired, leadsNowhere.contains(failure) else { return nil }
        return RowDial(number: nextNumber(), row: dial.row, isWired: false)
    }
}
