// SPDX-License-Identifier: Apache-2.0

import Policy
import Testing
import Wire

struct InterfaceKindPolicyTests {
    @Test(arguments: [
        ("lo", InterfaceKind.loopback), ("awdl0", .peerToPeer), ("llw0", .peerToPeer),
        ("p2p-wlan0-3", .peerToPeer), ("ipsec0", .tunnel), ("ppp0", .tunnel), ("tun0", .tunnel),
        ("wg1", .tunnel), ("tailscale0", .tunnel), ("zt5u4y", .tunnel), ("nebula1", .tunnel),
        ("wt0", .tunnel), ("utun4", .tunnel), ("feth1", .tunnel), ("tap0", .tunnel), ("wwan0", .uplink),
        ("rmnet_data0", .uplink), ("wwp0s20", .uplink), ("en0", .lan), ("eth0", .lan), ("enp3s0", .lan),
        ("wlan0", .lan), ("wlp2s0", .lan), ("usb0", .lan), ("br0", .lan), ("bond0", .lan), ("team0", .lan),
        ("anpi0", .lan), ("foo0", .other), ("wtx", .other), ("docker0", .other),
    ])
    func byNameAlone(_ name: String, _ kind: InterfaceKind) {
        #expect(InterfaceKindPolicy.kind(ofName: name) == kind)
    }

    struct Row: Sendable, CustomTestStringConvertible {
        var what: String
        var link: LinkFacts
        var own: [String] = []
        var kind: InterfaceKind
        var testDescription: String { what }
    }

    static let rows = [
        Row(
            what: "loopback flag", link: LinkFacts(index: 1, name: "x", isLoopback: true), kind: .loopback),
        Row(
            what: "ARPHRD_LOOPBACK", link: LinkFacts(index: 1, name: "x", hardwareType: 772),
            kind: .loopback),
        Row(what: "Wi-Fi Direct", link: LinkFacts(index: 1, name: "p2p-wlan0-0"), kind: .peerToPeer),
        Row(
            what: "bridge member", link: LinkFacts(index: 1, name: "tap0", infoKind: "tun", master: 9),
            kind: .ignored),
        Row(
            what: "Wi-Fi Direct in a bridge", link: LinkFacts(index: 1, name: "p2p-wlan0-0", master: 9),
            kind: .peerToPeer),
        Row(
            what: "modem in a bridge", link: LinkFacts(index: 1, name: "wwan0", master: 9, isModem: true),
            kind: .ignored),
        Row(
            what: "VRF member with an address",
            link: LinkFacts(index: 1, name: "eth1", master: 9, isPhysical: true), own: ["10.0.0.1"],
            kind: .lan),
        Row(
            what: "modem by uevent", link: LinkFacts(index: 1, name: "enx0", isPhysical: true, isModem: true),
            kind: .uplink),
        Row(what: "modem by name", link: LinkFacts(index: 1, name: "wwp0s20"), kind: .uplink),
        Row(
            what: "PPPoE with a public address",
            link: LinkFacts(
                index: 1, name: "ppp0", hardwareType: 512, isPointToPoint: true, infoKind: "ppp",
                isMainDefault: true), own: ["203.0.113.5"], kind: .uplink),
        Row(
            what: "PPPoE with a carrier address",
            link: LinkFacts(
                index: 1, name: "ppp0", hardwareType: 512, isPointToPoint: true, isMainDefault: true),
            own: ["100.64.3.1"], kind: .uplink),
        Row(
            what: "ppp with a public address that is not the way out",
            link: LinkFacts(index: 1, name: "ppp0", hardwareType: 512, isPointToPoint: true),
            own: ["203.0.113.5"], kind: .tunnel),
        Row(
            what: "ppp, link-local", link: LinkFacts(index: 1, name: "ppp0", isMainDefault: true),
            own: ["169.254.1.1"], kind: .tunnel),
        Row(
            what: "ppp VPN, private", link: LinkFacts(index: 1, name: "ppp0", isMainDefault: true),
            own: ["10.1.1.1"], kind: .tunnel),
        Row(
            what: "WireGuard called vpn", link: LinkFacts(index: 1, name: "vpn", infoKind: "wireguard"),
            kind: .tunnel),
        Row(
            what: "point-to-point flag",
            link: LinkFacts(index: 1, name: "x0", isPointToPoint: true), kind: .tunnel),
        Row(
            what: "dummy called wg9", link: LinkFacts(index: 1, name: "wg9", infoKind: "dummy"),
            kind: .tunnel),
        Row(what: "veth", link: LinkFacts(index: 1, name: "veth1", infoKind: "veth"), kind: .other),
        Row(
            what: "veth that is the way out",
            link: LinkFacts(index: 1, name: "eth0", infoKind: "veth", isMainDefault: true), kind: .lan),
        Row(
            what: "docker0", link: LinkFacts(index: 1, name: "docker0", infoKind: "bridge"), kind: .other),
        Row(what: "br-1234", link: LinkFacts(index: 1, name: "br-1234", infoKind: "bridge"), kind: .other),
        Row(what: "br0", link: LinkFacts(index: 1, name: "br0", infoKind: "bridge"), kind: .lan),
        Row(
            what: "bridge with a default route in another table",
            link: LinkFacts(
                index: 1, name: "virbr0", infoKind: "bridge", carriesIPv4DefaultInAnyTable: true), kind: .lan),
        Row(what: "bond", link: LinkFacts(index: 1, name: "b", infoKind: "bond"), kind: .lan),
        Row(what: "vlan", link: LinkFacts(index: 1, name: "enp3s0.10", infoKind: "vlan"), kind: .lan),
        Row(what: "card", link: LinkFacts(index: 1, name: "enp3s0", isPhysical: true), kind: .lan),
        Row(what: "something", link: LinkFacts(index: 1, name: "foo0"), kind: .other),
        Row(
            what: "not Ethernet", link: LinkFacts(index: 1, name: "ib0", hardwareType: 32, isPhysical: true),
            kind: .other),
    ]

    @Test(arguments: rows) func byTheKernel(_ row: Row) {
        let addresses = row.own.map { InterfaceAddress(ip: ip($0), prefixBits: 24) }
        #expect(InterfaceKindPolicy.kind(of: row.link, addresses: addresses) == row.kind)
    }
}
