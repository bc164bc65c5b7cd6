// SPDX-License-Identifier: Apache-2.0

import Policy
import Testing
import Wire

@testable import NetFacts

@Suite("Route messages")
struct RouteMessagesTests {
    /// RTM_GETADDR's dump as a Linux kernel sent it: 127.0.0.1/8 on 1; 192.168.1.20/24 and 10.9.0.1 peer 10.9.0.2/32 on
    /// br0 (2); ::1/128; fd00::20/64; a link-local one that is still tentative.
    static let addresses =
        "4c0000001400020007000000b6380000020880fe01000000080001007f000001080002007f000001070003006c6f0000080008008000"
        + "000014000600ffffffffffffffff6bbe03006bbe03004c0000001400020007000000b63800000218800002000000"
        + "08000100c0a8011408000200c0a801140800030062723000080008008000000014000600ffffffffffffffff75be030075be0300"
        + "4c0000001400020007000000b63800000220800002000000080001000a090002080002000a090001080003006272300008000800"
        + "8000000014000600ffffffffffffffff77be030077be0300500000001400020007000000b63800000a8080fe01000000"
        + "140001000000000000000000000000000000000114000600ffffffffffffffff6bbe03006bbe0300080008008000000005000b00"
        + "01000000480000001400020007000000b63800000a4082000200000014000100fd0000000000000000000000000000201400"
        + "0600ffffffffffffffff7abe03007abe03000800080082000000500000001400020007000000b63800000a40c0fd02000000"
        + "14000100fe80000000000000b849cdfffe7183e014000600ffffffffffffffff74be030074be030008000800c000000005000b00"
        + "03000000140000000300020007000000b638000000000000"

    /// The default route of the same machine (metric 50, br0), then 10.9.0.2/32, then the local one of 192.168.1.20.
    static let routes =
        "3c0000001800020007000000b638000002000000fe0300010000000008000f00fe000000080006003200000008000500c0a801010800"
        + "0400020000003c0000001800020007000000b638000002200000fe02fd010000000008000f00fe00000008000100"
        + "0a090002080007000a09000108000400020000003c0000001800020007000000b638000002200000ff02fe020000000008000f00"
        + "ff00000008000100c0a8011408000700c0a801140800040002000000"

    @Test("recorded addresses")
    func recordedAddresses() throws {
        let bytes = try #require(Hex.decode(Self.addresses))
        let messages = NetlinkMessage.all(in: bytes)
        #expect(messages.last?.type == NetlinkMessage.Kind.done)
        let found = messages.filter { $0.type == 20 }.compactMap { AddressMessage($0.body) }
        func ip(_ text: String) throws -> IPAddress { try #require(IPAddress(text)) }
        let linkLocal = try #require(
            IPAddress(
                bytes: [0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0xb8, 0x49, 0xcd, 0xff, 0xfe, 0x71, 0x83, 0xe0],
                scope: 2))
        let want: [AddressMessage] = [
            AddressMessage(
                index: 1, address: .init(ip: try ip("127.0.0.1"), prefixBits: 8, isPermanent: true)),
            AddressMessage(
                index: 2, address: .init(ip: try ip("192.168.1.20"), prefixBits: 24, isPermanent: true)),
            AddressMessage(
                index: 2,
                address: .init(
                    ip: try ip("10.9.0.1"), prefixBits: 32, peer: try ip("10.9.0.2"), isPermanent: true)),
            AddressMessage(index: 1, address: .init(ip: try ip("::1"), prefixBits: 128, isPermanent: true)),
            AddressMessage(
                index: 2, address: .init(ip: try ip("fd00::20"), prefixBits: 64, isPermanent: true)),
            AddressMessage(
                index: 2, address: .init(ip: linkLocal, prefixBits: 64, isTentative: true, isPermanent: true)),
        ]
        #expect(found == want)
    }

