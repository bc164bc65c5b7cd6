// SPDX-License-Identifier: Apache-2.0

import Policy
import Testing
import Wire

/// 03 §3.5, and the arrival's order of 03 §3.3.
struct OriginPolicyTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var source: String?
        var local: String?
        var zone: String?
        var receivedOn: UInt32?
        var receivedOnName: String?
        var origin: Origin
        var arrival: String?
        var testDescription: String { "\(source ?? "none") at \(arrival ?? "unknown")" }
    }

    static let eth0 = "192.168.1.20"
    static let rows = [
        Row(source: nil, origin: .internet),
        Row(source: "127.0.0.1", origin: .loopback), Row(source: "::1", origin: .loopback),
        Row(source: "fe80::1c2:3ff:fe45:6789", zone: "awdl0", origin: .direct, arrival: "awdl0"),
        Row(source: "fe80::1c2:3ff:fe45:6789%5", origin: .direct, arrival: "awdl0"),
        Row(source: "fe80::9", zone: "usb1", origin: .lan, arrival: "usb1"),
        Row(source: "100.84.3.2", local: "100.88.123.45", origin: .vpn, arrival: "tailscale0"),
        Row(
            source: "fd7a:115c:a1e0::77", local: "fd7a:115c:a1e0::abcd:ef01", origin: .vpn,
            arrival: "tailscale0"),
        Row(source: "192.168.1.23", local: eth0, origin: .lan, arrival: "eth0"),
        Row(source: "10.1.2.3", local: eth0, origin: .lan, arrival: "eth0"),
        Row(source: "172.31.255.1", local: eth0, origin: .lan, arrival: "eth0"),
        Row(source: "172.15.0.1", local: eth0, origin: .internet, arrival: "eth0"),
        Row(source: "203.0.113.9", local: eth0, origin: .internet, arrival: "eth0"),
        Row(source: "::ffff:203.0.113.9", local: eth0, origin: .internet, arrival: "eth0"),
        Row(source: "100.72.1.1", local: eth0, origin: .internet, arrival: "eth0"),
        Row(source: "203.0.113.50", local: "203.0.113.20", origin: .lan, arrival: "br0"),
        Row(
            source: "fd4e:4f6b:37dc:4a0f::99", local: "2001:db8:1::20", origin: .lan, arrival: "eth0"),
        Row(source: "2001:db8:2::77", local: "2001:db8:1::20", origin: .internet, arrival: "eth0"),
        Row(source: "2001:db8:1::77", local: "2001:db8:1::20", origin: .lan, arrival: "eth0"),
        Row(source: "169.254.1.2", local: "169.254.172.122", origin: .lan, arrival: "usb0"),
        Row(source: "198.51.100.4", origin: .internet),
        Row(source: "192.168.7.7", local: eth0, receivedOn: 8, origin: .vpn, arrival: "wg0"),
        Row(source: "192.168.1.23", local: eth0, receivedOn: 2, origin: .lan, arrival: "eth0"),
        Row(source: "10.170.1.1", receivedOnName: "wwan0", origin: .internet, arrival: "wwan0"),
        Row(source: "169.254.1.2", receivedOn: 9, origin: .internet, arrival: "wwan0"),
        Row(source: "fe80::9%9", origin: .internet, arrival: "wwan0"),
        // An unknown arrival looks at the prefixes of every lan interface.
        Row(source: "203.0.113.50", origin: .lan), Row(source: "100.72.1.1", origin: .lan),
        // A loopback arrival is no arrival; the local address is asked then.
        Row(source: "192.168.7.7", local: "10.99.0.2", receivedOn: 1, origin: .vpn, arrival: "wg0"),
        Row(
            source: "192.168.7.7", local: "10.99.0.2", receivedOnName: "lo", origin: .vpn, arrival: "wg0"),
        // An index that is gone gives nothing; a name that is gone counts by its name.
        Row(source: "203.0.113.9", local: eth0, receivedOn: 77, origin: .internet, arrival: "eth0"),
        Row(source: "192.168.7.7", local: eth0, receivedOnName: "tun7", origin: .vpn, arrival: "tun7"),
        // The zone wins over everything, and so does the scope.
        Row(source: "fe80::9%5", local: eth0, receivedOn: 2, origin: .direct, arrival: "awdl0"),
        Row(source: "fe80::2", local: eth0, zone: "wg0", receivedOn: 2, origin: .vpn, arrival: "wg0"),
    ]

    @Test(arguments: rows) func worked(_ row: Row) {
        let placement = OriginPolicy.classify(
            source: row.source.map { ip($0) }, local: row.local.map { ip($0) }, zoneName: row.zone,
            receivedOn: row.receivedOn, receivedOnName: row.receivedOnName, table: tableT)
        #expect(placement == Placement(origin: row.origin, arrival: row.arrival))
    }

    /// Only a loopback source can be a user-space VPN's peer.
    @Test(arguments: [
        ("127.0.0.1", Origin.vpn), ("::1", .vpn), ("::ffff:127.0.0.1", .vpn), ("192.168.1.23", .lan),
        ("203.0.113.9", .internet),
    ])
    func peersByTheLoopback(_ source: String, _ origin: Origin) {
        let placement = OriginPolicy.classify(
            source: ip(source), local: ip("192.168.1.20"), zoneName: nil, receivedOn: nil,
            receivedOnName: nil,
            table: tableT, isVPNPeer: true)
        #expect(placement.origin == origin)
    }

    /// An interface of kind other has a network for what arrives by it, and for nobody else.
    @Test(arguments: [(UInt32?.some(2), Origin.lan, String?.some("docker0")), (nil, .internet, nil)])
    func theNetworkOfAnotherInterface(_ receivedOn: UInt32?, _ origin: Origin, _ arrival: String?) {
        let table = InterfaceTable([
            NetworkInterface(
                link: LinkFacts(index: 2, name: "docker0"), kind: .other,
                addresses: [InterfaceAddress(ip: ip("203.0.113.1"), prefixBits: 24)])
        ])
        let placement = OriginPolicy.classify(
            source: ip("203.0.113.50"), local: nil, zoneName: nil, receivedOn: receivedOn,
            receivedOnName: nil, table: table)
        #expect(placement == Placement(origin: origin, arrival: arrival))
    }

    @Test func aPrefixOfNoBitsIsNoNetwork() {
        let table = InterfaceTable([
            NetworkInterface(
                link: LinkFacts(index: 2, name: "eth0"), kind: .lan,
                addresses: [InterfaceAddress(ip: ip("192.0.2.1"), prefixBits: 0)])
        ])
        let placement = OriginPolicy.classify(
            source: ip("198.51.100.4"), local: ip("192.0.2.1"), zoneName: nil, receivedOn: nil,
            receivedOnName: nil, table: table)
        #expect(placement.origin == .internet)
    }

    /// 03 §12.3.
    @Test(arguments: [
        ("127.0.0.1", true), ("127.0.0.2", true), ("::1", true), ("192.168.1.20", true),
        ("::ffff:192.168.1.20", true),
        ("192.168.1.21", false), ("100.88.123.45", true),
    ])
    func fromThisHost(_ source: String, _ expected: Bool) {
        #expect(AskPolicy.isFromThisHost(ip(source), table: tableT) == expected)
    }

    @Test func fromThisHostIgnoresScopes() {
        let table = InterfaceTable([
            NetworkInterface(
                link: LinkFacts(index: 2, name: "eth0"), kind: .lan,
                addresses: [InterfaceAddress(ip: ip("fe80::1c2:3ff:fe45:6789"), prefixBits: 64)])
        ])
        #expect(AskPolicy.isFromThisHost(ip("fe80::1c2:3ff:fe45:6789%3"), table: table))
    }
}
