// SPDX-License-Identifier: Apache-2.0

internal import Policy
internal import Wire

/// What the USB cable gives: one key of one device a pairing, nothing else (03 §12.2 row 2, 04).
extension Core {
    /// *Pair now*: saved first, then ok without a proof; a failed save is answered `openOnMac`. A key that is on the list
    /// gets the same ok at once. Nil: the answer follows.
    mutating func pairByCable(
        _ asker: Asker, _ cable: CableFinding, _ connection: ConnectionID, _ moment: Moment
    ) -> PairResult? {
        let answer = PairResult(
            ok: true, macID: host.fingerprint.id.text, name: hostName,
            recognitionKey: Base64URL.encode(host.recognitionKey), method: "cable")
        if devices.contains(asker.key) {
            learn(asker.key, cable)
            withdraw(asker.key, moment)
            return answer
        }
        let record = DeviceRecord(
            fingerprint: asker.key, name: asker.name, model: asker.model, pairedAt: moment.wall,
            pairedHow: "cable", cableDevice: cable.device)
        let row = AuditRow(
            at: moment.wall, actor: doorActor(.home).text, action: "device.pair", device: record.id.text,
            remote: asker.source.description, outcome: "ok",
            detail:
                "cable, \(record.name), \(Route.words(door: .home, origin: asker.origin, cable: true, vpn: nil))"
        )
        cables.reserve(cable.device, for: asker.key)
        commit(
            .pairing(
                PendingPairing(
                    connection: connection, record: record, window: nil, door: .home, cable: cable,
                    answer: answer)),
            StoreCommit(change: .pairDevice(record), audit: [row]))
        return nil
    }

    /// A paired key whose record knows no cable gets this one; one that has one never changes (04 §6).
    mutating func learn(_ key: Fingerprint, _ cable: CableFinding) {
        guard rotation == nil, let record = devices[key], record.cableDevice == nil,
            !cables.isReserved(cable.device, by: key)
        else { return }
        cables.reserve(cable.device, for: key)
        commit(
            .bindCable(key, cable.device),
            StoreCommit(change: .bindCable(key, cable.device), audit: []))
    }

    mutating func finishBinding(_ key: Fingerprint, _ cable: String) {
        cables.release(cable, of: key)
        guard var record = devices[key], record.cableDevice == nil else { return }
        record.cableDevice = cable
        put(record)
        publish()
        log(.info, "cable bound", [("device", key.shortName)])
    }

    /// Which plug it was, for a line about something that came over the cable (04 §7), and why it did not pair by itself.
    static func cableFields(_ cable: CableFinding?, why: String? = nil) -> [(String, String)] {
        guard let cable else { return [] }
        let plug = [("cable", cable.interface), ("plug", cable.plug)]
        return why.map { plug + [("notByCable", $0)] } ?? plug
    }

    /// Why an ask over the cable got no pairing (03 §12.9).
    static func notByItself(_ facts: AskPolicy.Facts) -> String {
        if facts.hasOtherKey { return "another key of this device is paired" }
        return facts.cableClaimed ? "not by itself" : "the device did not say it is on the cable"
    }
}