    @Test("recorded routes")
    func recordedRoutes() throws {
        let bytes = try #require(Hex.decode(Self.routes))
        let found = NetlinkMessage.all(in: bytes).compactMap { RouteMessage($0.body) }
        // The third is of type "local": no way out of the machine.
        #expect(
            found == [
                RouteMessage(
                    table: 254, destinationBits: 0, metric: 50, outputs: [2],
                    gateways: [2: try #require(IPAddress("192.168.1.1"))]),
                RouteMessage(
                    table: 254, destinationBits: 32, host: IPAddress("10.9.0.2"), metric: 0,
                    outputs: [2]),
            ])
    }

    struct FlagRow: Sendable {
        var flags: UInt32
        var family: UInt8
        var want: @Sendable (inout InterfaceAddress) -> Void
    }

    @Test(
        "address flags, 32 bits of them",
        arguments: [
            FlagRow(flags: 0x01, family: 2) { _ in },  // IPv4 secondary
            FlagRow(flags: 0x01, family: 10) { $0.isTemporary = true },
            FlagRow(flags: 0x08, family: 10) { $0.isFailed = true },
            FlagRow(flags: 0x20, family: 10) { $0.isDeprecated = true },
            FlagRow(flags: 0x40, family: 10) { $0.isTentative = true },
            FlagRow(flags: 0x44, family: 10) { _ in },  // optimistic
            FlagRow(flags: 0x80, family: 2) { $0.isPermanent = true },
            FlagRow(flags: 0x100, family: 10) { _ in },  // manages temporary ones
            FlagRow(flags: 0x800, family: 10) { $0.isStablePrivacy = true },
            FlagRow(flags: 0x8A1, family: 10) {
                $0.isTemporary = true
                $0.isDeprecated = true
                $0.isPermanent = true
                $0.isStablePrivacy = true
            },
        ])
    func flags(_ row: FlagRow) throws {
        let bytes: [UInt8] =
            row.family == 2 ? [192, 0, 2, 1] : [0x20, 1, 0xd, 0xb8] + [UInt8](repeating: 7, count: 12)
        var want = InterfaceAddress(ip: try #require(IPAddress(bytes: bytes)), prefixBits: 24)
        row.want(&want)
        let body = addressBody(family: row.family, bits: 24, index: 4, address: bytes, flags: row.flags)
        #expect(AddressMessage(body[...])?.address == want)
        // Without IFA_FLAGS the header's eight bits serve.
        if row.flags < 0x100 {
            let short = addressBody(
                family: row.family, bits: 24, index: 4, address: bytes, lowFlags: UInt8(row.flags))
            #expect(AddressMessage(short[...])?.address == want)
        }
    }

    @Test(
        "addresses that make no sense are left out",
        arguments: [
            addressBody(family: 2, bits: 33, index: 4, address: [1, 2, 3, 4]),
            addressBody(family: 10, bits: 129, index: 4, address: [UInt8](repeating: 1, count: 16)),
            addressBody(family: 2, bits: 24, index: 0, address: [1, 2, 3, 4]),
            addressBody(family: 2, bits: 24, index: 4, address: [1, 2, 3]),
            addressBody(family: 2, bits: 24, index: 4),
            addressBody(family: 7, bits: 24, index: 4, address: [1, 2, 3, 4]),
        ])
    func nonsense(_ body: [UInt8]) { #expect(AddressMessage(body[...]) == nil) }

    @Test("a link with everything")
    func link() throws {
        let body = linkBody(index: 9, type: 0xFFFE, flags: 0x10D1, name: "wg0", kind: "wireguard", master: 3)
        let link = try #require(LinkMessage(body[...]))
        #expect(link.index == 9 && link.name == "wg0" && link.hardwareType == 0xFFFE)
        #expect(link.infoKind == "wireguard" && link.master == 3)
        #expect(link.isUp && link.isRunning && link.isPointToPoint && !link.isLoopback)
        let plain = try #require(
            LinkMessage(linkBody(index: 1, type: 772, flags: 0x8, name: "lo", master: 0)[...]))
        #expect(plain.isLoopback && !plain.isUp && plain.infoKind == nil && plain.master == nil)
        #expect(LinkMessage(linkBody(index: 0, name: "x")[...]) == nil)
        #expect(LinkMessage(linkBody(index: 1, name: "")[...]) == nil)
    }

    @Test("routes: where they lead, and which lead nowhere")
    func route() {
        #expect(
            RouteMessage(routeBody(output: 3, metric: 100, longTable: 51820)[...])
                == RouteMessage(table: 51820, destinationBits: 0, metric: 100, outputs: [3]))
        #expect(RouteMessage(routeBody(hops: [(4, 0), (5, 1), (6, 0)])[...])?.outputs == [4, 6])
        #expect(RouteMessage(routeBody(type: 7, output: 3)[...]) == nil, "unreachable")
        #expect(RouteMessage(routeBody(type: 6)[...]) == nil, "blackhole")
        #expect(RouteMessage(routeBody(flags: 1, output: 3)[...]) == nil, "its link is down")
        #expect(RouteMessage(routeBody(family: 10, output: 3)[...]) == nil)
        #expect(RouteMessage(routeBody(output: 3)[...], family: RouteMessage.familyV6) == nil)
        #expect(
            RouteMessage(routeBody(family: 10, output: 3, metric: 1024)[...], family: RouteMessage.familyV6)
                == RouteMessage(table: 254, destinationBits: 0, metric: 1024, outputs: [3]))
    }

    @Test("cut or overwritten anywhere, nothing traps and lengths stay in bounds")
    func fuzz() {
        let bodies = [
            linkBody(index: 9, name: "wg0", kind: "wireguard", master: 3),
            addressBody(
                family: 2, bits: 24, index: 4, address: [1, 2, 3, 4], local: [1, 2, 3, 5], flags: 0x80),
            routeBody(output: 3, metric: 100, longTable: 51820, hops: [(4, 0), (5, 0)]),
        ]
        func tryAll(_ bytes: [UInt8]) {
            for message in NetlinkMessage.all(in: bytes) {
                _ = LinkMessage(message.body)
                _ = AddressMessage(message.body)
                _ = RouteMessage(message.body)
                _ = RouteMessage(message.body, family: RouteMessage.familyV6)
                _ = message.errorNumber
            }
        }
        let whole = datagram([(16, bodies[0]), (20, bodies[1]), (24, bodies[2])])
        for body in bodies {
            for count in 0...body.count {
                _ = LinkMessage(body.prefix(count))
                _ = AddressMessage(body.prefix(count))
                _ = RouteMessage(body.prefix(count))
            }
        }
        var state: UInt64 = 42
        for _ in 0..<20_000 {
            var bytes = whole
            for _ in 0..<4 {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                bytes[Int(state >> 33) % bytes.count] =
                    [0, 1, 3, 4, 0x7F, 0x80, 0xFF, UInt8(state >> 56)][Int(state >> 50 & 7)]
            }
            tryAll(Array(bytes.prefix(Int(state >> 20) % (bytes.count + 1))))
            tryAll(bytes)
        }
    }
}
