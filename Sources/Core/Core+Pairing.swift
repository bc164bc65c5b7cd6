// SPDX-License-Identifier: Apache-2.0

package import Policy
package import Wire

/// A pairing connection's one message (03 §5.6, 02 §6).
extension Core {
    /// Step F: a complete kind 19 that decoded. Answered by effect `answerPairing`, at once or when its record is
    /// durable, or closed without an answer when its origin is no longer admitted.
    /// `cable` is what the cable rule says of this very connection; it matters to an ask at home alone.
    package mutating func pairingMessage(
        _ id: ConnectionID, _ request: PairRequest, cable: CableVerdict = .not(.notLinkLocal),
        _ moment: Moment
    ) {
        _ = takePairingMessage(id, request, cable: cable, moment)
    }

    /// The same for both ways of using Latchkey; the word under which it was refused, if it was.
    mutating func takePairingMessage(
        _ id: ConnectionID, _ request: PairRequest, cable: CableVerdict, _ moment: Moment
    ) -> RefusalWord? {
        settle(moment)
        guard let connection = connections[id], case .pairing(let key) = connection.stage else { return nil }
        if let word = refusalOfOrigin(
            connection.door, connection.placement.origin, connection.limited, moment)
        {
            forget(id)
            emit(.closeConnection(id))
            return word
        }
        self[connection.door].pending.leave(id)
        connections[id]?.stage = .answering
        let route = DoorPolicy.route(
            door: connection.door, version: request.version, method: request.method,
            windowIsForHomeAlone: opened.map { !$0.isForRemote } ?? false)
        let asker = Asker(
            key: key, source: Source.of(connection.peer.ip), name: Label.clean(request.name),
            origin: connection.placement.origin, cableClaimed: request.cable ?? false, cable: cable.finding,
            model: Self.model(request))
        switch route {
        case .closed: answer(id, .refused(.closed))
        case .cancel:
            withdraw(key, moment)
            answer(id, .refused(.closed))
        case .ask:
            if let result = ask(asker, by: id, moment) { answer(id, result) }
        case .window: judge(request, of: id, connection, key, moment)
        }
        return nil
    }

    /// Whether the window still waits for its code's key. Asked before the work: windows that were opened and closed one
    /// after the other must not keep the next one's code, or the end of the service, waiting.
    package func needsCodeKey(window: String) -> Bool { opened?.id == window }

    /// The code's key of a window; dropped when another window is open by now.
    package mutating func codeKeyDerived(window: String, key: [UInt8], _ moment: Moment) {
        settle(moment)
        guard opened?.id == window else { return }
        opened?.judge.setCodeKey(key)
    }

    /// Sends a kind 20, if somebody still waits for it.
    mutating func answer(_ id: ConnectionID, _ result: PairResult) {
        counters.pairings[result.ok ? "ok" : result.reason ?? "closed", default: 0] += 1
        guard connections.removeValue(forKey: id) != nil else { return }
        emit(.answerPairing(id, result))
    }

    private mutating func judge(
        _ request: PairRequest, of id: ConnectionID, _ connection: Connection, _ key: Fingerprint,
        _ moment: Moment
    ) {
        if rotation != nil { return answer(id, .refused(.busy, retryAfter: 1)) }
        guard var window = opened else {
            answer(id, .refused(lastWindow?.outcome == .expired ? .expired : .closed))
            return
        }
        let proof = Base64URL.decode(request.proof)
        let text = ProofText.device(fpDevice: key, fpMac: host.fingerprint)
        let primitives = primitives
        let verdict = window.judge.judge(
            method: request.method, source: Source.of(connection.peer.ip), at: moment.now
        ) { windowKey in
            guard let proof else { return false }
            return primitives.equal(primitives.hmacSHA256(windowKey, text), proof)
        }
        opened = window
        switch verdict {
        case .accept: accept(request, of: id, connection, key, window, moment)
        case .reject(let triesLeft): answer(id, .refused(.code, triesLeft: triesLeft))
        case .busy(let wait): answer(id, .refused(.busy, retryAfter: wait.seconds))
        case .stopped:
            closeWindow(.stopped, quiets: true, actor: doorActor(connection.door), moment)
            answer(id, .refused(.stopped))
        case .expired:
            closeWindow(.expired, quiets: false, actor: .service, moment)
            answer(id, .refused(.expired))
        }
    }

