// SPDX-License-Identifier: Apache-2.0

/// What people call the machine's networks: `Wi-Fi`, `Ethernet`, `Tailscale` (05 B3, B4, from the link table alone).
package struct ServiceNames: Sendable, Equatable {
    private var names: [String: String] = [:]

    /// Names every interface that is up and has an address. A second one of the same word gets its interface
    /// appended; the one that carries the default route keeps the plain word.
    package init(_ table: InterfaceTable) {
        var taken: Set<String> = []
        let candidates = table.interfaces.filter { $0.link.isUp && !$0.addresses.isEmpty }
        let ordered = candidates.sorted { left, right in
            let (leftRank, rightRank) = (Self.rank(left, table), Self.rank(right, table))
            return leftRank == rightRank ? left.name < right.name : leftRank < rightRank
        }
        for interface in ordered {
            guard let word = Self.word(for: interface) else { continue }
            names[interface.name] = taken.insert(word).inserted ? word : "\(word) (\(interface.name))"
        }
    }

    /// The service name of an interface; nil for an unnamed tunnel, and for what is no service.
    package subscript(interface: String) -> String? { names[interface] }

    private static func rank(_ interface: NetworkInterface, _ table: InterfaceTable) -> Int {
        if interface.index == table.primaryInterface { return 0 }
        return interface.link.isMainDefault ? 1 : 2
    }

    private static func word(for interface: NetworkInterface) -> String? {
        switch interface.kind {
        case .lan: interface.link.isWireless ? "Wi-Fi" : "Ethernet"
        case .uplink: interface.name.hasPrefix("ppp") ? "PPPoE" : "Mobile"
        case .tunnel: product(of: interface.link)
        case .loopback, .peerToPeer, .other, .ignored: nil
        }
    }

    private static func product(of link: LinkFacts) -> String? {
        let byName = [
            ("tailscale", "Tailscale"), ("wt", "NetBird"), ("zt", "ZeroTier"), ("nebula", "Nebula"),
        ]
        if let match = byName.first(where: { link.name.hasPrefix($0.0) }) { return match.1 }
        return switch link.infoKind {
        case "wireguard", "amneziawg": "WireGuard"
        case "ovpn", "ovpn-dco": "OpenVPN"
        default: nil
        }
    }
}
