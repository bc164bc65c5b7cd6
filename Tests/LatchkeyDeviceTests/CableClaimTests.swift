// SPDX-License-Identifier: Apache-2.0

import Policy
import Testing
import Wire

@testable import LatchkeyDevice

@Suite("Cable claim")
struct CableClaimTests {
    /// What the interface of index 9 is, and who is asked about.
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var host = "fe80::1%9"
        var own = ["fe80::2%9", "169.254.10.1"]
        var name = "usb0"
        var hardwareType: UInt16 = 1
        var infoKind: String?
        var isPhysical = true
        var isWireless = false
        /// Of another interface.
        var elsewhere = ["192.168.1.7", "fe80::7%2"]
        let want: CableClaim

        init(
            _ testDescription: String, _ want: CableClaim.Reason? = nil,
            _ change: (inout Row) -> Void = { _ in }
        ) {
            self.testDescription = testDescription
            self.want = want.map { .fails($0) } ?? .holds(interface: "usb0")
            change(&self)
        }
    }

    static let rows = [
        // 04 §5.
        Row("link-local addresses alone"),
        Row("Personal Hotspot", .routable) { $0.own = ["fe80::2%9", "172.20.10.4"] },
        Row("no own address", .noAddress) { $0.own = [] },
        Row("an IPv4 host", .notLinkLocal) { $0.host = "192.168.1.20" },
        // Each part by itself.
        Row("an IPv4 link-local host", .notLinkLocal) { $0.host = "169.254.10.9" },
        Row("a mapped address", .notLinkLocal) { $0.host = "::ffff:169.254.10.9" },
        Row("a unique local host", .notLinkLocal) { $0.host = "fd00::1%9" },
        Row("no zone", .unknownZone) { $0.host = "fe80::1" },
        Row("a zone nobody has", .unknownZone) { $0.host = "fe80::1%8" },
        Row("no Ethernet", .notWired) { $0.hardwareType = 65534 },
        Row("Wi-Fi", .notWired) { $0.isWireless = true },
        Row("virtual", .notWired) { $0.isPhysical = false },
        Row("a bridge", .notWired) { $0.infoKind = "bridge" },
        Row("awdl", .notWired) { $0.name = "awdl0" },
        Row("llw", .notWired) { $0.name = "llw0" },
        Row("this machine", .ownAddress) { $0.host = "fe80::2%9" },
        Row("this machine's address of another interface", .ownAddress) { $0.host = "fe80::7%9" },
        Row("only IPv4 link-local") { $0.own = ["169.254.10.1"] },
        Row("a routable IPv6 address", .routable) { $0.own.append("2001:db8::5") },
        Row("a unique local address", .routable) { $0.own = ["fd00::2"] },
        Row("the order: zone before wire") {
            $0.isWireless = true
            $0.own = ["10.0.0.1"]
            $0.host = "fe80::1%9"
        }.but(.notWired),
    ]

    @Test("the rule", arguments: rows)
    func rule(_ row: Row) throws {
        let usb = LinkFacts(
            index: 9, name: row.name, hardwareType: row.hardwareType, infoKind: row.infoKind,
            isPhysical: row.isPhysical, isWireless: row.isWireless)
        let wifi = LinkFacts(index: 2, name: "wlan0", isPhysical: true, isWireless: true)
        func addresses(_ texts: [String], _ index: UInt32) -> [(UInt32, InterfaceAddress)] {
            texts.compactMap { IPAddress($0) }.map { (index, InterfaceAddress(ip: $0, prefixBits: 64)) }
        }
        let table = InterfaceTable.make(
            links: [wifi, usb], addresses: addresses(row.own, 9) + addresses(row.elsewhere, 2), primary: 2)
        #expect(CableClaim.judge(host: try #require(IPAddress(row.host)), in: table) == row.want)
    }

    @Test("this machine's loopback is no cable")
    func thisMachine() throws {
        #expect(CableClaim.read(host: IPAddress(v4: 0x7F00_0001)) == .fails(.notLinkLocal))
        #expect(try CableClaim.read(host: #require(IPAddress("fe80::1%1"))).isClaimed == false)
        #expect(try CableClaim.read(host: #require(IPAddress("fe80::1%999999"))) == .fails(.unknownZone))
    }

    @Test("every reason has words")
    func words() {
        #expect(Set(CableClaim.Reason.allCases.map(\.words)).count == CableClaim.Reason.allCases.count)
    }
}

extension CableClaimTests.Row {
    /// The same with another result.
    fileprivate func but(_ reason: CableClaim.Reason) -> Self {
        let row = self
        return Self(testDescription, reason) {
            $0.host = row.host
            $0.own = row.own
            $0.isWireless = row.isWireless
        }
    }
}
