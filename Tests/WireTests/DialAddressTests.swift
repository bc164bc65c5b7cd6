// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import Wire

@Suite struct DialAddressTests {
    /// File 02 §9.4, then more of each rule.
    @Test(
        arguments: [
            (" 100.1.1.1 ", DialAddress(host: .ipv4("100.1.1.1")), "100.1.1.1"),
            (
                "100.101.102.103:7455", DialAddress(host: .ipv4("100.101.102.103"), port: 7455),
                "100.101.102.103:7455"
            ),
            (
                "[fd7a:115c:a1e0::1234]:7455", DialAddress(host: .ipv6("fd7a:115c:a1e0::1234"), port: 7455),
                "[fd7a:115c:a1e0::1234]:7455"
            ),
            ("fd7a::1:7455", DialAddress(host: .ipv6("fd7a::1:7455")), "[fd7a::1:7455]"),
            ("::ffff:1.2.3.4", DialAddress(host: .ipv4("1.2.3.4")), "1.2.3.4"),
            (
                "mac-mini.tail1234.ts.net", DialAddress(host: .name("mac-mini.tail1234.ts.net")),
                "mac-mini.tail1234.ts.net"
            ),
            (
                "home.example.net:17455", DialAddress(host: .name("home.example.net"), port: 17455),
                "home.example.net:17455"
            ),
            ("localhost", DialAddress(host: .name("localhost")), "localhost"),
            ("\n\u{3000}Home.Example.\u{2028}", DialAddress(host: .name("Home.Example.")), "Home.Example."),
            ("[::FFFF:1.2.3.4]:80", DialAddress(host: .ipv4("1.2.3.4"), port: 80), "1.2.3.4:80"),
            ("FE80::0:1", DialAddress(host: .ipv6("fe80::1")), "[fe80::1]"),
            ("host:00080", DialAddress(host: .name("host"), port: 80), "host:80"),
            ("1a.2.3.4", DialAddress(host: .name("1a.2.3.4")), "1a.2.3.4"),
            ("0x", DialAddress(host: .name("0x")), "0x"),
            ("08.0x1", DialAddress(host: .name("08.0x1")), "08.0x1"),
            ("0x1.2.3.4.", DialAddress(host: .name("0x1.2.3.4.")), "0x1.2.3.4."),
            ("0x1.2.3.4.5", DialAddress(host: .name("0x1.2.3.4.5")), "0x1.2.3.4.5"),
            ("0x100.1.1.1", DialAddress(host: .name("0x100.1.1.1")), "0x100.1.1.1"),
            ("0.0.0.0", DialAddress(host: .ipv4("0.0.0.0")), "0.0.0.0"),
            ("[::1]", DialAddress(host: .ipv6("::1")), "[::1]"),
        ] as [(String, DialAddress, String)])
    func reads(typed: String, address: DialAddress, text: String) throws {
        let parsed = try DialAddress.parse(typed)
        #expect(parsed == address)
        #expect(parsed.text == text)
        #expect(try DialAddress.parse(parsed.text) == parsed)
    }

