// SPDX-License-Identifier: Apache-2.0

/// Kind 22: why a session is about to be closed (file 01 §7).
package struct Goodbye: Hashable, Sendable {
    /// The word that devices act on, compared exactly. A later host may use others.
    package var reason: String
    /// Words to show, for the reasons that devices have no words for.
    package var message: String?
    /// With `update`: the oldest device version served, in shown form.
    package var minimumVersion: String?
    /// Whether the device comes back by itself; counts for `update` and unknown reasons only.
    package var reconnect: Bool?

    /// A goodbye.
    package init(
        reason: String, message: String? = nil, minimumVersion: String? = nil, reconnect: Bool? = nil
    ) {
        self.reason = reason
        self.message = message
        self.minimumVersion = minimumVersion
        self.reconnect = reconnect
    }

    /// The key was taken off the trust list.
    package static let removed = Goodbye(reason: "removed")
    /// Remote access is off.
    package static let remoteOff = Goodbye(reason: "remoteOff")
    /// Internet access is off, and the session came from there.
    package static let internetOff = Goodbye(reason: "internetOff")
    /// The host shuts down.
    package static let quit = Goodbye(reason: "quit")
    /// There are as many remote sessions as may be.
    package static let busy = Goodbye(reason: "busy")
    /// Pairing is required now, and this device is not paired.
    package static let pairingRequired = Goodbye(reason: "pairingRequired")

    /// The device is older than the host's floor.
    package static func update(minimum: Version, message: String) -> Goodbye {
        Goodbye(reason: "update", message: message, minimumVersion: minimum.shown, reconnect: false)
    }

    /// Nothing behind this service streams now (file 09, rule 9).
    package static func noHost(_ message: String) -> Goodbye {
        Goodbye(reason: "noHost", message: message, reconnect: true)
    }

    /// Somebody ended this session on purpose (file 03 §11.1).
    package static func ended(_ message: String?) -> Goodbye {
        Goodbye(reason: "ended", message: message, reconnect: false)
    }

    /// Reads a payload. Throws when it is no goodbye, which a device handles as an unknown reason without message.
    package init(payload: [UInt8]) throws(JSONError) {
        let json = try JSON.parse(payload)
        reason = try json.requiredString("reason")
        message = try json.optionalString("message")
        minimumVersion = try json.optionalString("minimumVersion")
        reconnect = try json.optionalBool("reconnect")
    }

    /// The payload. Absent fields are left out, so the simple ones are exactly `{"reason":"quit"}`.
    package func encode() -> [UInt8] {
        var writer = JSONWriter()
        writer.object { write(to: &$0) }
        return writer.bytes
    }

    /// Writes the fields into an object that is open; events and reports show the same ones.
    package func write(to writer: inout JSONWriter) {
        writer.field("reason", reason)
        writer.field("message", ifPresent: message)
        writer.field("minimumVersion", ifPresent: minimumVersion)
        writer.field("reconnect", ifPresent: reconnect)
    }
}