    /// The proof was right: the window is used from here, whatever the store says; the answer waits for the store.
    private mutating func accept(
        _ request: PairRequest, of id: ConnectionID, _ connection: Connection, _ key: Fingerprint,
        _ window: OpenedWindow, _ moment: Moment
    ) {
        guard let windowKey = window.judge.key(for: request.method) else { return }
        closeWindow(.used, quiets: false, actor: doorActor(connection.door), moment)
        let proof = primitives.hmacSHA256(
            windowKey, ProofText.mac(fpDevice: key, fpMac: host.fingerprint))
        let old = devices[key]
        let record = DeviceRecord(
            fingerprint: key, name: Label.clean(request.name), model: Self.model(request),
            pairedAt: moment.wall, pairedHow: request.method, cableDevice: old?.cableDevice,
            lastSeenAt: old?.lastSeenAt,
            lastRoute: old?.lastRoute)
        let answer = PairResult(
            ok: true, proof: Base64URL.encode(proof), macID: host.fingerprint.id.text, name: hostName,
            recognitionKey: Base64URL.encode(host.recognitionKey))
        let row = AuditRow(
            at: moment.wall, actor: "door:\(connection.door.rawValue)", action: "device.pair",
            device: record.id.text, remote: connection.peer.ip.description, outcome: "ok",
            detail: "\(request.method), \(record.name), \(route(connection.door, connection.placement))")
        commit(
            .pairing(
                PendingPairing(
                    connection: id, record: record, window: window.id, door: connection.door, answer: answer)),
            StoreCommit(change: .pairDevice(record), audit: [row]))
    }

    /// The record is durable: the list, then the snapshot, and only then the device hears ok.
    mutating func finish(_ pairing: PendingPairing, _ moment: Moment) {
        let key = pairing.record.fingerprint
        put(pairing.record)
        tombstones[key] = nil
        removedTries[key] = nil
        publish()
        if request?.fingerprint == key { request = nil }
        if let cable = pairing.cable { cables.release(cable.device, of: key) }
        showInSessions(pairing.record)
        log(
            .info, "paired",
            [
                ("device", key.shortName), ("name", pairing.record.name), ("how", pairing.record.pairedHow),
                ("door", pairing.door.rawValue),
            ] + Self.cableFields(pairing.cable))
        if let window = pairing.window, lastWindow?.id == window { lastWindow?.device = pairing.record.id }
        emit(.event(.devicePaired(pairing.record)))
        if let window = pairing.window {
            emit(
                .event(
                    .windowClosed(
                        WindowOutcome(
                            id: window, outcome: .used, at: moment.wall, device: pairing.record.id))))
        } else {
            withdraw(key, moment)
        }
        answer(pairing.connection, pairing.answer)
    }

    /// Nothing was saved, so nothing is promised; a window stays used (02 §5.5), an ask over the cable hears
    /// `openOnMac` (03 §12.2).
    mutating func fail(_ pairing: PendingPairing, _ moment: Moment) {
        if let window = pairing.window {
            emit(.event(.windowClosed(WindowOutcome(id: window, outcome: .used, at: moment.wall))))
            answer(pairing.connection, .refused(.closed))
        } else {
            if let cable = pairing.cable { cables.release(cable.device, of: pairing.record.fingerprint) }
            withdraw(pairing.record.fingerprint, moment)
            answer(pairing.connection, .refused(.openOnMac))
        }
    }

    /// What a device calls its model, made fit to show.
    private static func model(_ request: PairRequest) -> String? {
        request.model.map { Label.clean($0) }.flatMap { $0.isEmpty ? nil : $0 }
    }

    func doorActor(_ door: Door) -> Actor { Actor(text: "door:\(door.rawValue)") }
}
