// SPDX-License-Identifier: Apache-2.0

package import Wire

/// One thing the store can be asked to make durable.
package enum StoreChange: Sendable {
    /// Adds or replaces a record and clears the key's tombstone.
    case pairDevice(DeviceRecord)
    /// Gives a device another name.
    case renameDevice(Fingerprint, String)
    /// Deletes the record and leaves the tombstone.
    case removeDevice(Fingerprint, Tombstone)
    /// Sets the given keys (nil deletes one); `requirePairing` is stored signed (03 §4.2), nil leaves it.
    case settings(values: [String: String?], requirePairing: Bool?)
    /// Adds or replaces all of them and clears these tombstones, in one transaction.
    case importDevices([DeviceRecord], clearTombstones: [Fingerprint])
    /// A device was admitted.
    case deviceSeen(Fingerprint, at: WallTime, route: String)
    /// A device learned which cable is its own.
    case bindCable(Fingerprint, String)
    /// Adds or replaces these, then drops every one that has ended at `now`.
    case lockouts([Lockout], now: WallTime)
    /// Another identity in place of the stored one; every device is deleted and leaves a tombstone of the identity's
    /// time. "Require pairing" stays what it was, signed by the new key (03 §4.2).
    case rotate(StoredIdentity, removedBy: String)
    /// Only audit rows.
    case auditOnly
}

/// A change with the audit rows that are committed in the same transaction.
package struct StoreCommit: Sendable {
    /// What changes.
    package var change: StoreChange
    /// Who did it and how it ended.
    package var audit: [AuditRow]

    package init(change: StoreChange, audit: [AuditRow]) {
        self.change = change
        self.audit = audit
    }
}

/// One line of the append-only audit record (09.25). Never holds a code, secret, token, key or serial.
package struct AuditRow: Sendable, Equatable {
    /// When it happened.
    package var at: WallTime
    /// `unix:0`, `token:admin`, `token:host`, `door:home`, `door:remote` or `service`.
    package var actor: String
    /// What was done, such as `device.remove`.
    package var action: String
    /// The device's ID, if it is about one.
    package var device: String?
    /// The source address, if it came by a door (09.8).
    package var remote: String?
    /// `ok`, or how it ended otherwise.
    package var outcome: String
    /// Words for people.
    package var detail: String?

    package init(
        at: WallTime, actor: String, action: String, device: String? = nil, remote: String? = nil,
        outcome: String, detail: String? = nil
    ) {
        self.at = at
        self.actor = actor
        self.action = action
        self.device = device
        self.remote = remote
        self.outcome = outcome
        self.detail = detail
    }
}
