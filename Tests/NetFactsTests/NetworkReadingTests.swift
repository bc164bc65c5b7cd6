// SPDX-License-Identifier: Apache-2.0

import Foundation
import Policy
import Sockets
import Testing
import Wire

@testable import NetFacts

@Suite("Network reading")
struct NetworkReadingTests {
    private func reading(
        links: [[UInt8]], addresses: [[UInt8]] = [], routes: [[UInt8]] = [], routes6: [[UInt8]] = [],
        primary: UInt32? = nil
    ) -> NetworkReading {
        NetworkReading(
            links: links.compactMap { LinkMessage($0[...]) },
            addresses: addresses.compactMap { AddressMessage($0[...]) },
            routes: routes.compactMap { RouteMessage($0[...]) },
            routes6: routes6.compactMap { RouteMessage($0[...], family: RouteMessage.familyV6) },
            primary: primary)
    }

    static let loopback = linkBody(index: 1, type: 772, flags: 0x49, name: "lo")
    static let ethernet = linkBody(index: 2, name: "enp3s0")

    @Test("links, addresses and sysfs join into the table")
    func table() throws {
        let table = reading(
            links: [
                Self.loopback, Self.ethernet,
                linkBody(index: 3, type: 0xFFFE, flags: 0x51, name: "wg0", kind: "wireguard"),
            ],
            addresses: [
                addressBody(family: 2, bits: 24, index: 2, address: [192, 168, 1, 20]),
                addressBody(family: 2, bits: 32, index: 3, address: [10, 9, 0, 2]),
                addressBody(family: 2, bits: 8, index: 99, address: [10, 0, 0, 1]),
            ],
            routes: [routeBody(output: 2, metric: 100), routeBody(output: 3, longTable: 51820)], primary: 3
        ).table { name in
            name == "enp3s0" ? DeviceFacts(isPhysical: true, isWireless: true, isModem: false) : DeviceFacts()
        }
        #expect(table.interfaces.map(\.name) == ["lo", "enp3s0", "wg0"])
        #expect(table.interfaces.map(\.kind) == [.loopback, .lan, .tunnel])
        #expect(table.primaryInterface == 3 && table.isComplete)
        let ethernet = try #require(table.interface(index: 2))
        #expect(ethernet.link.isMainDefault && ethernet.link.carriesIPv4DefaultInAnyTable)
        #expect(ethernet.link.isPhysical && ethernet.link.isWireless && !ethernet.link.isModem)
        let tunnel = try #require(table.interface(named: "wg0"))
        #expect(!tunnel.link.isMainDefault && tunnel.link.carriesIPv4DefaultInAnyTable)
        #expect(try table.owner(of: #require(IPAddress("10.9.0.2")))?.name == "wg0")
        #expect(try !table.owns(#require(IPAddress("10.0.0.1"))), "an address of an interface nobody knows")
    }

    @Test(
        "the main default is the one of lowest metric in the main table",
        arguments: [
            ([routeBody(output: 2, metric: 100), routeBody(output: 3, metric: 50)], 3),
            ([routeBody(output: 2), routeBody(output: 3, metric: 50)], 2),
            ([routeBody(output: 3, longTable: 52), routeBody(output: 2, metric: 900)], 2),
            ([routeBody(hops: [(4, 0), (5, 0)])], 4),
            ([routeBody(bits: 8, output: 2)], nil),
            ([], nil),
        ] as [([[UInt8]], UInt32?)])
    func mainDefault(_ row: ([[UInt8]], UInt32?)) {
        #expect(reading(links: [], routes: row.0).mainDefault == row.1)
    }

    @Test(
        "the router of a link: the main default's, else another default's, else any next hop",
        arguments: [
            ([routeBody(output: 2, metric: 100, gateway: [10, 0, 0, 1])], "10.0.0.1"),
            (
                [
                    routeBody(output: 2, metric: 100, gateway: [10, 0, 0, 1]),
                    routeBody(output: 2, metric: 50, gateway: [10, 0, 0, 2]),
                    routeBody(output: 3, metric: 1, gateway: [10, 9, 0, 1]),
                ], "10.0.0.2"
            ),
            // An exit node or a full tunnel: the VPN's default has no next hop, its host route names the router.
            (
                [
                    routeBody(output: 3, longTable: 52), routeBody(output: 3),
                    routeBody(bits: 32, output: 2, gateway: [10, 0, 0, 1]),
                ], "10.0.0.1"
            ),
            (
                [
                    routeBody(bits: 8, output: 2, gateway: [10, 0, 0, 7]),
                    routeBody(output: 2, metric: 9, longTable: 100, gateway: [10, 0, 0, 1]),
                ], "10.0.0.1"
            ),
            ([routeBody(hops: [(4, 0), (2, 0)])], "10.0.0.1"),
            ([routeBody(hops: [(4, 0), (2, 1)])], nil),
            ([routeBody(output: 2)], nil),
            ([routeBody(output: 2, gateway: [0, 0, 0, 0])], nil),
            ([routeBody(output: 3, gateway: [10, 9, 0, 1])], nil),
            ([], nil),
        ] as [([[UInt8]], String?)])
    func gateway(_ row: ([[UInt8]], String?)) throws {
        let table = reading(links: [Self.ethernet], routes: row.0).table { _ in DeviceFacts() }
        #expect(try #require(table.interface(index: 2)).link.gateway?.description == row.1)
    }

