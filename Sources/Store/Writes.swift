// SPDX-License-Identifier: Apache-2.0

internal import Policy
internal import Wire

/// How each change reaches the tables. Runs inside a transaction or savepoint of the caller's.
extension Connection {
    /// One commit with its audit rows. `requirePairing` is the text of spec 03 section 4.2, already signed; nil leaves
    /// what is stored.
    func apply(_ commit: StoreCommit, requirePairing: String?) throws(StoreError) {
        switch commit.change {
        case .pairDevice(let device):
            // Pairing is a person's consent, so it lifts the tombstone of a key that was removed before.
            try run("DELETE FROM tombstones WHERE fingerprint = ?", [.key(device.fingerprint)])
            try put(device)
        case .renameDevice(let key, let name):
            let changed = try run(
                "UPDATE devices SET name = ?2, name_folded = ?3 WHERE fingerprint = ?1",
                [.key(key), .text(name), .text(name.lowercased())])
            guard changed == 1 else { throw StoreError(.constraint, "rename device: it is not in the store") }
        case .removeDevice(let key, let tombstone):
            try run("DELETE FROM devices WHERE fingerprint = ?", [.key(key)])
            try put(tombstone)
        case .settings(let values, _):
            for (key, value) in values { try put(setting: key, value) }
            if let requirePairing { try put(setting: Self.requirePairingKey, requirePairing) }
        case .importDevices(let devices, let restored):
            for key in restored {
                try run("DELETE FROM tombstones WHERE fingerprint = ?", [.key(key)])
            }
            for device in devices { try put(device) }
        case .deviceSeen(let key, let time, let route):
            // No row: removed since. Nothing to say then.
            try run(
                "UPDATE devices SET last_seen_at = ?2, last_route = ?3 WHERE fingerprint = ?1",
                [.key(key), .time(time), .text(route)])
        case .bindCable(let key, let cable):
            let changed = try run(
                "UPDATE devices SET cable_device = ?2 WHERE fingerprint = ?1", [.key(key), .text(cable)])
            guard changed == 1 else {
                throw StoreError(.constraint, "bind cable: the device is not in the store")
            }
        case .lockouts(let lockouts, let now):
            for lockout in lockouts { try put(lockout) }
            try run("DELETE FROM lockouts WHERE until <= ?", [.time(now)])
        case .rotate(let identity, let actor):
            try replaceIdentity(identity)
            // The new key's word for what the old one's said.
            if let requirePairing { try put(setting: Self.requirePairingKey, requirePairing) }
            try run(
                """
                INSERT INTO tombstones (fingerprint, removed_at, removed_by)
                SELECT fingerprint, ?1, ?2 FROM devices WHERE true
                ON CONFLICT (fingerprint) DO UPDATE SET removed_at = excluded.removed_at,
                    removed_by = excluded.removed_by
                """,
                [.time(identity.createdAt), .text(actor)])
            try run("DELETE FROM devices")
        case .auditOnly: break
        }
        for row in commit.audit { try add(row) }
    }

    /// The key of the settings table that holds the signed value; no setting of the API's own reaches it.
    static var requirePairingKey: String { "requirePairing" }

    /// What is stored for "require pairing", not verified; nil when nothing is.
    func storedRequirePairing() throws(StoreError) -> String? {
        try text("SELECT value FROM settings WHERE key = ?", [.text(Self.requirePairingKey)])
    }

    private func replaceIdentity(_ identity: StoredIdentity) throws(StoreError) {
        let changed = try run(
            "UPDATE identity SET fingerprint = ?, recognition_key = ?, created_at = ?",
            [.key(identity.fingerprint), .blob(identity.recognitionKey), .time(identity.createdAt)])
        guard changed == 1 else { throw StoreError(.constraint, "rotate: the store names no identity yet") }
    }

    private func put(_ device: DeviceRecord) throws(StoreError) {
        try run(
            """
            INSERT INTO devices (fingerprint, name, name_folded, model, paired_at, paired_how, cable_device,
                last_seen_at, last_route)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (fingerprint) DO UPDATE SET name = excluded.name, name_folded = excluded.name_folded,
                model = excluded.model, paired_at = excluded.paired_at, paired_how = excluded.paired_how,
                cable_device = excluded.cable_device, last_seen_at = excluded.last_seen_at,
                last_route = excluded.last_route
            """,
            [
                .key(device.fingerprint), .text(device.name),
                .text(device.name.lowercased()), .optional(device.model), .time(device.pairedAt),
                .text(device.pairedHow), .optional(device.cableDevice), .time(device.lastSeenAt),
                .optional(device.lastRoute),
            ])
    }

    private func put(_ tombstone: Tombstone) throws(StoreError) {
        try run(
            """
            INSERT INTO tombstones (fingerprint, removed_at, removed_by) VALUES (?, ?, ?)
            ON CONFLICT (fingerprint) DO UPDATE SET removed_at = excluded.removed_at,
                removed_by = excluded.removed_by
            """,
            [.key(tombstone.fingerprint), .time(tombstone.removedAt), .text(tombstone.removedBy)])
    }

    private func put(_ lockout: Lockout) throws(StoreError) {
        try run(
            """
            INSERT INTO lockouts (kind, key, until) VALUES (?, ?, ?)
            ON CONFLICT (kind, key) DO UPDATE SET until = excluded.until
            """,
            [.text(lockout.kind.rawValue), .text(lockout.key), .time(lockout.until)])
    }

    private func put(setting key: String, _ value: String?) throws(StoreError) {
        guard let value else {
            try run("DELETE FROM settings WHERE key = ?", [.text(key)])
            return
        }
        try run(
            "INSERT INTO settings (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            [.text(key), .text(value)])
    }

    private func add(_ row: AuditRow) throws(StoreError) {
        try run(
            "INSERT INTO audit (at, actor, action, device, remote, outcome, detail) VALUES (?, ?, ?, ?, ?, ?, ?)",
            [
                .time(row.at), .text(row.actor), .text(row.action), .optional(row.device),
                .optional(row.remote), .text(row.outcome), .optional(row.detail),
            ])
    }
}
