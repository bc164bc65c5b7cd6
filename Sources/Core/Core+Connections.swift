// SPDX-License-Identifier: Apache-2.0

package import Policy
package import Wire

/// A connection before it is a session: steps A to E of 03 §5.
extension Core {
    /// Step A, at accept, before any byte. First match wins: the source is in backoff; the origin is not admitted (one
    /// failure); too many pending; else TLS may start.
    ///
    /// An interface can hand over a connection before the news of it is read: without a second look the first peer of a
    /// tunnel that just came up would pass for one of the home network.
    package mutating func connectionArrived(_ arrival: Arrival, _ moment: Moment) -> StartVerdict {
        settle(moment)
        if let index = arrival.receivedOn, !arrival.hasLookedAgain, interfaces.interface(index: index) == nil
        {
            return .lookAgain
        }
        let placement = OriginPolicy.classify(
            source: arrival.peer.ip, local: arrival.local?.ip, zoneName: arrival.zoneName,
            receivedOn: arrival.receivedOn, receivedOnName: arrival.receivedOnName, table: interfaces,
            isVPNPeer: arrival.isVPNPeer)
        let connection = Connection(
            door: arrival.door, peer: arrival.peer, local: arrival.local, placement: placement,
            limited: Source.limited(arrival.peer.ip, placement.origin))
        if let word = start(arrival.id, connection, moment) { return .refuse(word) }
        return .proceed(placement.origin)
    }

    /// Whether its source failed lately: when there is more to do than time, others go first.
    package func isSuspect(_ id: ConnectionID, _ moment: Moment) -> Bool {
        guard let connection = connections[id] else { return false }
        return connection.door == .home
            ? home.backoff.hasFailed(connection.limited, at: moment.now)
            : remote.backoff.hasFailed(connection.limited, at: moment.now)
    }

    /// A complete ClientHello came: others make room first from now on (03 §7.1).
    package mutating func connectionSentClientHello(_ id: ConnectionID) {
        guard let door = connections[id]?.door else { return }
        self[door].pending.sentClientHello(id)
    }

    /// The handshake failed, its deadline passed, or its kind 19 was none. Counted as 03 §7.5 says, at most once, and
    /// the connection is forgotten. `key` is the one that was turned away, if it showed one.
    package mutating func connectionFailed(
        _ id: ConnectionID, _ why: HandshakeFailure, key: Fingerprint? = nil, _ moment: Moment
    ) {
        settle(moment)
        guard let connection = forget(id) else { return }
        counters.handshakeFailures[why, default: 0] += 1
        switch connection.stage {
        case .admitted, .answering: return
        case .handshake, .pairing: break
        }
        if why == .notTLS13 && connection.door == .home { noteOlder(connection, moment) }
        if let (word, isFailure) = why.counted(at: connection.door) {
            count(word, at: connection.door, moment)
            if isFailure { fail(connection.limited, at: connection.door, moment) }
        }
        if why == .untrusted, let key { noteRemovedKey(key, connection, moment) }
    }

    /// It went away before it was admitted, or its worker closed it; counts nothing.
    package mutating func connectionLeft(_ id: ConnectionID, _ moment: Moment) {
        settle(moment)
        forget(id)
    }

    /// Step C, at ready: judged with everything as it is now, the origin's admission included.
    package mutating func connectionReady(
        _ id: ConnectionID, alpn: String?, key: Fingerprint?, _ moment: Moment
    ) -> ReadyVerdict {
        settle(moment)
        guard var connection = connections[id], connection.stage == .handshake else {
            return .refuse(.unpaired)
        }
        let verdict = judgeReady(&connection, alpn: alpn, key: key, moment)
        switch verdict {
        case .session:
            self[connection.door].pending.leave(id)
            connections[id] = connection
        case .pairing: connections[id] = connection
        case .goodbye, .refuse: forget(id)
        }
        return verdict
    }

