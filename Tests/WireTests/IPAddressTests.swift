// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import Wire

@Suite struct IPAddressTests {
    @Test(arguments: [
        ("1.2.3.4", "1.2.3.4"), ("0.0.0.0", "0.0.0.0"), ("255.255.255.255", "255.255.255.255"), ("::", "::"),
        ("::1", "::1"), ("[::1]", "::1"), ("FE80::A", "fe80::a"), ("fe80::1%en0", "fe80::1"),
        ("fe80::1%awdl0.52397", "fe80::1"), ("[fe80::1%3]", "fe80::1"), ("::ffff:1.2.3.4", "1.2.3.4"),
        ("::FFFF:102:304", "1.2.3.4"), ("0:0:0:0:0:ffff:1.2.3.4", "1.2.3.4"), ("::1.2.3.4", "::1.2.3.4"),
        ("::1:2", "::0.1.0.2"), ("1:0:0:2:0:0:0:3", "1:0:0:2::3"), ("1:0:0:2:3:0:0:4", "1::2:3:0:0:4"),
        ("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"), ("::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"),
        ("[1.2.3.4]", "1.2.3.4"),
        ("fd7a:115c:a1e0:0000::1234", "fd7a:115c:a1e0::1234"), ("64:ff9b::1.2.3.4", "64:ff9b::102:304"),
    ])
    func reads(text: String, shown: String) {
        #expect(IPAddress(text)?.description == shown)
    }

    @Test(arguments: [
        "", "1", "1.2.3", "1.2.3.4.5", "1.2.3.256", "01.2.3.4", "1.2.3.4 ", " 1.2.3.4", "1.2.3.", "1..3.4",
        "0x1.2.3.4",
        ":", ":::", "1:::2", "1::2::3", "::1:", ":1::", "12345::", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9",
        "1::2:3:4:5:6:7:8", "::1.2.3", "::1.2.3.4:5", "1:2:3:4:5:6:7:1.2.3.4", "[::1", "::1]", "[]",
        "[[::1]]", "%1",
        "fe80::1%", "::g", "host", "１.2.3.4", "[::1]:5", "fe80::1%99999999999",
    ])
    func refuses(text: String) {
        #expect(IPAddress(text) == nil)
    }

    @Test func agreesWithTheSystem() {
        var generator = SeededGenerator(seed: 1)
        var accepted = 0
        for round in 0..<20_000 {
            let text =
                round % 2 == 0
                ? generator.text(of: "0012fF:::.", upTo: 24) : generator.text(of: "0125..", upTo: 12)
            var raw = [UInt8](repeating: 0, count: 16)
            let isV4 = unsafe inet_pton(AF_INET, text, &raw) == 1
            let isV6 = unsafe !isV4 && inet_pton(AF_INET6, text, &raw) == 1
            let address = IPAddress(text)
            check((address != nil) == (isV4 || isV6), text)
            guard let address, isV4 || isV6 else { continue }
            accepted += 1
            check(address == IPAddress(bytes: Array(raw.prefix(isV4 ? 4 : 16))), text)
        }
        #expect(accepted > 200)
    }

    @Test func writesAsTheSystemDoes() {
        var generator = SeededGenerator(seed: 2)
        for _ in 0..<20_000 {
            let bytes = (0..<8).flatMap { _ -> [UInt8] in
                Bool.random(using: &generator)
                    ? [0, 0]
                    : [
                        UInt8.random(in: 0...255, using: &generator),
                        UInt8.random(in: 0...255, using: &generator),
                    ]
            }
            guard let address = IPAddress(bytes: bytes), address.family == .v6 else { continue }
            var out = [CChar](repeating: 0, count: 64)
            unsafe inet_ntop(AF_INET6, bytes, &out, 64)
            let shown = out.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
            check(address.description == String(decoding: shown, as: UTF8.self), Hex.encode(bytes))
            check(address.bytes == bytes, Hex.encode(bytes))
            check(IPAddress(address.description) == address, Hex.encode(bytes))
        }
    }

