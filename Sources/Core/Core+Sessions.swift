// SPDX-License-Identifier: Apache-2.0

package import Policy
internal import Synchronization
package import Wire

/// A session's life: step E, registering, its messages to the host, its end.
extension Core {
    /// Registers an admitted connection, judged once more (03 §5.5, §5.7). Everything happens under the core's lock, so
    /// registering and looking again are one step, and so are taking and checking the remote count.
    /// `cable` is what the cable rule says of this very connection, read for this call (04 §1).
    package mutating func register(
        _ id: ConnectionID, hello: Hello?, counters: SessionCounters,
        cable: CableVerdict = .not(.notLinkLocal), _ moment: Moment
    ) -> RegisterVerdict {
        settle(moment)
        guard let connection = connections[id], case .admitted(let key, let wasPaired) = connection.stage
        else {
            return .refuse
        }
        connections[id] = nil
        if connection.isOfOldIdentity {
            self.counters.goodbyes[Goodbye.removed.reason, default: 0] += 1
            return .goodbye(.removed)
        }
        return enter(
            Entrant(
                connection: id, door: connection.door, peer: connection.peer, local: connection.local,
                placement: connection.placement, key: key, wasPaired: wasPaired,
                mode: id.owner == ConnectionID.delegated ? .delegated : .relay,
                cable: connection.door == .home ? cable.finding : nil),
            hello: hello, counters: counters, moment)
    }

    /// The first hello of a session that was registered without one; a later one is skipped.
    package mutating func sessionHello(_ id: SessionID, _ hello: Hello, _ moment: Moment) {
        settle(moment)
        guard let session = table[id], session.view.hello == nil else { return }
        let cleaned = Self.cleaned(hello)
        table.update(id) { $0.view.hello = cleaned }
        log(
            .info, "hello",
            [
                ("session", id.text), ("device", cleaned.device ?? ""), ("version", cleaned.appVersion ?? ""),
                ("build", cleaned.build ?? ""),
            ])
    }

    /// Its worker has put a goodbye of its own into the session (`noHost`) and closes it: counted and told like one that
    /// a rule sends. Nothing when it was told to go before.
    package mutating func sessionSaidGoodbye(_ id: SessionID, _ goodbye: Goodbye, _ moment: Moment) {
        settle(moment)
        guard let view = table.close(id, goodbye) else { return }
        tell(goodbye, of: view)
    }

    /// The session is over; the worker has closed it.
    package mutating func sessionEnded(_ id: SessionID, _ why: SessionEnd, _ moment: Moment) {
        settle(moment)
        guard let session = table.remove(id) else { return }
        delegated.closing.remove(id)
        let view = shown(session.view)
        links.remove(id)
        counters.endedBytesIn += view.counters.bytesIn.load(ordering: .relaxed)
        counters.endedBytesOut += view.counters.bytesOut.load(ordering: .relaxed)
        var fields = [
            ("session", id.text), ("device", view.fingerprint?.shortName ?? ""),
            ("reason", view.goodbye?.reason ?? why.rawValue),
        ]
        // What the device was told does not say what happened.
        if view.goodbye != nil, why != .goodbye { fields.append(("ended", why.rawValue)) }
        log(.info, "session ended", fields)
        emit(.event(.sessionClosed(view, why)))
        if let key = view.fingerprint { saw(key, route: view.route, moment) }
        refreshQuality(by: view)
    }

    /// An admin ends one session with goodbye `ended`; false when there is none.
    package mutating func disconnect(
        _ id: SessionID, message: String?, actor: Actor, _ moment: Moment
    ) -> Bool {
        settle(moment)
        guard let view = table[id]?.view else { return false }
        let words = message.map { Label.clean($0, limit: 300) }.flatMap { $0.isEmpty ? nil : $0 }
        end(id, .ended(words), moment)
        audit(
            AuditRow(
                at: moment.wall, actor: actor.text, action: "session.close",
                device: view.fingerprint?.id.text, remote: view.remote.ip.description, outcome: "ok",
                detail: words.map { "\($0), \(view.route)" } ?? view.route))
        return true
    }

    /// What a session is made of.
    struct Entrant {
        var connection: ConnectionID
        var door: Door
        var peer: SocketAddress
        var local: SocketAddress?
        var placement: Placement
        var key: Fingerprint?
        var wasPaired: Bool
        var mode: SessionMode
        /// The cable it came over; at the home door alone.
        var cable: CableFinding?
    }

