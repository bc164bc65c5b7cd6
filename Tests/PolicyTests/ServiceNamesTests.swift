// SPDX-License-Identifier: Apache-2.0

import Policy
import Testing
import Wire

/// 05 B3, and B4's products.
struct ServiceNamesTests {
    static func table(_ links: [LinkFacts], primary: UInt32? = nil) -> InterfaceTable {
        InterfaceTable.make(
            links: links, addresses: links.map { AddressListTests.own($0.index, "10.0.\($0.index).1") },
            primary: primary)
    }

    @Test func interfacesInPlainWords() {
        let name = "wg1\u{1B}[5m\u{9B}\u{202E}"
        let links = [
            AddressListTests.link(2, "wg0", "wireguard"), AddressListTests.link(3, name, "wireguard"),
        ]
        #expect(ServiceNames(Self.table(links))[name] == "WireGuard (wg1[5m)")
        var vpn = VPNEvidence(product: .other, interface: name)
        vpn.label = "Router"
        #expect(ServiceNames.word(for: vpn) == "Router (wg1[5m)")
    }

    @Test func words() {
        let links = [
            AddressListTests.link(2, "enp3s0"), AddressListTests.link(3, "enp4s0"),
            AddressListTests.link(4, "wg0", "wireguard"), AddressListTests.link(5, "wg1", "wireguard"),
            AddressListTests.link(6, "wt0", "wireguard"), AddressListTests.link(7, "tun0", "tun"),
            LinkFacts(index: 8, name: "wwan0"), AddressListTests.link(9, "wlan0", wireless: true),
        ]
        let names = ServiceNames(Self.table(links, primary: 3))
        #expect(names["enp4s0"] == "Ethernet")
        #expect(names["enp3s0"] == "Ethernet (enp3s0)")
        #expect(names["wg0"] == "WireGuard")
        #expect(names["wg1"] == "WireGuard (wg1)")
        #expect(names["wt0"] == "NetBird")
        #expect(names["tun0"] == nil)
        #expect(names["wwan0"] == "Mobile")
        #expect(names["wlan0"] == "Wi-Fi")
    }

    @Test(
        arguments: [
            ("tailscale0", "tun", "Tailscale"), ("zt7nnig26", "tun", "ZeroTier"),
            ("nebula1", "tun", "Nebula"),
            ("wt0", "tun", "NetBird"), ("awg0", "amneziawg", "WireGuard"),
            ("office", "wireguard", "WireGuard"),
            ("vpn0", "ovpn", "OpenVPN"), ("vpn1", "ovpn-dco", "OpenVPN"), ("tap0", "tun", nil),
        ] as [(String, String, String?)])
    func products(_ name: String, _ kind: String, _ word: String?) {
        let link = LinkFacts(index: 3, name: name, hardwareType: 65534, infoKind: kind)
        #expect(ServiceNames(Self.table([link]))[name] == word)
    }

    @Test func aDialledLineIsNamedBeforeAnEthernetCard() {
        var link = LinkFacts(index: 3, name: "ppp0", hardwareType: 512, isPointToPoint: true)
        link.isMainDefault = true
        let table = InterfaceTable.make(
            links: [link], addresses: [AddressListTests.own(3, "11.0.0.7")], primary: 3)
        #expect(ServiceNames(table)["ppp0"] == "PPPoE")
    }

    /// The plain word is that of the primary one, else the main default's, else the first by name.
    @Test(arguments: [
        (UInt32?.some(4), UInt32?.some(3), "eth2"), (nil, 3, "eth1"), (9, 3, "eth1"), (nil, nil, "eth0"),
    ])
    func thePlainWord(_ primary: UInt32?, _ mainDefault: UInt32?, _ want: String) {
        var links = [
            AddressListTests.link(4, "eth2"), AddressListTests.link(3, "eth1"),
            AddressListTests.link(2, "eth0"),
        ]
        for index in links.indices { links[index].isMainDefault = links[index].index == mainDefault }
        let names = ServiceNames(Self.table(links, primary: primary))
        for name in ["eth0", "eth1", "eth2"] {
            #expect(names[name] == (name == want ? "Ethernet" : "Ethernet (\(name))"))
        }
    }

    @Test func whatIsDownOrHasNoAddressIsNoService() {
        var down = AddressListTests.link(2, "eth0")
        down.isUp = false
        let table = InterfaceTable.make(
            links: [down, AddressListTests.link(3, "eth1"), AddressListTests.link(4, "eth2")],
            addresses: [AddressListTests.own(2, "10.0.2.1"), AddressListTests.own(4, "10.0.4.1")], primary: 2)
        let names = ServiceNames(table)
        #expect(names["eth0"] == nil && names["eth1"] == nil)
        #expect(names["eth2"] == "Ethernet")
    }

    @Test func whatDaemonsAndProfilesAdd() {
        let table = Self.table(
            [
                AddressListTests.link(2, "eth0"), AddressListTests.link(3, "tun0", "tun"),
                AddressListTests.link(4, "wg0", "wireguard"), AddressListTests.link(5, "wg1", "wireguard"),
            ], primary: 2)
        func vpn(_ interface: String, _ product: VPNProduct, _ label: String? = nil) -> VPNEvidence {
            var vpn = VPNEvidence(product: product, interface: interface)
            vpn.label = label
            return vpn
        }
        let names = ServiceNames(
            table,
            vpns: [
                vpn("tun0", .openVPN, "office"), vpn("tun0", .nebula), vpn("eth0", .openVPN, "home"),
                // Nobody names it, so the link does.
                vpn("wg0", .other), vpn("wg1", .other, "Work"), VPNEvidence(product: .zeroTier),
            ])
        #expect(names["wg1"] == "Work")
        #expect(names["tun0"] == "OpenVPN (office)" && names["wg0"] == "WireGuard")
        #expect(names["eth0"] == "Ethernet")
    }

    @Test(
        arguments: [
            (VPNProduct.openVPN, "office", "OpenVPN (office)"), (.openVPN, nil, "OpenVPN"),
            (.openVPN, " \u{200B}\n", "OpenVPN"), (.wireGuard, "a\nb", "WireGuard (a b)"),
            (.other, "Work", "Work"), (.other, nil, nil), (.other, " ", nil),
            (.other, "Router", "Router (tun3)"),
            (.other, "Address name", "Address name (tun3)"), (.other, "IPv6", "IPv6 (tun3)"),
            (.other, "This Mac", "This Mac (tun3)"), (.other, "VPN (tun0)", "VPN (tun0) (tun3)"),
            (.other, "VPN home", "VPN home"), (.openVPN, "Router", "OpenVPN (Router)"),
            // 64 characters in all.
            (
                .openVPN, String(repeating: "a", count: 70),
                "OpenVPN (\(String(repeating: "a", count: 54)))"
            ),
        ] as [(VPNProduct, String?, String?)])
    func wordsOfVPNs(_ product: VPNProduct, _ label: String?, _ word: String?) {
        var vpn = VPNEvidence(product: product)
        vpn.label = label
        vpn.interface = "tun3"
        #expect(ServiceNames.word(for: vpn) == word)
    }
}
