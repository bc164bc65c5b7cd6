// SPDX-License-Identifier: Apache-2.0

import Policy
import Testing
import Wire

/// What the home door's record says, and on which interfaces (02 §7.3, 03 §3.6, 05 B2).
struct AdvertisementTests {
    /// One link among others, judged by 05 B2 as the service does.
    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let link: LinkFacts
        var address = "192.168.7.20"
        /// While Direct is off, and while it is on.
        let isShown: (off: Bool, on: Bool)

        init(_ words: String, _ link: LinkFacts, _ off: Bool, _ on: Bool? = nil, address: String = "10.1.2.3")
        {
            testDescription = words
            self.link = link
            self.address = address
            isShown = (off, on ?? off)
        }
    }

    static func link(
        _ name: String, _ kind: String? = nil, type: UInt16 = 1, physical: Bool = false, up: Bool = true,
        running: Bool = true, master: UInt32? = nil, mainDefault: Bool = false, modem: Bool = false,
        pointToPoint: Bool = false
    ) -> LinkFacts {
        LinkFacts(
            index: 7, name: name, hardwareType: type, isLoopback: type == 772, isPointToPoint: pointToPoint,
            isUp: up, isRunning: running, infoKind: kind, master: master, isPhysical: physical,
            isModem: modem, isMainDefault: mainDefault)
    }

    static let rows = [
        Row("an Ethernet card", link("enp3s0", physical: true), true),
        Row("a card that is down", link("enp3s0", physical: true, up: false), false),
        Row("a card whose cable is out", link("enp3s0", physical: true, running: false), true),
        Row("the USB cable's network", link("enx5a1", physical: true), true, address: "fe80::5"),
        Row("a bridge of the machine's own", link("br0", "bridge"), true),
        Row("a bond", link("bond0", "bond"), true),
        Row("a VLAN", link("enp3s0.10", "vlan"), true),
        Row("a bond's member", link("enp4s0", physical: true, master: 9), false, address: ""),
        Row("Docker's bridge", link("docker0", "bridge"), false),
        Row("a compose network's bridge", link("br-1b2c", "bridge"), false),
        Row("libvirt's bridge", link("virbr0", "bridge"), false),
        Row("a container's veth", link("veth12ab", "veth"), false),
        Row("a veth that carries the default route", link("eth0", "veth", mainDefault: true), true),
        Row("a dummy", link("dummy0", "dummy"), false),
        Row("loopback", link("lo", type: 772), false, address: "127.0.0.1"),
        Row("WireGuard", link("wg0", "wireguard", type: 65534), false),
        Row("Tailscale", link("tailscale0", "tun", type: 65534), false, address: "100.88.1.2"),
        Row("a tap with the default route", link("tap0", "tun", mainDefault: true), false),
        Row("a point-to-point link", link("foo0", physical: true, pointToPoint: true), false),
        Row("a modem", link("wwan0", physical: true, mainDefault: true, modem: true), false),
        Row(
            "PPPoE that leads to the internet", link("ppp0", "ppp", type: 512, mainDefault: true), false,
            address: "203.0.113.4"),
        Row("Wi-Fi Direct", link("p2p-wlan0-0", physical: true), false, true),
        Row("AWDL", link("awdl0"), false, true),
        Row("AWDL that is down", link("awdl0", up: false), false),
        Row("what no rule names", link("foo0"), false),
    ]

    @Test("where it is shown", arguments: rows)
    func interfaces(_ row: Row) {
        let own = IPAddress(row.address).map { [(UInt32(7), InterfaceAddress(ip: $0, prefixBits: 24))] } ?? []
        let table = InterfaceTable.make(links: [row.link], addresses: own, primary: nil)
        #expect(Advertisement.interfaces(table, direct: false) == (row.isShown.off ? [7] : []))
        #expect(Advertisement.interfaces(table, direct: true) == (row.isShown.on ? [7] : []))
    }

    /// Whatever is shown is admitted by the home door, by the same table: a peer of that network is lan or direct.
    @Test("nothing is shown where the home door admits nobody", arguments: [false, true])
    func admitted(_ direct: Bool) {
        let shown = Advertisement.interfaces(tableT, direct: direct)
        #expect(shown == (direct ? [2, 3, 4, 5, 6] : [2, 3, 4]))
        for index in shown {
            let origin = OriginPolicy.classify(
                source: IPAddress(bytes: ip("fe80::9").bytes, scope: index), local: nil, zoneName: nil,
                receivedOn: index, receivedOnName: nil, table: tableT
            ).origin
            #expect(DoorPolicy.admits(.home, origin, internet: false))
        }
    }

    /// `--home-listen`: a door at one address is found where that address is, and nowhere else.
    @Test(arguments: [
        (String?.none, [2, 3, 4]), ("0.0.0.0", [2, 3, 4]), ("::", [2, 3, 4]), ("192.168.1.20", [2]),
        ("203.0.113.20", [4]), ("127.0.0.1", []), ("10.99.0.2", []), ("192.168.9.9", []), ("fe80::1%3", [3]),
        ("fe80::1%8", []),
    ])
    func oneAddress(_ address: String?, _ shown: [UInt32]) {
        #expect(
            Advertisement.interfaces(tableT, direct: false, listensAt: address.map { ip($0) }) == shown)
    }

    @Test(
        "a name is one label of DNS",
        arguments: [
            ("Desk", "Desk"),
            ("Desk\u{0}\n of\u{7F} Ada\u{202E}", "Desk of Ada"),
            ("a.b\\c", "a.b\\c"),
            (String(repeating: "x", count: 63), String(repeating: "x", count: 63)),
            (String(repeating: "x", count: 64), String(repeating: "x", count: 63)),
            (String(repeating: "é", count: 40), String(repeating: "é", count: 31)),
            (String(repeating: "x", count: 62) + "é", String(repeating: "x", count: 62)),
            (String(repeating: "x", count: 61) + " y z", String(repeating: "x", count: 61) + " y"),
            (String(repeating: "x", count: 62) + " yz", String(repeating: "x", count: 62)),
            // A family is one character of 25 bytes, and is not taken apart.
            (String(repeating: "👨‍👩‍👧‍👦", count: 9), String(repeating: "👨👩👧👦", count: 3) + "👨👩👧"),
        ])
    func label(_ name: String, _ label: String) {
        let cut = Advertisement.label(name)
        #expect(cut == label)
        #expect((1...63).contains(cut.utf8.count))
    }

    @Test func aCharacterLongerThanALabelIsCutAtItsMarks() {
        let cut = Advertisement.label("e" + String(repeating: "\u{301}", count: 60))
        #expect(cut == "e" + String(repeating: "\u{301}", count: 31))
    }

    @Test func withoutAnInterfaceThereIsNothingToAnnounce() {
        #expect(
            Advertisement(identity: key(1), host: "Desk", port: 1, isPairingRequired: true, interfaces: [])
                == nil)
    }

    @Test func whatTakesNoOtherRegistration() throws {
        func record(
            _ name: String = "Desk", port: UInt16 = 5, required: Bool = true, on: [UInt32] = [3, 2],
            of identity: UInt8 = 1
        ) throws -> Advertisement {
            try #require(
                Advertisement(
                    identity: key(identity), host: name, port: port, isPairingRequired: required,
                    interfaces: on))
        }
        let base = try record()
        #expect(base.interfaces == [2, 3])
        #expect(try record(on: [2, 3]) == base && base.isContained(in: base))
        #expect(try record(required: false).isContained(in: base))
        #expect(try record(required: false, on: [2]).isContained(in: base))
        #expect(try !record(of: 2).isContained(in: base))
        #expect(try !record("Den").isContained(in: base))
        #expect(try !record(port: 6).isContained(in: base))
        #expect(try !record(on: [2, 3, 4]).isContained(in: base))
        #expect(try !record(on: [4]).isContained(in: base))
    }
}