    /// What an older device is told (03 §5.4); `hello` is what it said, if it said anything.
    package func updateGoodbye(_ hello: Hello?) -> Goodbye {
        .update(
            minimum: settings.floor,
            message: DeviceGate.message(device: hello?.device, host: hostName, floor: settings.floor))
    }

    /// Step D refused it: how late its goodbye goes out. The connection is forgotten.
    package mutating func gateRefused(_ id: ConnectionID, _ moment: Moment) -> Duration {
        settle(moment)
        guard let connection = forget(id) else { return .zero }
        counters.goodbyes["update", default: 0] += 1
        let refusal = gate.refused(Source.of(connection.peer.ip), at: moment.now)
        if let times = refusal.logged {
            log(
                .info, "device too old",
                [
                    ("door", connection.door.rawValue), ("floor", settings.floor.shown),
                    ("times", String(times)),
                ])
        }
        return refusal.delay
    }

    // MARK: - Shared with the delegated API

    /// Step A, in the order of 03 §5.1; nil when TLS may start.
    mutating func start(_ id: ConnectionID, _ connection: Connection, _ moment: Moment) -> RefusalWord? {
        let (door, origin) = (connection.door, connection.placement.origin)
        if let word = refusalBeforeStart(door, origin, connection.limited, moment) { return word }
        switch self[door].pending.arrive(id, from: connection.limited) {
        case .refused:
            count(.limit, at: door, moment)
            return .limit
        case .admittedInsteadOf(let victim):
            count(.limit, at: door, moment)
            forget(victim)
            emit(.closeConnection(victim))
        case .admitted: break
        }
        connections[id] = connection
        return nil
    }

    /// Steps A2 and A3; counts what it refuses.
    mutating func refusalBeforeStart(
        _ door: Door, _ origin: Origin, _ limited: IPAddress, _ moment: Moment
    ) -> RefusalWord? {
        if isStopping || isBlocked(limited, at: door, moment) {
            count(.limit, at: door, moment)
            return .limit
        }
        return refusalOfOrigin(door, origin, limited, moment)
    }

    /// Whether the origin is not admitted now; one failure if so. What a door could take, but Direct is off for, counts
    /// nothing (03 §7.5).
    mutating func refusalOfOrigin(
        _ door: Door, _ origin: Origin, _ limited: IPAddress, _ moment: Moment
    ) -> RefusalWord? {
        if DoorPolicy.admits(door, origin, internet: settings.effectiveInternet) {
            return isCutOff(origin) ? .direct : nil
        }
        let word = DoorPolicy.word(door, origin)
        count(word, at: door, moment)
        fail(limited, at: door, moment)
        return word
    }

    /// Whether Direct, which is off, is the only way from there.
    func isCutOff(_ origin: Origin) -> Bool { origin == .direct && !settings.direct }

    /// Step C's rule with its counting; brings the connection to the stage it was judged for.
    mutating func judgeReady(
        _ connection: inout Connection, alpn: String?, key: Fingerprint?, _ moment: Moment
    ) -> ReadyVerdict {
        let (door, limited) = (connection.door, connection.limited)
        let origin = connection.placement.origin
        if let word = refusalOfOrigin(door, origin, limited, moment) {
            counters.count(door, AdmissionOutcome.refuse)
            if let key { noteRemovedKey(key, connection, moment) }
            return .refuse(word)
        }
        let isPaired = key.map { devices.contains($0) } ?? false
        let verdict = DoorPolicy.ready(
            door: door, alpn: alpn, hasKey: key != nil, isPaired: isPaired,
            hasRoom: table.remoteCount < limits.remoteSessions, switches)
        switch verdict {
        case .session:
            if isPaired { forgive(limited, at: door, moment) }
            counters.count(door, AdmissionOutcome.session)
            connection.stage = .admitted(key, wasPaired: isPaired)
            return .session(floor: settings.minimumDeviceVersion == "0" ? nil : gateFloor)
        case .pairing:
            counters.count(door, AdmissionOutcome.pairing)
            if let key { connection.stage = .pairing(key) }
            return .pairing
        case .goodbye(let goodbye):
            forgive(limited, at: door, moment)
            if goodbye == .busy { count(.limit, at: door, moment) }
            counters.count(door, AdmissionOutcome.goodbye)
            counters.goodbyes[goodbye.reason, default: 0] += 1
            return .goodbye(goodbye)
        case .refuse:
            counters.count(door, AdmissionOutcome.refuse)
            count(.unpaired, at: door, moment)
            fail(limited, at: door, moment)
            if let key { noteRemovedKey(key, connection, moment) }
            return .refuse(.unpaired)
        }
    }

