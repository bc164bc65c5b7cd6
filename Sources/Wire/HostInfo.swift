// SPDX-License-Identifier: Apache-2.0

/// What a host says about itself, inside kind 18 (file 01 §6.2, "MacInfo"). Nothing in it is secret.
package struct HostInfo: Equatable, Sendable {
    /// `v`, 1; nobody reads it.
    package var version = 1
    /// The host's ID; a receiver checks it against the signer's key.
    package var macID: String
    /// The host's name after the label rule, never empty.
    package var name: String
    /// Seconds since 1970 at signing. A device takes only a greater one than it stored.
    package var issuedAt: Double
    /// Whether the remote door serves paired devices.
    package var remoteAccess: Bool
    /// The configured remote port, also while remote access is off (file 09, rule 1).
    package var remotePort: Int
    /// Whether internet sources are admitted.
    package var internet: Bool
    /// Where to dial, in that order; empty means "nothing to say".
    package var addresses: [HostAddress]

    /// What a host says.
    package init(
        macID: String, name: String, issuedAt: Double, remoteAccess: Bool, remotePort: Int, internet: Bool,
        addresses: [HostAddress]
    ) {
        self.macID = macID
        self.name = name
        self.issuedAt = issuedAt
        self.remoteAccess = remoteAccess
        self.remotePort = remotePort
        self.internet = internet
        self.addresses = addresses
    }

    /// Reads the bytes that were signed; throws when they are no such object.
    package init(payload: [UInt8]) throws(JSONError) {
        let json = try JSON.parse(payload)
        version = try json.requiredInt("v")
        macID = try json.requiredString("macID")
        name = try json.requiredString("name")
        issuedAt = try json.requiredDouble("issuedAt")
        remoteAccess = try json.requiredBool("remoteAccess")
        remotePort = try json.requiredInt("remotePort")
        internet = try json.requiredBool("internet")
        addresses = []
        for (index, item) in try json.requiredArray("addresses").enumerated() {
            do {
                addresses.append(try HostAddress(json: item))
            } catch {
                throw error.inside("addresses[\(index)]")
            }
        }
    }

    /// The bytes to sign.
    package func encode() -> [UInt8] {
        var writer = JSONWriter(capacity: 512)
        writer.object { writer in
            writer.field("v", version)
            writer.field("macID", macID)
            writer.field("name", name)
            writer.field("issuedAt", issuedAt)
            writer.field("remoteAccess", remoteAccess)
            writer.field("remotePort", remotePort)
            writer.field("internet", internet)
            writer.array("addresses") { writer in
                for address in addresses { writer.object { address.write(to: &$0) } }
            }
        }
        return writer.bytes
    }
}

/// One place to dial a host at (file 01 §6.2, "MacAddress").
package struct HostAddress: Hashable, Sendable {
    /// A name, an IPv4 address, or an IPv6 address without brackets and zone.
    package var host: String
    /// Only when it differs from the host's remote port.
    package var port: Int?
    /// `vpn`, `lan` or `internet`; a reader skips others.
    package var kind: String
    /// Where the address comes from, for people: `Tailscale`, `Router`.
    package var via: String

    /// One place to dial.
    package init(host: String, port: Int? = nil, kind: String, via: String) {
        self.host = host
        self.port = port
        self.kind = kind
        self.via = via
    }

    /// Reads one element of `addresses`.
    package init(json: JSON) throws(JSONError) {
        host = try json.requiredString("host")
        port = try json.optionalInt("port")
        kind = try json.requiredString("kind")
        via = try json.requiredString("via")
    }

    /// Writes the fields into an object that is open; the local API shows the same ones.
    package func write(to writer: inout JSONWriter) {
        writer.field("host", host)
        writer.field("port", ifPresent: port)
        writer.field("kind", kind)
        writer.field("via", via)
    }
}
