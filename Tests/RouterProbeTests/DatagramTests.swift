// SPDX-License-Identifier: Apache-2.0

import Policy
import Testing
import Wire

@testable import RouterProbe

@Suite("Datagrams of NAT-PMP, PCP and STUN")
struct DatagramTests {
    static func natpmp(
        _ version: UInt8 = 0, _ operation: UInt8 = 128, _ result: UInt16 = 0,
        _ address: [UInt8]? = [11, 22, 33, 44]
    )
        -> [UInt8]
    {
        [version, operation, UInt8(result >> 8), UInt8(result & 0xFF), 0, 0, 0, 9] + (address ?? [])
    }

    @Test(
        "NAT-PMP's answers",
        arguments: [
            (natpmp(), .answered(ip("11.22.33.44"))), (natpmp(0, 128, 0, [0, 0, 0, 0]), .withheld),
            (natpmp(0, 128, 3, nil), .withheld), (natpmp(0, 128, 3, [0, 0, 0, 0]), .withheld),
            // An address beside an error is an answer.
            (natpmp(0, 128, 3, [10, 0, 0, 2]), .answered(ip("10.0.0.2"))), (natpmp(0, 128, 2, nil), .refused),
            (natpmp(0, 128, 4, nil), .withheld), (natpmp(0, 128, 5, nil), .unsupported),
            (natpmp(0, 128, 1, nil), .unsupported),
            (natpmp(2, 128, 0), .unsupported), (natpmp(0, 0, 5, nil), .unsupported),
            (natpmp(0, 129, 0, [0, 0, 0, 0]), nil),
            // Cut short, and an answer to another question.
            (Array(natpmp().prefix(11)), nil), ([0, 128], nil), ([], nil),
            (natpmp(0, 130, 0, [0, 0, 0, 0, 0, 0, 0, 0]), nil),
        ] as [([UInt8], NATPMPAnswer?)])
    func answers(_ bytes: [UInt8], _ expected: NATPMPAnswer?) {
        #expect(NATPMPDatagram(bytes)?.addressAnswer == expected)
    }

    @Test(
        "announcements",
        arguments: [
            (natpmp(), true), (natpmp(0, 128, 3), true), (natpmp(0, 129), false), (natpmp(2), false),
            (natpmp() + [0], false), ([], false),
        ])
    func announcements(_ bytes: [UInt8], _ expected: Bool) {
        #expect(GatewayAnnouncements.isAnnouncement(bytes) == expected)
    }

    @Test("PCP")
    func pcp() {
        #expect(
            PCPAnnounce.request(from: ip("192.168.1.5"))
                == [2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 192, 168, 1, 5])
        let answer: [UInt8] = [2, 0x80] + [UInt8](repeating: 0, count: 22)
        #expect(PCPAnnounce.isAnswer(answer))
        #expect(!PCPAnnounce.isAnswer(Array(answer.prefix(20))))
        #expect(!PCPAnnounce.isAnswer([0] + answer.dropFirst()))
        #expect(!PCPAnnounce.isAnswer([2, 0] + answer.dropFirst(2)))
        #expect(!PCPAnnounce.isAnswer([]))
    }

    static let transaction = [UInt8](1...12)

    static func stun(
        kind: [UInt8] = [1, 1], transaction: [UInt8] = transaction, attributes: [UInt8]
    ) -> [UInt8] {
        kind + [UInt8(attributes.count >> 8), UInt8(attributes.count & 0xFF), 0x21, 0x12, 0xA4, 0x42]
            + transaction
            + attributes
    }

    /// 203.0.113.9 crossed with the cookie.
    static let mapped: [UInt8] = [
        0, 0x20, 0, 8, 0, 1, 0x12, 0x34, 203 ^ 0x21, 0 ^ 0x12, 113 ^ 0xA4, 9 ^ 0x42,
    ]
    static let software: [UInt8] = [0x80, 0x22, 0, 3, 0x61, 0x62, 0x63, 0]

    @Test(
        "STUN's answers",
        arguments: [
            (stun(attributes: mapped), true), (stun(attributes: software + mapped), true),
            (stun(attributes: mapped + software), true), (stun(kind: [1, 0x11], attributes: mapped), false),
            (stun(transaction: [UInt8](2...13), attributes: mapped), false),
            (stun(attributes: software), false),
            (stun(attributes: [0, 0x20, 0, 20, 0, 2] + [UInt8](repeating: 0, count: 18)), false),
            (Array(stun(attributes: mapped).dropLast(4)), false),
            (stun(attributes: [0, 0x20, 0xFF, 0xFF]), false),
            (stun(attributes: []), false), ([], false),
        ])
    func binding(_ bytes: [UInt8], _ isFound: Bool) {
        #expect(
            STUNBinding.address(in: bytes, transaction: Self.transaction)
                == (isFound ? ip("203.0.113.9") : nil))
    }

    /// Nobody is seen there, whatever a server says; what carriers and homes have is seen from within.
    @Test(
        "STUN's addresses",
        arguments: [
            ("0.0.0.0", false), ("127.0.0.1", false), ("169.254.1.2", false), ("224.0.0.1", false),
            ("255.255.255.255", false), ("10.1.2.3", true), ("100.64.0.1", true), ("223.255.255.255", true),
        ])
    func seen(_ text: String, _ isFound: Bool) {
        let crossed = zip(ip(text).bytes, [0x21, 0x12, 0xA4, 0x42] as [UInt8]).map { $0 ^ $1 }
        let bytes = Self.stun(attributes: [0, 0x20, 0, 8, 0, 1, 0x12, 0x34] + crossed)
        let found = STUNBinding.address(in: bytes, transaction: Self.transaction)
        #expect(found == (isFound ? ip(text) : nil))
    }

    @Test("STUN's question")
    func question() {
        let request = STUNBinding.request(Self.transaction)
        #expect(request == [0, 1, 0, 0, 0x21, 0x12, 0xA4, 0x42] + Self.transaction)
    }

    @Test(
        "servers as they are set",
        arguments: [
            ("stun.example.net:3479", "stun.example.net", 3479),
            ("stun.example.net", "stun.example.net", 3478),
            ("192.0.2.1:19302", "192.0.2.1", 19302),
        ])
    func servers(_ text: String, _ name: String, _ port: UInt16) {
        #expect(STUNServer(text)?.name == name)
        #expect(STUNServer(text)?.port == port)
        #expect(STUNServer("not a server") == nil)
    }

    @Test("no bytes break them")
    func hostile() {
        let sound = [
            Self.natpmp(), Self.stun(attributes: Self.software + Self.mapped),
            [2, 0x80] + [UInt8](repeating: 0, count: 22),
        ]
        for bytes in broken(sound, count: 6000, seed: 4) {
            _ = NATPMPDatagram(bytes)?.addressAnswer
            _ = PCPAnnounce.isAnswer(bytes)
            _ = STUNBinding.address(in: bytes, transaction: Self.transaction)
            _ = GatewayAnnouncements.isAnnouncement(bytes)
        }
    }
}
