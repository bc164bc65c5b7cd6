// SPDX-License-Identifier: Apache-2.0

package import Wire

/// One paired device: its key and what people know about it (02 §5.6).
package struct DeviceRecord: Sendable, Equatable {
    /// SHA-256 of the device's SubjectPublicKeyInfo: what trust rests on.
    package var fingerprint: Fingerprint
    /// Cleaned by the label rule; may be empty.
    package var name: String
    /// Cleaned, such as `iPad14,1`.
    package var model: String?
    /// When the key was put on the list last.
    package var pairedAt: WallTime
    /// `qr`, `code`, `cable` or `import`; later words are kept.
    package var pairedHow: String
    /// The hashed serial of the device whose cable it came by (04 §6). Never logged, never sent anywhere.
    package var cableDevice: String?
    /// When a session of it was last admitted; good to about a minute.
    package var lastSeenAt: WallTime?
    /// How that session came, in words (03 §3.7).
    package var lastRoute: String?
    /// The device's own Sill ID: the first 80 bits of its fingerprint.
    package var id: SillID { fingerprint.id }

    package init(
        fingerprint: Fingerprint, name: String, model: String? = nil, pairedAt: WallTime, pairedHow: String,
        cableDevice: String? = nil, lastSeenAt: WallTime? = nil, lastRoute: String? = nil
    ) {
        self.fingerprint = fingerprint
        self.name = name
        self.model = model
        self.pairedAt = pairedAt
        self.pairedHow = pairedHow
        self.cableDevice = cableDevice
        self.lastSeenAt = lastSeenAt
        self.lastRoute = lastRoute
    }
}

/// What remains of a removed key, so that no backup or import brings it back unasked (00).
package struct Tombstone: Sendable, Equatable {
    /// The key that was removed.
    package var fingerprint: Fingerprint
    /// When.
    package var removedAt: WallTime
    /// Who, as an audit actor.
    package var removedBy: String

    package init(fingerprint: Fingerprint, removedAt: WallTime, removedBy: String) {
        self.fingerprint = fingerprint
        self.removedAt = removedAt
        self.removedBy = removedBy
    }
}