    @Test func mappedIsIPv4FromTheStart() throws {
        let mapped = try #require(
            IPAddress(bytes: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 192, 168, 1, 20], scope: 4))
        #expect(mapped == IPAddress("192.168.1.20"))
        #expect(mapped.family == .v4)
        #expect(mapped.bytes == [192, 168, 1, 20])
        #expect(mapped.scope == 0)
        // Only behind 80 zero bits.
        #expect(IPAddress("2001:db8::ffff:192.168.1.20")?.family == .v6)
        #expect(IPAddress("::fffe:192.168.1.20")?.family == .v6)
    }

    @Test(arguments: [0, 1, 3, 5, 15, 17])
    func otherByteCountsAreNoAddress(count: Int) {
        #expect(IPAddress(bytes: [UInt8](repeating: 1, count: count)) == nil)
    }

    @Test func scopes() throws {
        let scoped = try #require(IPAddress("fe80::1%3"))
        #expect(scoped.scope == 3)
        #expect(scoped != IPAddress("fe80::1"))
        #expect(scoped.unscoped == IPAddress("fe80::1"))
        #expect(IPAddress("fe80::1%en0") == IPAddress("fe80::1"))
        #expect(IPAddress("fe80:4::1")?.unscoped == IPAddress("fe80::1"))
        #expect(IPAddress("febf:4:5::1")?.unscoped == IPAddress("febf:0:5::1"))
        #expect(IPAddress("fec0:4::1")?.unscoped == IPAddress("fec0:4::1"))
        #expect(IPAddress("192.168.1.1")?.unscoped == IPAddress("192.168.1.1"))
    }

    @Test(
        arguments: [
            ("[fe80::1%en0]:52397", "en0"), ("fe80::1%br-lan", "br-lan"),
            ("[fe80::1%enp3s0.10]", "enp3s0.10"),
            ("fe80::1%16", "16"), ("fe80::1%", nil), ("[fe80::1%]:5", nil), ("192.168.1.20", nil), ("", nil),
        ] as [(String, String?)])
    func zones(text: String, zone: String?) {
        #expect(IPAddress.zone(in: text) == zone)
    }

    /// File 03 §3.1: first and last address of each range, and their neighbours.
    @Test(arguments: [
        ("127.0.0.0", "loopback"), ("127.255.255.255", "loopback"), ("126.255.255.255", ""),
        ("128.0.0.0", ""),
        ("::1", "loopback"), ("::2", ""), ("::", "unspecified"), ("0.0.0.0", "unspecified"),
        ("::ffff:0.0.0.0", "unspecified"),
        ("0.0.0.1", ""), ("::ffff:127.0.0.1", "loopback"),
        ("169.254.0.0", "link"), ("169.254.255.255", "link"), ("169.253.255.255", ""), ("169.255.0.0", ""),
        ("fe80::", "link"), ("febf:ffff::", "link"), ("fe7f::", ""), ("fec0::", ""),
        ("10.0.0.0", "private"), ("10.255.255.255", "private"), ("9.255.255.255", ""), ("11.0.0.0", ""),
        ("172.16.0.0", "private"), ("172.31.255.255", "private"), ("172.15.255.255", ""), ("172.32.0.0", ""),
        ("192.168.0.0", "private"), ("192.168.255.255", "private"), ("192.167.255.255", ""),
        ("192.169.0.0", ""),
        ("fc00::", "private"), ("fdff:ffff::", "private"), ("fbff::", ""), ("fe00::", ""),
        ("100.64.0.0", "carrier"), ("100.127.255.255", "carrier"), ("100.63.255.255", ""),
        ("100.128.0.0", ""),
        ("8.8.8.8", ""), ("2001:db8::1", ""),
    ])
    func ranges(text: String, range: String) throws {
        let address = try #require(IPAddress(text))
        #expect(address.isLoopback == (range == "loopback"))
        #expect(address.isLinkLocal == (range == "link"))
        #expect(address.isPrivate == (range == "private"))
        #expect(address.isCarrier == (range == "carrier"))
        #expect(address.isUnspecified == (range == "unspecified"))
    }

    @Test(arguments: [
        ("192.168.1.20", "192.168.1.0", 24, true), ("192.168.2.20", "192.168.1.0", 24, false),
        ("192.168.1.20", "192.168.1.20", 32, true), ("192.168.1.21", "192.168.1.20", 32, false),
        ("8.8.8.8", "0.0.0.0", 0, true), ("8.8.8.8", "8.8.8.8", 33, false), ("8.8.8.8", "8.8.8.8", -1, false),
        ("8.8.8.8", "::", 0, false), ("::1", "0.0.0.0", 0, false), ("2001:db8::1", "2001:db8::", 64, true),
        ("2001:db8::1", "2001:db8::", 128, false), ("2001:db8::1", "2001:db8::", 127, true),
        ("2001:db8::1", "2001:db8::", 0, true),
        ("2001:db8::1", "2001:db8::1", 128, true), ("2001:db8::1", "2001:db8::1", 129, false),
        ("2001:db8:0:1::1", "2001:db8::", 63, true), ("2001:db8:0:1::1", "2001:db8::", 64, false),
        ("fe80::1%3", "fe80::%4", 64, true), ("10.1.2.3", "10.1.2.2", 32, false),
        ("10.1.2.3", "10.1.2.2", 31, true),
        ("10.1.2.3", "10.1.2.2", 30, true),
    ])
    func insideAPrefix(text: String, prefix: String, bits: Int, isInside: Bool) throws {
        let network = try #require(IPAddress(prefix))
        #expect(try #require(IPAddress(text)).isInside(prefix: network, bits: bits) == isInside)
    }
}