    private static func v6(_ last: UInt8, linkLocal: Bool = true) -> [UInt8] {
        (linkLocal ? [0xFE, 0x80] : [0x20, 0x01]) + [UInt8](repeating: 0, count: 13) + [last]
    }

    @Test(
        "the IPv6 router of a link: a default route's next hop, of the main table first, and nothing else's",
        arguments: [
            ([routeBody(family: 10, output: 2, metric: 1024, gateway: v6(1))], v6(1)),
            (
                [
                    routeBody(family: 10, output: 2, metric: 1024, gateway: v6(1)),
                    routeBody(family: 10, output: 2, metric: 100, gateway: v6(2)),
                    routeBody(family: 10, output: 3, metric: 1, gateway: v6(3)),
                    routeBody(family: 10, output: 2, metric: 1, longTable: 52, gateway: v6(4)),
                ], v6(2)
            ),
            ([routeBody(family: 10, output: 2, longTable: 52, gateway: v6(4))], v6(4)),
            ([routeBody(family: 10, output: 2, gateway: v6(1, linkLocal: false))], v6(1, linkLocal: false)),
            (
                [routeBody(family: 10, hops: [(3, 0), (2, 0)], hopGateway: v6(9))], v6(9)
            ),
            ([routeBody(family: 10, hops: [(3, 0), (2, 1)], hopGateway: v6(9))], nil),
            // A part of the network, a route that leads nowhere, one without a next hop, and those of IPv4.
            ([routeBody(family: 10, bits: 64, output: 2, gateway: v6(1))], nil),
            ([routeBody(family: 10, type: 7, output: 2, gateway: v6(1))], nil),
            ([routeBody(family: 10, output: 2)], nil),
            ([routeBody(family: 10, output: 2, gateway: [UInt8](repeating: 0, count: 16))], nil),
            ([routeBody(family: 10, output: 2, gateway: [10, 0, 0, 1])], nil),
            ([routeBody(output: 2, gateway: [10, 0, 0, 1])], nil),
            ([routeBody(family: 10, output: 3, gateway: v6(3))], nil),
            ([], nil),
        ] as [([[UInt8]], [UInt8]?)])
    func gateway6(_ row: ([[UInt8]], [UInt8]?)) throws {
        let table = reading(links: [Self.ethernet], routes6: row.0).table { _ in DeviceFacts() }
        let found = try #require(table.interface(index: 2)).link
        #expect(found.gateway6?.bytes == row.1)
        // A link-local one says where it is.
        #expect(found.gateway6.map { $0.scope == ($0.isLinkLocal ? 2 : 0) } ?? true)
        #expect(found.gateway == nil, "IPv6 says nothing about IPv4")
    }

    @Test("the hosts that a router of the link leads to, each once and in order")
    func hostRoutes() throws {
        let routes = [
            routeBody(bits: 32, output: 2, gateway: [10, 0, 0, 1], destination: [11, 22, 33, 44]),
            routeBody(bits: 32, output: 2, gateway: [10, 0, 0, 1], destination: [9, 9, 9, 9]),
            routeBody(bits: 32, output: 2, metric: 5, gateway: [10, 0, 0, 1], destination: [9, 9, 9, 9]),
            // On the link itself, to a network, over another link.
            routeBody(bits: 32, output: 2, destination: [10, 0, 0, 9]),
            routeBody(bits: 24, output: 2, gateway: [10, 0, 0, 1], destination: [10, 7, 0, 0]),
            routeBody(bits: 32, output: 3, gateway: [10, 9, 0, 1], destination: [11, 0, 0, 1]),
        ]
        func hosts(_ routes: [[UInt8]]) throws -> [String] {
            let table = reading(links: [Self.ethernet], routes: routes).table { _ in DeviceFacts() }
            return try #require(table.interface(index: 2)).link.hostRoutes.map(\.description)
        }
        #expect(try hosts(routes) == ["9.9.9.9", "11.22.33.44"])
        let many = (0...255).map { last in
            routeBody(bits: 32, output: 2, gateway: [10, 0, 0, 1], destination: [11, 0, 0, UInt8(last)])
        }
        #expect(try hosts(many).count == LinkFacts.mostHostRoutes)
    }

    @Test("sysfs tells physical, wireless and modem apart")
    func sysfs() throws {
        let root = NSTemporaryDirectory() + "latchkey-sysfs-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: root) }
        try makeDirectory(root + "/eth0/device", mode: 0o700)
        try makeDirectory(root + "/wlan0/device", mode: 0o700)
        try makeDirectory(root + "/wlan0/phy80211", mode: 0o700)
        try makeDirectory(root + "/wlan1/wireless", mode: 0o700)
        try makeDirectory(root + "/wwx1", mode: 0o700)
        try createExclusive(
            root + "/wwx1/uevent", Array("INTERFACE=wwx1\nDEVTYPE=wwan\nIFINDEX=4\n".utf8), mode: 0o600)
        try createExclusive(root + "/eth0/uevent", Array("INTERFACE=eth0\nDEVTYPE=wwanx\n".utf8), mode: 0o600)
        let sysfs = Sysfs(root: root)
        #expect(sysfs.facts("eth0") == DeviceFacts(isPhysical: true))
        #expect(sysfs.facts("wlan0") == DeviceFacts(isPhysical: true, isWireless: true))
        #expect(sysfs.facts("wlan1") == DeviceFacts(isWireless: true))
        #expect(sysfs.facts("wwx1") == DeviceFacts(isModem: true))
        for name in ["absent", "..", "../" + root, ""] { #expect(sysfs.facts(name).isModem == false) }
    }
}
