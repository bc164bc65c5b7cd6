// SPDX-License-Identifier: Apache-2.0

package import Wire

/// What the home door's DNS-SD record says, and where (02 §7.3). The recognition tag is not part of it: whoever
/// registers the record makes a fresh one.
package struct Advertisement: Sendable, Hashable {
    /// Whose recognition tag it carries. The key that makes the tag is another with another identity.
    package let identity: Fingerprint
    /// The service's name: the host's, as one label of DNS.
    package let name: String
    /// The port the home door got.
    package let port: UInt16
    /// The record's `p`: 1 or 0.
    package let isPairingRequired: Bool
    /// The kernel's indexes of the interfaces it is announced on, ascending; never empty.
    package let interfaces: [UInt32]

    /// nil when there is nowhere to announce it.
    package init?(
        identity: Fingerprint, host name: String, port: UInt16, isPairingRequired: Bool, interfaces: [UInt32]
    ) {
        guard !interfaces.isEmpty else { return nil }
        self.identity = identity
        self.name = Self.label(name)
        self.port = port
        self.isPairingRequired = isPairingRequired
        self.interfaces = interfaces.sorted()
    }

    /// Whether nothing has to be registered where `other` is out already: `p` may differ, which is changed in place so
    /// that no device sees the record go, and interfaces may be missing. Anything else is another registration.
    package func isContained(in other: Advertisement) -> Bool {
        identity == other.identity && name == other.name && port == other.port
            && Set(interfaces).isSubset(of: other.interfaces)
    }

    /// The interfaces whose connections the home door admits as the host's own networks (03 §3.6): lan, and
    /// peer-to-peer Wi-Fi while it belongs to the door. Never loopback, a VPN, a modem, a container's bridge, or a bridge's
    /// member. A door that listens at one address is found where that address is.
    ///
    /// A cable that is pulled leaves an interface up: the record stays with it, and the responder speaks again when
    /// there is somebody to hear it.
    package static func interfaces(
        _ table: InterfaceTable, direct: Bool, listensAt address: IPAddress? = nil
    ) -> [UInt32] {
        table.interfaces.filter { interface in
            guard interface.link.isUp else { return false }
            if let address, !address.isUnspecified {
                let isHere =
                    address.scope == 0
                    ? table.owner(of: address)?.index == interface.index : address.scope == interface.index
                guard isHere else { return false }
            }
            return interface.kind == .lan || (direct && interface.kind == .peerToPeer)
        }.map(\.index).sorted()
    }

    /// A name as one DNS label: no control characters, at most 63 bytes of whole characters (RFC 6763 §4.1.1).
    package static func label(_ name: String) -> String {
        let cleaned = Label.clean(name)
        var cut = ""
        for character in cleaned {
            guard cut.utf8.count + character.utf8.count <= longestLabel else { break }
            cut.append(character)
        }
        // One character may be a base and any number of marks: then as many of these as fit.
        if cut.isEmpty {
            for scalar in cleaned.unicodeScalars {
                guard cut.utf8.count + UTF8.width(scalar) <= longestLabel else { break }
                cut.unicodeScalars.append(scalar)
            }
        }
        while cut.last == " " { cut.removeLast() }
        return cut
    }

    private static let longestLabel = 63
}

/// Whether the host is announced, as `GET /v1/status` says it (09.23).
package enum AdvertisingState: String, Sendable, Hashable, CaseIterable {
    /// The record is out.
    case on
    /// Nobody wants it.
    case off
    /// It is wanted and not out: no responder, no network, no door.
    case unavailable
}
