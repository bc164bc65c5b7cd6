// SPDX-License-Identifier: Apache-2.0

import Testing
import Wire

@testable import NetFacts

@Suite("Netlink messages")
struct NetlinkMessageTests {
    @Test("a request is what the kernel expects, byte for byte")
    func request() {
        let body: [UInt8] =
            [2, 32] + [UInt8](repeating: 0, count: 10) + NetlinkMessage.attribute(1, [1, 1, 1, 1])
        let bytes = NetlinkMessage.request(26, flags: 1, sequence: 5, body: body)
        #expect(
            Hex.encode(bytes)
                == "240000001a0001000500000000000000" + "022000000000000000000000" + "0800010001010101")
    }

    @Test("messages of one datagram are told apart, padding left out")
    func several() {
        let bytes = datagram([(16, [1, 2, 3, 4, 5]), (2, []), (3, [0, 0, 0, 0])])
        let messages = NetlinkMessage.all(in: bytes)
        #expect(messages.map(\.type) == [16, 2, 3])
        #expect(messages.map { Array($0.body) } == [[1, 2, 3, 4, 5], [], [0, 0, 0, 0]])
        #expect(messages.allSatisfy { $0.sequence == 7 && $0.flags == 2 })
    }

    @Test("a datagram cut anywhere gives only what is whole")
    func truncated() {
        let bytes = datagram([(16, [1, 2, 3, 4]), (20, [5, 6, 7, 8])])
        for count in 0..<bytes.count {
            let messages = NetlinkMessage.all(in: Array(bytes.prefix(count)))
            #expect(messages.count == count / 20)
        }
    }

    @Test("lengths that lie end the list", arguments: [0, 1, 15, 21, 0x7FFF_FFFF, 0xFFFF_FFFF] as [UInt32])
    func lying(_ length: UInt32) {
        var bytes = datagram([(16, [1, 2, 3, 4])])
        bytes.replaceSubrange(0..<4, with: little(length))
        #expect(NetlinkMessage.all(in: bytes).isEmpty)
    }

    @Test("attributes: nested mark, padding, first of two, and what does not fit")
    func attributes() {
        let bytes =
            NetlinkMessage.attribute(3, Array("eth0\0".utf8))
            + NetlinkMessage.attribute(10 | 0xC000, little(UInt32(7)))
            + NetlinkMessage.attribute(3, Array("late\0".utf8)) + [9, 0, 5, 0, 1]
        let attributes = NetlinkAttributes(bytes[...])
        #expect(attributes.text(3) == "eth0")
        #expect(attributes.number32(10) == 7)
        #expect(attributes[5] == nil && attributes[4] == nil)
        #expect(attributes.number32(3) != nil && NetlinkAttributes([3, 0, 1, 0]).number32(1) == nil)
    }

    @Test(
        "an error names its number, an acknowledgement has none of it",
        arguments: [
            (-101, 101), (0, 0), (Int32.min, nil), (-1, 1),
        ] as [(Int32, Int32?)])
    func errors(_ row: (Int32, Int32?)) throws {
        let message = try #require(NetlinkMessage.all(in: datagram([(2, little(row.0))])).first)
        #expect(message.errorNumber == row.1)
    }
}
