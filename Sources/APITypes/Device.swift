// Paired devices as the API shows them. SPDX-License-Identifier: Apache-2.0

package import Wire

/// A paired device, an item of `GET /v1/devices`.
package struct Device: APIObject {
    /// The device's own Sill ID, stable: 16 Crockford characters.
    package var id: String
    /// What people call it.
    package var name: String
    /// What it says it is, for example "iPad14,1".
    package var model: String?
    /// SHA-256 of its SubjectPublicKeyInfo, base64url.
    package var fingerprint: String
    /// The first six characters people compare.
    package var shortName: String
    /// When it was paired.
    package var pairedAt: WallTime
    /// `qr`, `code`, `cable` or `import`.
    package var pairedHow: String
    /// When it was last in a session; nil when never.
    package var lastSeenAt: WallTime?
    /// How it came then, for people: "through Tailscale".
    package var lastRoute: String?
    /// Its sessions now.
    package var connected: Int
    /// Whether a USB device is remembered for it, so that its cable proves it.
    package var cableBound: Bool

    /// A device with all it has.
    package init(
        id: String, name: String, model: String?, fingerprint: String, shortName: String, pairedAt: WallTime,
        pairedHow: String, lastSeenAt: WallTime?, lastRoute: String?, connected: Int, cableBound: Bool
    ) {
        self.id = id
        self.name = name
        self.model = model
        self.fingerprint = fingerprint
        self.shortName = shortName
        self.pairedAt = pairedAt
        self.pairedHow = pairedHow
        self.lastSeenAt = lastSeenAt
        self.lastRoute = lastRoute
        self.connected = connected
        self.cableBound = cableBound
    }

    package init(json: JSON) throws(JSONError) {
        id = try json.requiredString("id")
        name = try json.requiredString("name")
        model = try json.optionalString("model")
        fingerprint = try json.requiredString("fingerprint")
        shortName = try json.requiredString("shortName")
        pairedAt = try json.requiredTime("pairedAt")
        pairedHow = try json.requiredString("pairedHow")
        lastSeenAt = try json.optionalTime("lastSeenAt")
        lastRoute = try json.optionalString("lastRoute")
        connected = try json.optionalInt("connected") ?? 0
        cableBound = try json.optionalBool("cableBound") ?? false
    }

    package func encode(into writer: inout JSONWriter) {
        writer.field("id", id)
        writer.field("name", name)
        writer.field("model", orNull: model)
        writer.field("fingerprint", fingerprint)
        writer.field("shortName", shortName)
        writer.field("pairedAt", pairedAt.rfc3339)
        writer.field("pairedHow", pairedHow)
        writer.field("lastSeenAt", orNull: lastSeenAt)
        writer.field("lastRoute", orNull: lastRoute)
        writer.field("connected", connected)
        writer.field("cableBound", cableBound)
    }
}

/// A device named inside another object.
package struct DeviceRef: APIObject {
    /// The device's Sill ID.
    package var id: String
    /// What people call it.
    package var name: String

    /// Names a device.
    package init(id: String, name: String) {
        self.id = id
        self.name = name
    }

    package init(json: JSON) throws(JSONError) {
        id = try json.requiredString("id")
        name = try json.requiredString("name")
    }

    package func encode(into writer: inout JSONWriter) {
        writer.field("id", id)
        writer.field("name", name)
    }
}

/// The answer to `DELETE /v1/devices/{id}`.
package struct DeviceRemoved: APIObject {
    /// Sessions of the device that were ended with it.
    package var closedSessions: Int

    /// How many sessions ended.
    package init(closedSessions: Int) { self.closedSessions = closedSessions }

    package init(json: JSON) throws(JSONError) { closedSessions = try json.requiredInt("closedSessions") }

    package func encode(into writer: inout JSONWriter) { writer.field("closedSessions", closedSessions) }
}

/// The answer to `POST /v1/devices/import` (spec 09.26).
package struct ImportResult: APIObject {
    /// Devices that were not on the list.
    package var imported: Int
    /// Devices that were.
    package var updated: Int
    /// IDs of removed devices that were left out.
    package var removedSkipped: [String]

    /// What one import did.
    package init(imported: Int, updated: Int, removedSkipped: [String]) {
        self.imported = imported
        self.updated = updated
        self.removedSkipped = removedSkipped
    }

    package init(json: JSON) throws(JSONError) {
        imported = try json.requiredInt("imported")
        updated = try json.requiredInt("updated")
        removedSkipped = try json.strings("removedSkipped")
    }

    package func encode(into writer: inout JSONWriter) {
        writer.field("imported", imported)
        writer.field("updated", updated)
        writer.list("removedSkipped", removedSkipped)
    }
}
