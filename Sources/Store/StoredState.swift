// SPDX-License-Identifier: Apache-2.0

package import Policy
internal import Wire

/// Everything a start needs, read once.
package struct StoredState: Sendable {
    /// nil: a first start stopped before it committed one.
    package var identity: StoredIdentity?
    package var devices: [DeviceRecord]
    package var tombstones: [Tombstone]
    /// Settings that differ from their defaults, by the API's names.
    package var settings: [String: String]
    /// Spec 03 section 4.2, as stored, not yet verified; nil when missing.
    package var requirePairing: String?
    /// Spec 09 point 5; some may have ended.
    package var lockouts: [Lockout] = []
}

extension Connection {
    func loadIdentity() throws(StoreError) -> StoredIdentity? {
        var out: StoredIdentity?
        try forEachRow("SELECT fingerprint, recognition_key, created_at FROM identity") {
            row throws(StoreError) in
            guard let key = row.fingerprint(0) else {
                throw StoreError(.corrupt, "its identity is not a fingerprint")
            }
            out = StoredIdentity(
                fingerprint: key, recognitionKey: row.blob(1), createdAt: WallTime(milliseconds: row.int(2)))
            return false
        }
        return out
    }

    /// Everything but the devices.
    func loadState() throws(StoreError) -> StoredState {
        var state = StoredState(
            identity: try loadIdentity(), devices: [], tombstones: [], settings: [:], requirePairing: nil)
        state.tombstones = try loadTombstones()
        try forEachRow("SELECT key, value FROM settings") { row in
            state.settings[row.text(0)] = row.text(1)
            return true
        }
        try forEachRow("SELECT kind, key, until FROM lockouts") { row in
            // A kind of a later release holds nobody back here.
            if let kind = Lockout.Kind(rawValue: row.text(0)) {
                state.lockouts.append(
                    Lockout(kind, row.text(1), until: WallTime(milliseconds: row.int(2))))
            }
            return true
        }
        state.requirePairing = state.settings.removeValue(forKey: Self.requirePairingKey)
        return state
    }

    func loadTombstones() throws(StoreError) -> [Tombstone] {
        var tombstones: [Tombstone] = []
        try forEachRow("SELECT fingerprint, removed_at, removed_by FROM tombstones") {
            row throws(StoreError) in
            tombstones.append(
                Tombstone(
                    fingerprint: try Self.fingerprint(row, 0), removedAt: WallTime(milliseconds: row.int(1)),
                    removedBy: row.text(2)))
            return true
        }
        return tombstones
    }

    /// The devices in the rows after `low` up to `high`, by row number.
    func loadDevices(after low: Int64, upTo high: Int64, expecting count: Int) throws(StoreError)
        -> [DeviceRecord]
    {
        var devices: [DeviceRecord] = []
        devices.reserveCapacity(count)
        try forEachRow(
            "SELECT \(Self.deviceColumns) FROM devices WHERE rowid > ?1 AND rowid <= ?2",
            [.integer(low), .integer(high)]
        ) { row throws(StoreError) in
            devices.append(try Self.device(row))
            return true
        }
        return devices
    }

    /// What `device(_:)` reads, in its order.
    static var deviceColumns: String {
        "fingerprint, name, model, paired_at, paired_how, cable_device, last_seen_at, last_route"
    }

    static func device(_ row: borrowing Statement) throws(StoreError) -> DeviceRecord {
        DeviceRecord(
            fingerprint: try fingerprint(row, 0), name: row.text(1), model: row.optionalText(2),
            pairedAt: WallTime(milliseconds: row.int(3)), pairedHow: row.text(4),
            cableDevice: row.optionalText(5),
            lastSeenAt: row.optionalInt(6).map(WallTime.init(milliseconds:)), lastRoute: row.optionalText(7))
    }

    /// A fingerprint column. Another length means a damaged file, since the schema refuses it.
    static func fingerprint(_ row: borrowing Statement, _ index: Int32) throws(StoreError) -> Fingerprint {
        guard let key = row.fingerprint(index) else {
            throw StoreError(.corrupt, "a stored key is not 32 bytes", sqliteCode: 11)
        }
        return key
    }
}
