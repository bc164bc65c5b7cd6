// SPDX-License-Identifier: Apache-2.0

import Policy
import Testing
import Wire

@testable import Core
@testable import Doors

@Suite("PROXY header")
struct ProxyHeaderTests {
    static func view(remote: String, local: String?, paired: Bool = true) throws -> SessionView {
        let key = try #require(Fingerprint(bytes: Array(0..<32)))
        return SessionView(
            id: SessionID(text: "s1"), fingerprint: key, device: DeviceRef(id: key.id, name: "iPad \"A\""),
            door: .home, origin: .lan, cable: false, route: "on this network", away: false, paired: paired,
            mode: .relay, startedAt: WallTime(milliseconds: 0), remote: try #require(SocketAddress(remote)),
            local: try local.map { try #require(SocketAddress($0)) }, counters: SessionCounters(),
            connection: ConnectionID(owner: 0, serial: 1))
    }

    /// Everything between the addresses and the JSON, the same in every header.
    static let middle =
        "01 0006 73696c6c2f31"  // ALPN sill/1
        + "05 0002 7331"  // UNIQUE_ID s1
        + "02 0004 73696c6c"  // AUTHORITY sill
        + "20 000f 07 00000000 21 0007 544c5376312e33"  // SSL: flags 7, verify 0, version TLSv1.3

    static func hex(_ text: String) throws -> [UInt8] {
        try #require(Hex.decode(text.replacing(" ", with: "")))
    }

    @Test("IPv4, byte for byte")
    func ipv4() throws {
        let view = try Self.view(remote: "192.168.1.23:50000", local: "192.168.1.20:7455")
        let json = Array(
            """
            {"session":"s1","device":"\(view.fingerprint?.id.text ?? "")","name":"iPad \\"A\\"",\
            "fingerprint":"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8","door":"home","origin":"lan",\
            "cable":false,"route":"on this network","away":false,"paired":true}
            """.utf8)
        let addresses = try Self.hex("c0a80117 c0a80114 c350 1d1f")
        let middle = try Self.hex(Self.middle)
        let length = UInt16(addresses.count + middle.count + 3 + json.count)
        let start = try Self.hex("0d0a0d0a000d0a515549540a 21 11")
        let head = start + [UInt8(length >> 8), UInt8(length & 255)]
        let last = [0xE0, UInt8(json.count >> 8), UInt8(json.count & 255)] + json
        #expect(ProxyHeader.encode(view) == head + addresses + middle + last)
    }

    @Test("IPv6, and an IPv4 end beside an IPv6 one is mapped")
    func ipv6() throws {
        let both = try Self.view(remote: "[2001:db8::1]:1", local: "[2001:db8::2]:2")
        let bytes = ProxyHeader.encode(both)
        #expect(bytes[13] == 0x21)
        let wanted = try Self.hex(
            "20010db8000000000000000000000001 20010db8000000000000000000000002 0001 0002")
        #expect(Array(bytes[16..<52]) == wanted)
        let mixed = ProxyHeader.encode(try Self.view(remote: "[2001:db8::1]:1", local: "10.0.0.1:2"))
        #expect(mixed[13] == 0x21)
        #expect(Array(mixed[32..<48]) == (try Self.hex("00000000000000000000ffff0a000001")))
    }

    @Test("an unpaired session has neither device nor name, and a missing local address counts as port 0")
    func unpaired() throws {
        let view = try Self.view(remote: "10.0.0.9:9", local: nil, paired: false)
        let json = String(decoding: ProxyHeader.json(view), as: UTF8.self)
        #expect(json.hasPrefix("{\"session\":\"s1\",\"device\":null,\"name\":null,\"fingerprint\":\"AAEC"))
        #expect(json.hasSuffix("\"paired\":false}"))
        let bytes = ProxyHeader.encode(view)
        #expect(Array(bytes[16..<28]) == (try Self.hex("0a000009 0a000009 0009 0000")))
    }
}
