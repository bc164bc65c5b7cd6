// The delegated admission call. SPDX-License-Identifier: Apache-2.0

package import Wire

/// The body of `POST /v1/admissions` (spec 03 section 6, 09.44).
package struct AdmissionRequest: APIObject {
    /// `home` or `remote`.
    package var door: String
    /// The device's address and port.
    package var remote: String
    /// The door's own address and port.
    package var local: String?
    /// The interface it came in on.
    package var interface: String?
    /// The ALPN that was negotiated; empty: none; nil: asked before TLS.
    package var alpn: String?
    /// The key's fingerprint; empty: no P-256 key; nil: asked before TLS.
    package var fingerprint: String?

    /// One connection to be judged.
    package init(
        door: String, remote: String, local: String? = nil, interface: String? = nil, alpn: String? = nil,
        fingerprint: String? = nil
    ) {
        self.door = door
        self.remote = remote
        self.local = local
        self.interface = interface
        self.alpn = alpn
        self.fingerprint = fingerprint
    }

    package init(json: JSON) throws(JSONError) {
        door = try json.requiredString("door")
        remote = try json.requiredString("remote")
        local = try json.optionalString("local")
        interface = try json.optionalString("interface")
        alpn = try json.optionalString("alpn")
        fingerprint = try json.optionalString("fingerprint")
    }

    package func encode(into writer: inout JSONWriter) {
        writer.field("door", door)
        writer.field("remote", remote)
        writer.field("local", ifPresent: local)
        writer.field("interface", ifPresent: interface)
        writer.field("alpn", ifPresent: alpn)
        writer.field("fingerprint", ifPresent: fingerprint)
    }
}

/// The answer to `POST /v1/admissions`.
package struct AdmissionReply: APIObject {
    /// `continue`, `session`, `pairing`, `goodbye` or `refuse`.
    package var decision: String
    /// `loopback`, `direct`, `lan`, `vpn` or `internet`.
    package var origin: String
    /// Whether the connection is proven to come over the cable.
    package var cable: Bool
    /// Why it is refused: `unpaired`, `vpn`, `internet`, `limit` or `direct`.
    package var reason: String?
    /// What to send, with decision `goodbye`.
    package var goodbye: GoodbyeItem?
    /// The paired device of the key.
    package var device: DeviceRef?
    /// How it comes, for people.
    package var route: String
    /// Whether it counts as away from home.
    package var away: Bool

    /// A decision.
    package init(
        decision: String, origin: String, cable: Bool, reason: String?, goodbye: GoodbyeItem?,
        device: DeviceRef?, route: String, away: Bool
    ) {
        self.decision = decision
        self.origin = origin
        self.cable = cable
        self.reason = reason
        self.goodbye = goodbye
        self.device = device
        self.route = route
        self.away = away
    }

    package init(json: JSON) throws(JSONError) {
        decision = try json.requiredString("decision")
        origin = try json.requiredString("origin")
        cable = try json.requiredBool("cable")
        reason = try json.optionalString("reason")
        goodbye = try json.optional("goodbye", GoodbyeItem.init(json:))
        device = try json.optional("device", DeviceRef.init(json:))
        route = try json.requiredString("route")
        away = try json.requiredBool("away")
    }

    package func encode(into writer: inout JSONWriter) {
        writer.field("decision", decision)
        writer.field("origin", origin)
        writer.field("cable", cable)
        writer.field("reason", ifPresent: reason)
        writer.object("goodbye", ifPresent: goodbye)
        writer.object("device", orNull: device)
        writer.field("route", route)
        writer.field("away", away)
    }
}
