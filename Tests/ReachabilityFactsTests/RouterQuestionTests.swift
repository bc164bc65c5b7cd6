// SPDX-License-Identifier: Apache-2.0

import Policy
import RouterProbe
import Testing
import Wire

@testable import ReachabilityFacts

/// 05 B6: which router is asked, and from where.
struct RouterQuestionTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var table: InterfaceTable
        var want: RouterQuestion?
    }

    static let tunnel = LinkFacts(
        index: 5, name: "wg0", hardwareType: 65534, infoKind: "wireguard", gateway: ip("10.9.0.1"))

    static let rows = [
        Row(testDescription: "a home router", table: machine(), want: question()),
        Row(testDescription: "no next hop", table: machine(gateway: nil), want: question("192.168.1.5", nil)),
        Row(
            testDescription: "a VPN as default route is never asked",
            table: machine(more: [(tunnel, "10.9.0.2")], primary: 5), want: question()),
        Row(
            testDescription: "mobile",
            table: InterfaceTable.make(
                links: [LinkFacts(index: 2, name: "wwan0", isModem: true, gateway: ip("10.64.0.1"))],
                addresses: [(2, InterfaceAddress(ip: ip("10.64.0.2"), prefixBits: 24))], primary: 2),
            want: nil),
        Row(
            testDescription: "PPPoE",
            table: InterfaceTable.make(
                links: [
                    LinkFacts(
                        index: 2, name: "ppp0", hardwareType: 512, isPointToPoint: true, infoKind: "ppp",
                        isMainDefault: true)
                ], addresses: [(2, InterfaceAddress(ip: ip("11.22.33.44"), prefixBits: 32))], primary: 2),
            want: nil),
        Row(
            testDescription: "a carrier's address is no LAN", table: machine(lan: "100.72.0.5"), want: nil),
        Row(testDescription: "no network", table: InterfaceTable([]), want: nil),
    ]

    @Test(arguments: rows) func asked(_ row: Row) {
        #expect(RouterQuestion(row.table, seen: SeenGateways(), outsidePort: 7455) == row.want)
    }

    @Test func theGatewayLastSeenWithTheNetworkStandsIn() {
        var seen = SeenGateways()
        seen.note(machine())
        seen.note(machine(lan: "10.0.0.7", gateway: "10.0.0.1"))
        func gateway(_ table: InterfaceTable) -> IPAddress? {
            RouterQuestion(table, seen: seen, outsidePort: 7455)?.gateway
        }
        #expect(gateway(machine(lan: "192.168.1.77", gateway: nil)) == ip("192.168.1.1"))
        #expect(gateway(machine(lan: "192.168.2.5", gateway: nil)) == nil, "another network")
        #expect(gateway(machine(lan: "192.168.1.5", gateway: nil, bits: 16)) == nil, "another prefix")
        #expect(gateway(machine(gateway: "192.168.1.254")) == ip("192.168.1.254"), "what is there wins")
        for number in 0..<40 { seen.note(machine(lan: "10.1.\(number).2", gateway: "10.1.\(number).1")) }
        #expect(gateway(machine(gateway: nil)) == nil, "of many networks the oldest is forgotten")
    }

    @Test func thePinholeLinkKnowsTheRoutersIPv6() throws {
        var own = LinkFacts(index: 2, name: "eth0", isPhysical: true, isMainDefault: true)
        own.gateway = ip("192.168.1.1")
        own.gateway6 = IPAddress(bytes: [0xFE, 0x80] + [UInt8](repeating: 0, count: 13) + [1], scope: 2)
        var tunnel = Self.tunnel
        tunnel.gateway6 = ip("fd00::1")
        let addresses = [
            (UInt32(2), InterfaceAddress(ip: ip("192.168.1.5"), prefixBits: 24)),
            (5, InterfaceAddress(ip: ip("10.9.0.2"), prefixBits: 32)),
        ]
        func link(_ links: [LinkFacts]) -> LANLink? {
            LANLink(InterfaceTable.make(links: links, addresses: addresses, primary: 5))
        }
        let found = try #require(link([own, tunnel]))
        #expect(found.gateway6 == own.gateway6 && found.gateway6?.scope == 2)
        #expect(found.lan == ip("192.168.1.5") && found.interface == "eth0" && found.interfaceIndex == 2)
        own.gateway6 = nil
        #expect(try #require(link([own, tunnel])).gateway6 == nil, "a tunnel's is never taken")
        #expect(link([tunnel]) == nil)
    }
}
