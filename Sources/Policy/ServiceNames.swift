// SPDX-License-Identifier: Apache-2.0

internal import Wire

/// What people call the machine's networks: `Wi-Fi`, `Ethernet`, `Tailscale` (05 B3, B4, from the link table alone).
package struct ServiceNames: Sendable, Equatable {
    private var names: [String: String] = [:]

    /// Names every interface that is up and has an address. A second one of the same word gets its interface
    /// appended; the one that carries the default route keeps the plain word. `vpns` are what daemons, units and
    /// profiles added about tunnels; without them the link table speaks alone.
    package init(_ table: InterfaceTable, vpns: [VPNEvidence] = []) {
        let known = Dictionary(
            vpns.compactMap { vpn in vpn.interface.map { ($0, Self.word(for: vpn)) } },
            uniquingKeysWith: { first, _ in first })
        var taken: Set<String> = []
        let candidates = table.interfaces.filter { $0.link.isUp && !$0.addresses.isEmpty }
        let ordered = candidates.sorted { left, right in
            let (leftRank, rightRank) = (Self.rank(left, table), Self.rank(right, table))
            return leftRank == rightRank ? left.name < right.name : leftRank < rightRank
        }
        for interface in ordered {
            let own = interface.kind == .tunnel ? known[interface.name] ?? nil : nil
            guard let word = own ?? Self.word(for: interface) else { continue }
            names[interface.name] =
                taken.insert(word).inserted ? word : "\(word) (\(Label.clean(interface.name)))"
        }
    }

    /// The service name of an interface; nil for an unnamed tunnel, and for what is no service.
    package subscript(interface: String) -> String? { names[interface] }

    /// What a VPN is called by its product and its own label: `OpenVPN (office)`; nil for a tunnel nobody names.
    package static func word(for vpn: VPNEvidence) -> String? {
        // The whole name is at most 64 characters (05 B3).
        let room = vpn.product == .other ? 64 : 64 - vpn.product.rawValue.count - " ()".count
        let label = vpn.label.map { Label.clean($0, limit: room) }.flatMap { $0.isEmpty ? nil : $0 }
        if vpn.product == .other { return label.map { unreserved($0, at: vpn.interface) } }
        return label.map { "\(vpn.product.rawValue) (\($0))" } ?? vpn.product.rawValue
    }

    /// Names that devices would read as another kind of entry get their interface's after them (05 B3).
    private static func unreserved(_ name: String, at interface: String?) -> String {
        let reserved = ["Router", "Address name", "IPv6", "This Mac"]
        return reserved.contains(name) || name.hasPrefix("VPN (")
            ? "\(name) (\(Label.clean(interface ?? "VPN")))" : name
    }

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
