// SPDX-License-Identifier: Apache-2.0

import Policy
import Sockets
import Testing
import Wire

@testable import NetFacts

@Suite("Neighbours", .serialized)
struct NeighbourTests {
    /// struct ndmsg and attributes.
    private static func body(
        family: UInt8 = 10, index: UInt32 = 9, state: UInt16 = 4, destination: [UInt8]? = nil,
        address: [UInt8]? = [0x3a, 0, 0, 0, 0, 1]
    ) -> [UInt8] {
        var body: [UInt8] = [family, 0, 0, 0] + little(index) + little(state) + [0, 1]
        let ip: [UInt8] = [0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xc0, 0xd3, 0, 1]
        body += NetlinkMessage.attribute(1, destination ?? ip)
        if let address { body += NetlinkMessage.attribute(2, address) }
        return body
    }

    @Test("an entry")
    func entry() throws {
        let found = try #require(NeighbourMessage(Self.body()[...]))
        #expect(found.index == 9 && found.ip == IPAddress("fe80::c0d3:1%9"))
        #expect(found.entry == CableNeighbour(state: 4, address: [0x3a, 0, 0, 0, 0, 1]))
        let incomplete = try #require(NeighbourMessage(Self.body(state: 1, address: nil)[...]))
        #expect(incomplete.entry == CableNeighbour(state: 1, address: []))
        #expect(NeighbourMessage(Self.body(index: 0)[...]) == nil)
        #expect(NeighbourMessage(Self.body(destination: [1, 2])[...]) == nil)
    }

    @Test("cut anywhere, nothing traps, and no address comes out of half of one")
    func cut() {
        let whole = Self.body()
        for count in 0..<whole.count {
            let found = NeighbourMessage(whole.prefix(count))
            #expect(found == nil || count >= 32)
        }
    }

    @Test("the question is what the kernel expects, byte for byte")
    func question() throws {
        let ip = try #require(IPAddress("fe80::c0d3:1%9"))
        #expect(
            Hex.encode(NeighbourMessage.question(ip, on: 9))
                == "0a0000000900000000000000" + "14000100fe8000000000000000000000c0d30001")
    }

    @Test(
        "the kernel's own table: a peer, one pinned by hand, none, another interface's",
        .enabled(if: Namespace.isPossible, "needs root and network namespaces"))
    func kernel() throws {
        try Namespace.run {
            try ip("link add usb0 type veth peer name far")
            try ip("link set usb0 up")
            let index = try #require(interfaceIndex("usb0"))
            #expect(interfaceName(index) == "usb0" && interfaceName(index + 100) == nil)
            try ip("neigh add fe80::1 lladdr 3a:00:00:00:00:01 dev usb0 nud stale")
            try ip("neigh add fe80::2 lladdr 3a:00:00:00:00:02 dev usb0 nud permanent")
            let kernel = CableNetwork.kernel
            func asked(_ text: String, _ index: UInt32) throws -> NeighbourReading {
                kernel.neighbour(try #require(IPAddress(text)), index)
            }
            #expect(
                try asked("fe80::1", index)
                    == .entry(CableNeighbour(state: 4, address: [0x3a, 0, 0, 0, 0, 1])))
            #expect(
                try asked("fe80::2", index)
                    == .entry(CableNeighbour(state: 0x80, address: [0x3a, 0, 0, 0, 0, 2])))
            #expect(try asked("fe80::3", index) == .none)
            #expect(try asked("fe80::1", #require(interfaceIndex("far"))) == .none)
            #expect(try asked("fe80::1", index + 100) == .unreadable)

            let links = try #require(kernel.links())
            let link = try #require(links.first { $0.name == "usb0" })
            #expect(link.index == index && link.neighbours == 1)
            #expect(links.first { $0.name == "far" }?.neighbours == 0)
            try ip("addr add fe80::9/64 dev usb0 nodad")
            #expect(kernel.links()?.first { $0.name == "usb0" }?.hasLinkLocal == true)
            let own = try #require(kernel.ownAddresses())
            #expect(try own.contains(#require(IPAddress("fe80::9%\(index)"))))
        }
    }
}
