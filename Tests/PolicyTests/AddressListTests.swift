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

    @Test func anInterfaceIsNamedInPlainWords() {
        let name = "tun\u{1B}[5m\u{9B}\u{202E}"
        let table = InterfaceTable.make(
            links: [Self.link(3, name, "tun")], addresses: [Self.own(3, "10.8.0.2")], primary: nil)
        #expect(list(table) == ["10.8.0.2/vpn/VPN (tun[5m)"])
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

    // MARK: - The order of 05 A3

    @Test func stepsComeOneAfterTheOther() {
        var down = Self.link(9, "wg9", "wireguard")
        down.isUp = false
        let table = InterfaceTable.make(
            links: [
                Self.link(2, "eth0"), Self.link(3, "zt1", "tun"), Self.link(4, "wg0", "wireguard"),
                Self.link(5, "tun1", "tun"), Self.link(6, "tun0", "tun"), Self.link(7, "wg7", "wireguard"),
                down,
            ],
            addresses: [
                Self.own(2, "192.168.1.2"), Self.own(2, "192.168.1.3"), Self.own(3, "10.3.0.1"),
                Self.own(3, "fd03::1"), Self.own(4, "10.4.0.1"), Self.own(4, "fd04::1"),
                Self.own(5, "10.5.0.1"), Self.own(5, "fd05::1"), Self.own(6, "10.6.0.1"),
                Self.own(9, "10.9.0.1"),
            ], primary: 2)
        var inputs = AddressList.Inputs(table: table, names: ServiceNames(table), internet: false)
        inputs.magicDNS = ["zt1": "z.example.net", "wg0": "w.example.net"]
        inputs.userspace = [
            AddressList.UserspaceVPN(
                name: "Tailscale", dnsName: "t.ts.net",
                addresses: ["fe80::7", "fd07::1", "100.70.0.1"].map { ip($0) })
        ]
        #expect(
            AddressList.make(inputs).map { "\($0.host) \($0.via)" } == [
                "w.example.net WireGuard", "z.example.net ZeroTier", "t.ts.net Tailscale",
                "10.4.0.1 WireGuard", "10.3.0.1 ZeroTier", "100.70.0.1 Tailscale", "10.6.0.1 VPN (tun0)",
                "10.5.0.1 VPN (tun1)", "fd04::1 WireGuard", "fd03::1 ZeroTier", "fd07::1 Tailscale",
                "192.168.1.2 Ethernet",
            ])
        inputs.closed = ["wg0", "tun1"]
        inputs.userspace = []
        #expect(
            AddressList.make(inputs).map(\.host) == [
                "z.example.net", "10.3.0.1", "10.6.0.1", "fd03::1", "192.168.1.2",
            ])
    }

    /// Which of the home networks stands for them all.
    @Test(arguments: [
        (UInt32?.some(3), UInt32?.none, "192.168.3.1"), (4, 2, "192.168.2.1"), (nil, 2, "192.168.2.1"),
        (nil, nil, "192.168.3.1"), (3, 2, "192.168.3.1"), (5, nil, "192.168.3.1"),
    ])
    func thePrimaryLAN(_ primary: UInt32?, _ mainDefault: UInt32?, _ want: String) {
        var links = [
            Self.link(2, "eth2"), Self.link(3, "eth1"), Self.link(4, "wg0", "wireguard"),
            Self.link(5, "eth0"),
        ]
        for index in links.indices { links[index].isMainDefault = links[index].index == mainDefault }
        let table = InterfaceTable.make(
            links: links,
            addresses: [
                Self.own(2, "192.168.2.1"), Self.own(3, "192.168.3.1"), Self.own(4, "10.4.0.1"),
                // It has none that is usable.
                Self.own(5, "169.254.5.1"), Self.own(5, "fd05::1"),
            ], primary: primary)
        #expect(AddressList.lanAddress(table) == ip(want))
        #expect(list(table).last?.hasPrefix(want) == true)
    }

    @Test(arguments: ["127.0.0.5", "169.254.1.1", "0.0.0.0", "100.64.0.1", "fd00::1"])
    func noAddressToDial(_ text: String) {
        let table = InterfaceTable.make(
            links: [Self.link(2, "eth0")], addresses: [Self.own(2, text)], primary: 2)
        #expect(list(table) == [] && AddressList.lanAddress(table) == nil)
        #expect(AddressList.hasCarrierLAN(table) == (text == "100.64.0.1"))
    }

    @Test func aModemIsANetworkOfTheHost() {
        let table = InterfaceTable.make(
            links: [LinkFacts(index: 8, name: "wwan0")], addresses: [Self.own(8, "10.77.0.1")], primary: 8)
        #expect(list(table) == ["10.77.0.1/lan/Mobile"])
    }

    @Test func theSameHostAtAnotherPortIsAnother() {
        let told = list(Self.wifi, internet: true, name: "192.168.1.20:17455")
        #expect(told.prefix(2) == ["192.168.1.20/lan/Wi-Fi", "192.168.1.20:17455/internet/Address name"])
    }

    /// 05 B2: a 6in4 tunnel never becomes a VPN entry, whatever addresses it has.
    @Test func aSixInFourTunnelIsNoVPN() {
        let table = InterfaceTable.make(
            links: [
                LinkFacts(index: 3, name: "he6", hardwareType: 776, infoKind: "sit"), Self.link(2, "eth0"),
            ],
            addresses: [Self.own(3, "10.64.0.2"), Self.own(2, "192.168.1.5")], primary: 2)
        #expect(list(table) == ["192.168.1.5/lan/Ethernet"])
    }

    /// 01 §6.2: the host's own port is not repeated, and makes no second entry of the same place.
    @Test func theRemotePortIsNotRepeated() {
        var inputs = AddressList.Inputs(
            table: Self.base, names: ServiceNames(Self.base), internet: true,
            addressName: "100.88.123.45:7455")
        inputs.remotePort = 7455
        #expect(AddressList.make(inputs).map(\.host).filter { $0 == "100.88.123.45" }.count == 1)
        inputs.addressName = "home.example.net:7455"
        #expect(AddressList.make(inputs).last { $0.via == "Address name" }?.port == nil)
        inputs.addressName = "home.example.net:17455"
        #expect(AddressList.make(inputs).last { $0.via == "Address name" }?.port == 17455)
    }

    // MARK: - The one global IPv6

    /// With one mark each, from the one that stays longest to the ones that are none.
    @Test func theSteadiestGlobalAddress() {
        func address(_ text: String, _ change: (inout InterfaceAddress) -> Void = { _ in })
            -> (UInt32, InterfaceAddress)
        {
            var address = InterfaceAddress(ip: ip(text), prefixBits: 64)
            change(&address)
            return (2, address)
        }
        var left = [
            address("2001:db8::f0") { $0.isPermanent = true },
            address("2001:db8::e0") { $0.prefixBits = 128 },
            address("2001:db8::b0"), address("2001:db8::c0"),
            address("2001:db8::d0") { $0.isStablePrivacy = true },
            address("2001:db8::1") { $0.isTemporary = true },
            address("2001:db8::2") { $0.isDeprecated = true },
            address("2001:db8::3") { $0.isTentative = true }, address("2001:db8::4") { $0.isFailed = true },
            address("4000::1"), address("1fff::1"), address("fd00::1"), address("fe80::1"), address("::1"),
        ]
        for want in ["f0", "e0", "b0", "c0", "d0"] {
            let table = InterfaceTable.make(
                links: [Self.link(2, "eth0")], addresses: left.reversed(), primary: 2)
            #expect(AddressList.stableGlobalIPv6(table) == ip("2001:db8::\(want)"))
            left.removeFirst()
        }
        let table = InterfaceTable.make(links: [Self.link(2, "eth0")], addresses: left, primary: 2)
        #expect(AddressList.stableGlobalIPv6(table) == nil && AddressList.hasGlobalIPv6(table))
        let unmarked = left.filter { $0.1.ip.bytes[0] != 0x20 }
        let local = InterfaceTable.make(links: [Self.link(2, "eth0")], addresses: unmarked, primary: 2)
        #expect(!AddressList.hasGlobalIPv6(local))
    }

    /// The primary network's, else the first by name, else a 6in4 tunnel's.
    @Test func whoseGlobalAddress() {
        var links = [
            LinkFacts(index: 5, name: "a6in4", hardwareType: 776, infoKind: "sit"), Self.link(3, "eth1"),
            Self.link(2, "eth0"), Self.link(4, "tun0", "tun"),
        ]
        let addresses = [5, 3, 2, 4].map { Self.own($0, "2001:db8:\($0)::1") }
        func told(_ primary: UInt32?) -> IPAddress? {
            AddressList.stableGlobalIPv6(
                InterfaceTable.make(links: links, addresses: addresses, primary: primary))
        }
        #expect(told(3) == ip("2001:db8:3::1"))
        #expect(told(4) == ip("2001:db8:2::1") && told(nil) == ip("2001:db8:2::1"))
        links[1].isUp = false
        links[2].isUp = false
        #expect(told(3) == ip("2001:db8:5::1"))
        links[0].isUp = false
        #expect(told(3) == nil)
    }
}