    /// Whether the source is in backoff. Not by the subscript: lending a whole book costs more than the question.
    private func isBlocked(_ limited: IPAddress, at door: Door, _ moment: Moment) -> Bool {
        door == .home
            ? home.backoff.isBlocked(limited, at: moment.now)
            : remote.backoff.isBlocked(limited, at: moment.now)
    }

    /// Counts a refusal for the summary; a line goes out at once after a quiet minute.
    mutating func count(_ word: RefusalWord, at door: Door, _ moment: Moment) {
        counters.count(door, word)
        if let line = self[door].summary.refused(word, at: moment.now) { tell(line, of: door, moment) }
    }

    mutating func tell(_ line: RefusalSummary.Line, of door: Door, _ moment: Moment) {
        log(.info, "refused", [("door", door.rawValue), ("counts", line.text)])
        audit(
            AuditRow(
                at: moment.wall, actor: "door:\(door.rawValue)", action: "door.refused", outcome: "refused",
                detail: line.text))
    }

    /// One failure for the backoff.
    mutating func fail(_ limited: IPAddress, at door: Door, _ moment: Moment) {
        if self[door].backoff.failed(limited, at: moment.now) {
            log(.debug, "backoff", [("door", door.rawValue), ("source", limited.description)])
            keep(
                [lockout(door.backoffKind, limited.description, moment.now + limits.backoff, moment)], moment)
        }
    }

    /// A paired key reached ready: the source starts afresh (03 §7.3). Only a connection accepted before can end a backoff.
    private mutating func forgive(_ limited: IPAddress, at door: Door, _ moment: Moment) {
        if isBlocked(limited, at: door, moment) {
            keep([Lockout(door.backoffKind, limited.description, until: moment.wall)], moment)
        }
        if door == .home { home.backoff.clear(limited) } else { remote.backoff.clear(limited) }
    }

    /// On the wire a removed key is an unknown one; the admin hears of it, once a minute for each.
    mutating func noteRemovedKey(_ key: Fingerprint, _ connection: Connection, _ moment: Moment) {
        guard let tombstone = tombstones[key], !devices.contains(key) else { return }
        if let last = removedTries[key], moment.now - last < .seconds(60) { return }
        removedTries[key] = moment.now
        let words = "removed on \(tombstone.removedAt.rfc3339), tried to connect"
        log(.warning, words, [("door", connection.door.rawValue), ("device", key.shortName)])
        audit(
            AuditRow(
                at: moment.wall, actor: "door:\(connection.door.rawValue)", action: "device.removedTried",
                device: key.id.text, remote: connection.peer.ip.description, outcome: "refused", detail: words
            ))
    }

    private mutating func noteOlder(_ connection: Connection, _ moment: Moment) {
        if older.tried(Source.of(connection.peer.ip), at: moment.now) {
            olderPlace = Route.place(connection.placement.origin)
        }
    }

    /// Forgets a connection that is no session.
    @discardableResult mutating func forget(_ id: ConnectionID) -> Connection? {
        guard let connection = connections.removeValue(forKey: id) else { return nil }
        self[connection.door].pending.leave(id)
        if id.owner == ConnectionID.delegated {
            let key = PeerKey(door: connection.door, remote: connection.peer)
            if delegated.pending[key]?.id == id { delegated.pending.remove(key) }
        }
        return connection
    }

    private var gateFloor: Version? {
        let floor = settings.floor
        return floor.isZero ? nil : floor
    }
}
