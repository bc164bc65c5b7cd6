// SPDX-License-Identifier: Apache-2.0

import Policy
import Testing
import Wire

/// 05 A3, with 05 B2's kinds and B3's names.
struct AddressListTests {
    static func link(_ index: UInt32, _ name: String, _ kind: String? = nil, wireless: Bool = false)
        -> LinkFacts
    {
        let isTunnel = kind == "wireguard" || kind == "tun"
        return LinkFacts(
            index: index, name: name, hardwareType: isTunnel ? 65534 : 1, infoKind: kind,
            isPhysical: !isTunnel, isWireless: wireless)
    }

    static func own(
        _ index: UInt32, _ text: String, temporary: Bool = false, deprecated: Bool = false
    ) -> (UInt32, InterfaceAddress) {
        (
            index,
            InterfaceAddress(
                ip: ip(text), prefixBits: text.contains(":") ? 64 : 24, isTemporary: temporary,
                isDeprecated: deprecated)
        )
    }

    func list(
        _ table: InterfaceTable, internet: Bool = false, name: String? = nil, router: String? = nil,
        magicDNS: [String: String] = [:]
    ) -> [String] {
        AddressList.make(
            AddressList.Inputs(
                table: table, names: ServiceNames(table), internet: internet, addressName: name,
                routerIPv4: router.map { ip($0) }, magicDNS: magicDNS)
        ).map { "\($0.host)\($0.port.map { ":\($0)" } ?? "")/\($0.kind)/\($0.via)" }
    }

    static let base = InterfaceTable.make(
        links: [
            LinkFacts(index: 1, name: "lo", isLoopback: true), link(2, "wlp2s0", wireless: true),
            link(4, "tailscale0", "tun"),
        ],
        addresses: [
            own(1, "127.0.0.1"), own(2, "10.128.0.34"), own(2, "fe80::5"),
            own(2, "fd00::7", deprecated: true),
            own(4, "100.88.123.45"), own(4, "fd7a:115c:a1e0::abcd:ef01"), own(4, "fe80::6"),
        ], primary: 2)

    static let baseList = [
        "100.88.123.45/vpn/Tailscale", "fd7a:115c:a1e0::abcd:ef01/vpn/Tailscale", "10.128.0.34/lan/Wi-Fi",
    ]

    @Test func base() { #expect(list(Self.base) == Self.baseList) }

    @Test func aMagicDNSNameComesFirst() {
        let name = "lab-macbook-pro.tail5678.ts.net"
        #expect(
            list(Self.base, magicDNS: ["tailscale0": name]) == ["\(name)/vpn/Tailscale"] + Self.baseList)
    }

    @Test func thePrimaryLANAlone() {
        let table = InterfaceTable.make(
            links: Self.base.interfaces.map(\.link) + [Self.link(7, "enp3s0")],
            addresses: Self.base.interfaces.flatMap { one in one.addresses.map { (one.index, $0) } } + [
                Self.own(7, "192.168.1.30")
            ], primary: 7)
        #expect(list(table).last == "192.168.1.30/lan/Ethernet")
        #expect(list(table).count == 3)
    }

    static let wifi = InterfaceTable.make(
        links: [link(2, "wlan0", wireless: true)],
        addresses: [
            own(2, "192.168.1.20"), own(2, "2001:db8::aa", temporary: true),
            own(2, "2001:db8::bb", deprecated: true), own(2, "2001:db8::20"), own(2, "fd4e::20"),
        ], primary: 2)

    @Test func noInternetNoGlobalAddress() {
        #expect(list(Self.wifi, name: "home.example.net:17455") == ["192.168.1.20/lan/Wi-Fi"])
    }

    @Test func internet() {
        #expect(
            list(Self.wifi, internet: true, name: "home.example.net:17455", router: "203.0.113.9") == [
                "192.168.1.20/lan/Wi-Fi", "home.example.net:17455/internet/Address name",
                "203.0.113.9/internet/Router", "2001:db8::20/internet/IPv6",
            ])
    }

    /// Whatever sorts first: one that stays, or none.
    @Test(arguments: [(["2001:db8::ff"], ["2001:db8::ff/internet/IPv6"]), ([], [])])
    func onlyAStableGlobalAddress(_ stable: [String], _ told: [String]) {
        let table = InterfaceTable.make(
            links: [Self.link(2, "wlan0")],
            addresses: [
                Self.own(2, "2001:db8::aa", temporary: true), Self.own(2, "2001:db8::bb", deprecated: true),
                Self.own(2, "fd4e::20"),
            ] + stable.map { Self.own(2, $0) }, primary: 2)
        #expect(list(table, internet: true) == told)
    }

    @Test func aNameInAnotherLetterCaseIsTheSame() {
        let told = list(
            Self.base, internet: true, name: "HOST.ts.net", magicDNS: ["tailscale0": "host.ts.net"])
        #expect(told == ["host.ts.net/vpn/Tailscale"] + Self.baseList)
    }

    @Test func anUnnamedTunnelShowsItsIPv4() {
        let table = InterfaceTable.make(
            links: [Self.link(3, "tun0", "tun")],
            addresses: [Self.own(3, "10.8.0.2"), Self.own(3, "fd00::8")], primary: nil)
        #expect(list(table) == ["10.8.0.2/vpn/VPN (tun0)"])
    }

    @Test func carrierAddressesOnlyOnTunnels() {
        let table = InterfaceTable.make(
            links: [Self.link(2, "eth0"), Self.link(3, "wg0", "wireguard")],
            addresses: [
                Self.own(2, "100.64.1.1"), Self.own(2, "169.254.1.1"), Self.own(3, "100.100.1.1"),
            ], primary: 2)
        #expect(list(table) == ["100.100.1.1/vpn/WireGuard"])
    }

    @Test func twelveAtMostAndNoneTwice() {
        let many = (1...20).map { Self.own(3, "10.9.0.\($0)") }
        let table = InterfaceTable.make(
            links: [Self.link(2, "eth0"), Self.link(3, "wg0", "wireguard")],
            addresses: many + [Self.own(2, "192.168.1.2"), Self.own(3, "10.9.0.1")], primary: 2)
        #expect(list(table).count == 12)
        #expect(Set(list(table)).count == 12)
        #expect(!list(table).contains { $0.contains("/lan/") })
    }

    @Test func namesOfServices() {
        let table = InterfaceTable.make(
            links: [
                Self.link(2, "enp3s0"), Self.link(3, "enp4s0"), Self.link(4, "wg0", "wireguard"),
                Self.link(5, "wg1", "wireguard"), Self.link(6, "wt0", "wireguard"),
                Self.link(7, "tun0", "tun"),
                LinkFacts(index: 8, name: "wwan0"),
            ],
            addresses: (2...8).map { Self.own(UInt32($0), "10.0.\($0).1") }, primary: 3)
        let names = ServiceNames(table)
        #expect(names["enp4s0"] == "Ethernet")
        #expect(names["enp3s0"] == "Ethernet (enp3s0)")
        #expect(names["wg0"] == "WireGuard")
        #expect(names["wg1"] == "WireGuard (wg1)")
        #expect(names["wt0"] == "NetBird")
        #expect(names["tun0"] == nil)
        #expect(names["wwan0"] == "Mobile")
    }
}