    @Test(
        arguments: [
            ("", .empty), ("   ", .empty), ("\n\u{A0}\u{3000}", .empty), ("100.1 .1.1", .malformed),
            ("a\u{A0}b", .malformed),
            ("a\u{0}b", .malformed), ("a\u{7F}b", .malformed), ("a\u{2028}b", .malformed),
            ("sill://pair?v=1", .pairingLink),
            ("SILL:x", .pairingLink), (" sIlL: ", .pairingLink), ("sill: %", .pairingLink),
            ("[1.2.3.4]", .ipv6),
            ("fe80::1%en0", .zone), ("[fe80::1%3]:5", .zone), ("a%20b", .zone), ("%", .zone),
            ("a %", .malformed),
            ("1.2.3", .ipv4), ("0x64.0x65.1.2", .ipv4), ("256.1.1.1", .ipv4), ("01.2.3.4", .ipv4),
            ("1.2.3.4.", .ipv4),
            ("1.2.3.4.5", .ipv4), ("1", .ipv4), ("100.1", .ipv4), ("1.", .ipv4), ("4294967296", .ipv4),
            ("0x1", .ipv4),
            ("0Xffffffff", .ipv4), ("017.0x1", .ipv4), ("1.0xFFFFFF", .ipv4), ("1.2.0xffff", .ipv4),
            ("1.2.3.0xff", .ipv4),
            ("1.2.3.1000", .ipv4), ("99999999999999999999", .ipv4), ("1.2.3:80", .ipv4), ("1.2.3:x", .ipv4),
            ("-bad.example", .name), ("bad-.example", .name), ("a..b", .name), (".", .name), ("a..", .name),
            (".a", .name),
            ("a_b", .name), ("ä.example", .name), ("a/b", .name), ("a@b", .name), ("a]", .name),
            ("１.2.3.4", .name),
            ("1..2", .name), (String(repeating: "a", count: 64), .name), ("-x:0", .name), ("host?", .name),
            ("..", .name),
            ("host:0", .port), ("host:65536", .port), ("host:", .port), ("host:000080", .port),
            ("host:+1", .port),
            ("host:８０", .port), ("[::1]:", .port), ("[::1]:x", .port), ("1.2.3.4:99999", .port),
            (":7455", .malformed), (":", .malformed), ("[::1]x", .malformed), ("[::1]]", .malformed),
            ("[x]y", .malformed),
            ("[", .ipv6), ("[]", .ipv6), ("[::1", .ipv6), ("[x]:5", .ipv6), ("[x]:", .ipv6), ("a:b:c", .ipv6),
            ("::", nil),
            ("::g", .ipv6), ("1:2:3:4:5:6:7:8:9", .ipv6), ("::1]", .ipv6), (":::", .ipv6),
            ("host:80:90", .ipv6),
        ] as [(String, AddressProblem?)])
    func refuses(typed: String, problem: AddressProblem?) {
        do {
            _ = try DialAddress.parse(typed)
            #expect(problem == nil)
        } catch {
            #expect(error == problem)
        }
    }

    @Test func nameLengths() throws {
        let label = String(repeating: "a", count: 63)
        let longest = [label, label, label, String(repeating: "b", count: 61)].joined(separator: ".")
        #expect(longest.utf8.count == 253)
        #expect(try DialAddress.parse(longest).host == .name(longest))
        #expect(try DialAddress.parse(longest + ".").host == .name(longest + "."))
        #expect(throws: AddressProblem.name) { try DialAddress.parse(longest + "b") }
    }

    /// Whatever the system would read as an IPv4 address is one of ours, or is refused: never a name.
    @Test func noNameIsAnAddressForTheSystem() {
        var generator = SeededGenerator(seed: 9)
        var lenient = 0
        for _ in 0..<20_000 {
            let text = generator.text(of: "0012789xXaf..", upTo: 14)
            guard !text.isEmpty else { continue }
            var out = in_addr()
            let isAddress = unsafe inet_aton(text, &out) != 0
            let isAllDigits = text.split(separator: ".", omittingEmptySubsequences: false)
                .allSatisfy { $0.allSatisfy(\.isNumber) }
            switch Result(catching: { () throws(AddressProblem) in try DialAddress.parse(text) }) {
            case .success(let address):
                let isName = if case .name = address.host { true } else { false }
                check(isName != isAddress, text)
            case .failure(let problem):
                check(problem == .ipv4 ? isAddress || isAllDigits : problem == .name && !isAddress, text)
                if problem == .ipv4 { lenient += 1 }
            }
        }
        #expect(lenient > 40)
    }

    @Test func noiseNeverTraps() {
        var generator = SeededGenerator(seed: 10)
        for _ in 0..<20_000 {
            let text = generator.text(of: "[]:%.019afxsil -\u{A0}ä\n", upTo: 20)
            guard let address = try? DialAddress.parse(text) else { continue }
            check((try? DialAddress.parse(address.text)) == address, text)
        }
    }

    @Test func hostTextHasNoBrackets() throws {
        #expect(try DialAddress.parse("[fd7a::1]:80").hostText == "fd7a::1")
        #expect(try DialAddress.parse("1.2.3.4:80").hostText == "1.2.3.4")
    }
}