    /// E's rule and the session table, for both ways of using Latchkey.
    mutating func enter(
        _ entrant: Entrant, hello: Hello?, counters sessionCounters: SessionCounters, _ moment: Moment
    ) -> RegisterVerdict {
        if isStopping { return .goodbye(.quit) }
        if isCutOff(entrant.placement.origin) { return .refuse }
        let record = entrant.key.flatMap { devices[$0] }
        let refusal = DoorPolicy.afterGate(
            door: entrant.door, origin: entrant.placement.origin, hasKey: entrant.key != nil,
            isPaired: record != nil, wasPaired: entrant.wasPaired,
            hasRoom: table.remoteCount < limits.remoteSessions, switches)
        if let refusal {
            if refusal == .busy { count(.limit, at: entrant.door, moment) }
            counters.goodbyes[refusal.reason, default: 0] += 1
            return .goodbye(refusal)
        }
        // The gate judged by the floor of its moment; one that rose since then ended every session below it (09.6).
        if hello?.versionOrZero ?? .zero < settings.floor {
            let goodbye = updateGoodbye(hello)
            counters.goodbyes[goodbye.reason, default: 0] += 1
            return .goodbye(goodbye)
        }
        let serial = table.nextSerial()
        let view = SessionView(
            id: SessionID(text: "\(host.sessionPrefix)\(serial)"), fingerprint: entrant.key,
            device: record.map { DeviceRef(id: $0.id, name: $0.name) }, door: entrant.door,
            origin: entrant.placement.origin, cable: entrant.cable != nil,
            route: route(entrant.door, entrant.placement, cable: entrant.cable != nil),
            away: Route.isAway(door: entrant.door, origin: entrant.placement.origin), paired: record != nil,
            mode: entrant.mode, startedAt: moment.wall, remote: entrant.peer, local: entrant.local,
            arrival: entrant.placement.arrival, hello: hello.map { Self.cleaned($0) },
            counters: sessionCounters, connection: entrant.connection)
        table.insert(Session(view: view, serial: serial))
        links.add(view.id)
        counters.sessions += 1
        log(
            .info, "session",
            [
                ("session", view.id.text), ("door", view.door.rawValue), ("origin", view.origin.rawValue),
                ("route", view.route), ("device", view.fingerprint?.shortName ?? ""),
                ("name", view.device?.name ?? view.hello?.device ?? ""),
            ] + (entrant.cable == nil ? [("cable", "no")] : Self.cableFields(entrant.cable)))
        log(.debug, "session from", [("session", view.id.text), ("remote", view.remote.description)])
        emit(.event(.sessionOpened(view)))
        if let key = entrant.key { saw(key, route: view.route, moment) }
        if let key = entrant.key, let cable = entrant.cable { learn(key, cable) }
        refreshQuality(by: view)
        return .session(view)
    }

    /// Tells a session why it ends and lets its worker close it; each session is told at most once.
    mutating func end(_ id: SessionID, _ goodbye: Goodbye, _ moment: Moment) {
        guard let view = table.close(id, goodbye) else { return }
        switch view.mode {
        case .relay: emit(.endSession(id, view.connection, goodbye))
        // The event below is what its process hears.
        case .delegated: awaitDeletion(of: id, moment)
        }
        tell(goodbye, of: view)
    }

    /// Counts and tells a goodbye that is on its way.
    private mutating func tell(_ goodbye: Goodbye, of view: SessionView) {
        counters.goodbyes[goodbye.reason, default: 0] += 1
        log(.info, "goodbye", [("session", view.id.text), ("reason", goodbye.reason)])
        emit(.event(.sessionClosing(shown(view), goodbye)))
        refreshQuality(by: view)
    }

    /// Ends a session without a word.
    mutating func cut(_ view: SessionView, _ moment: Moment) {
        switch view.mode {
        case .relay: emit(.endSession(view.id, view.connection, nil))
        case .delegated:
            guard delegated.closing[view.id] == nil else { return }
            awaitDeletion(of: view.id, moment)
            emit(.event(.sessionClosing(shown(view), nil)))
        }
    }

    /// How a connection of this placement is named to people.
    func route(_ door: Door, _ placement: Placement, cable: Bool = false) -> String {
        Route.words(
            door: door, origin: placement.origin, cable: cable,
            vpn: placement.origin == .vpn ? placement.arrival.flatMap { serviceNames[$0] } : nil)
    }

    /// A device was here. Kept and stored at most once a minute, or when its route changed: a device that reconnects all
    /// the time must not keep the disk busy.
    private mutating func saw(_ key: Fingerprint, route: String, _ moment: Moment) {
        guard var record = devices[key] else { return }
        if let last = record.lastSeenAt, record.lastRoute == route,
            abs(moment.wall.milliseconds - last.milliseconds) < 60_000
        {
            return
        }
        record.lastSeenAt = moment.wall
        record.lastRoute = route
        put(record)
        publish()
        emit(
            .record(StoreCommit(change: .deviceSeen(key, at: moment.wall, route: route), audit: [])))
        emit(.event(.deviceSeen(record)))
    }

    /// The sessions of a key on the list show the record it has now.
    mutating func showInSessions(_ record: DeviceRecord) {
        let device = DeviceRef(id: record.id, name: record.name)
        for session in table.all(of: record.fingerprint) {
            table.update(session.view.id) {
                $0.view.paired = true
                $0.view.device = device
            }
        }
    }

    /// Bytes a character of a hello may have in the mean. The label rule counts characters, which may have any number of
    /// marks: by it alone a hello of 1 MiB would be kept, and be in each of the thousand events about its sessions.
    private static let bytesPerCharacter = 16

    /// Texts of a peer, made fit to show and bounded (02 §10).
    private static func cleaned(_ hello: Hello) -> Hello {
        func bounded(_ text: String, _ limit: Int) -> String {
            let cleaned = Label.clean(text, limit: limit)
            var room = limit * bytesPerCharacter
            guard cleaned.utf8.count > room else { return cleaned }
            var kept = String.UnicodeScalarView()
            for scalar in cleaned.unicodeScalars {
                room -= UTF8.width(scalar)
                if room < 0 { break }
                kept.append(scalar)
            }
            return String(kept)
        }
        func clean(_ text: String?, _ limit: Int) -> String? {
            text.map { bounded($0, limit) }.flatMap { $0.isEmpty ? nil : $0 }
        }
        return Hello(
            appVersion: clean(hello.appVersion, 32), build: clean(hello.build, 32),
            device: clean(hello.device, 64), protocolGeneration: hello.protocolGeneration,
            audio: hello.audio.map { codecs in codecs.prefix(16).map { bounded($0, 32) } })
    }
}
