// SPDX-License-Identifier: Apache-2.0

internal import Wire

/// What an interface is (05 B2, 03 §3.2). One function for the address list and for origins, so that what is
/// listed as a VPN and what counts as arriving through one never disagree.
package enum InterfaceKindPolicy {
    /// The kind of a link the kernel described; first match wins:
    ///
    /// 1. loopback flag or `ARPHRD_LOOPBACK`: loopback
    /// 2. `p2p-`, `awdl`, `llw`: peerToPeer
    /// 3. has a master and no address of its own: ignored (with one it is a VRF member and goes on)
    /// 4. a modem; PPPoE that is the main default with a public or carrier address: uplink
    /// 5. a tunnel's kernel kind, then name, then the point-to-point flag: tunnel
    /// 6. virtual links and container bridges: other, unless an IPv4 default route leads over them
    /// 7. Ethernet that is physical, a bond, team, vlan or bridge, or the main default: lan
    /// 8. else: other
    package static func kind(of link: LinkFacts, addresses: [InterfaceAddress]) -> InterfaceKind {
        if link.isLoopback || link.hardwareType == hardwareLoopback { return .loopback }
        if begins(link.name, with: peerToPeerNames) { return .peerToPeer }
        if link.master != nil && addresses.isEmpty { return .ignored }
        if link.isModem || begins(link.name, with: modemNames) { return .uplink }
        if link.name.hasPrefix("ppp") && link.isMainDefault
            && addresses.contains(where: { isPublicOrCarrier($0.ip) })
        {
            return .uplink
        }
        if let kind = link.infoKind, tunnelKinds.contains(kind) { return .tunnel }
        if hasTunnelName(link.name) || link.isPointToPoint { return .tunnel }
        if isHidden(link) && !link.isMainDefault && !link.carriesIPv4DefaultInAnyTable { return .other }
        let isNetwork =
            link.isPhysical || link.isMainDefault || networkKinds.contains(link.infoKind ?? "")
        return link.hardwareType == hardwareEthernet && isNetwork ? .lan : .other
    }

    /// The kind by name alone, for an interface that is not in the table (03 §3.2, last paragraph).
    package static func kind(ofName name: String) -> InterfaceKind {
        if name.hasPrefix("lo") { return .loopback }
        if begins(name, with: peerToPeerNames) { return .peerToPeer }
        if begins(name, with: modemNames) { return .uplink }
        if hasTunnelName(name) || begins(name, with: ["feth"]) { return .tunnel }
        return begins(name, with: networkNames) ? .lan : .other
    }

    private static let hardwareEthernet: UInt16 = 1
    private static let hardwareLoopback: UInt16 = 772
    private static let peerToPeerNames = ["p2p-", "awdl", "llw"]
    private static let modemNames = ["wwan", "wwp", "rmnet"]
    private static let tunnelNames = [
        "tailscale", "zt", "nebula", "wg", "tun", "tap", "ppp", "ipsec", "utun",
    ]
    private static let networkNames = ["en", "eth", "wl", "usb", "br", "bond", "team", "anpi", "anri"]
    private static let tunnelKinds: Set<String> = [
        "wireguard", "amneziawg", "tun", "ovpn", "ovpn-dco", "ppp", "gre", "gretap", "ip6gre", "ip6gretap",
        "ipip", "sit", "ip6tnl", "vti", "vti6", "xfrm",
    ]
    private static let hiddenKinds: Set<String> = [
        "veth", "dummy", "ifb", "vxlan", "geneve", "macvlan", "ipvlan", "nlmon",
    ]
    private static let hiddenBridges = [
        "docker", "br-", "virbr", "lxcbr", "lxdbr", "incusbr", "cni", "podman",
    ]
    private static let networkKinds: Set<String> = ["bond", "team", "vlan", "bridge"]

    private static func begins(_ name: String, with prefixes: [String]) -> Bool {
        prefixes.contains { name.hasPrefix($0) }
    }

    private static func hasTunnelName(_ name: String) -> Bool {
        if begins(name, with: tunnelNames) { return true }
        guard name.hasPrefix("wt") else { return false }
        return name.utf8.dropFirst(2).first.map { (48...57).contains($0) } ?? false
    }

    private static func isHidden(_ link: LinkFacts) -> Bool {
        guard let kind = link.infoKind else { return false }
        return hiddenKinds.contains(kind) || (kind == "bridge" && begins(link.name, with: hiddenBridges))
    }

    private static func isPublicOrCarrier(_ ip: IPAddress) -> Bool {
        !ip.isPrivate && !ip.isLinkLocal && !ip.isLoopback
    }
}
