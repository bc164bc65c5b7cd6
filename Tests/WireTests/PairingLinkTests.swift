// SPDX-License-Identifier: Apache-2.0

import Testing
import Wire

@Suite struct PairingLinkTests {
    // File 02 §3.4.
    private static let long =
        "sill://pair?v=1&m=B9X7HK54M3T21PDW&k=Wnp4zKSg9CDZvGK7Zpw8J1njn3I9OuENy-DwgVoH7NQ&s=AAECAwQFBgcICQoLDA0ODw"
        + "&n=Tom%20%26%20Jerry%E2%80%99s%20Mac%3Dmini%3F&p=7455&a=mac-mini.tail1234.ts.net&a=100.101.102.103"
        + "&a=%5Bfd7a:115c:a1e0::1234%5D&a=192.168.1.20&a=home.example.net:17455"
    private static let short =
        "sill://pair?v=1&m=B9X7HK54M3T21PDW&k=Wnp4zKSg9CDZvGK7Zpw8J1njn3I9OuENy-DwgVoH7NQ&s=AAECAwQFBgcICQoLDA0ODw"
        + "&n=Mac%20mini&p=7455"
    private static let m = "m=B9X7HK54M3T21PDW"
    private static let k = "k=Wnp4zKSg9CDZvGK7Zpw8J1njn3I9OuENy-DwgVoH7NQ"
    private static let s = "s=AAECAwQFBgcICQoLDA0ODw"

    private static func keyA() throws -> Fingerprint {
        try #require(Fingerprint(base64url: "Wnp4zKSg9CDZvGK7Zpw8J1njn3I9OuENy-DwgVoH7NQ"))
    }

    @Test func vectors() throws {
        let addresses = [
            DialAddress(host: .name("mac-mini.tail1234.ts.net")), DialAddress(host: .ipv4("100.101.102.103")),
            DialAddress(host: .ipv6("fd7a:115c:a1e0::1234")), DialAddress(host: .ipv4("192.168.1.20")),
            DialAddress(host: .name("home.example.net"), port: 17455),
        ]
        let link = PairingLink(
            fingerprint: try Self.keyA(), secret: Array(0...15), name: "Tom & Jerry\u{2019}s Mac=mini?",
            port: 7455,
            addresses: addresses)
        #expect(link.text == Self.long)
        #expect(link.text.utf8.count == 272)
        #expect(try PairingLink.parse(Self.long) == link)
        #expect(link.hostID.text == "B9X7HK54M3T21PDW")
        #expect(link.addresses == addresses)

        let small = PairingLink(
            fingerprint: try Self.keyA(), secret: Array(0...15), name: "Mac mini", port: 7455, addresses: [])
        #expect(small.text == Self.short)
        #expect(small.text.utf8.count == 125)
        #expect(try PairingLink.parse(Self.short) == small)
    }

    private static let base = "v=1&\(m)&\(k)&\(s)&p=7455"

    @Test(arguments: [
        "sill://pair?\(base)", "SILL://PAIR?\(base)", " \n\u{A0}sill://pair?\(base)\r\n",
        "sill://pair/?\(base)",
        "sill://user:pw@pair:99/?\(base)#frag?ment", "sill://pair:?\(base)", "sill://pair?&&\(base)&&",
        "sill://pair?\(base)&x=1&x=2&X&V=2&M=x", "sill://pair?p=7455&\(s)&\(k)&\(m)&v=1",
        "sill://pair?%76=%31&\(m)&\(k)&\(s)&p=07455",
        "sill://pair?\(base)&n=", "sill://pair?\(base)&n", "sill://pair?\(base)&n=%E2%80%AE%20&n=Other",
        "sill://pair?\(base)&n=Mac", "sill://pair?\(base)&n=Mac&n=Other", "sill://pair?\(base)&%FF=1",
    ])
    func tolerates(text: String) throws {
        let link = PairingLink(
            fingerprint: try Self.keyA(), secret: Array(0...15), name: "", port: 7455, addresses: [])
        #expect(link.name == "Mac")
        #expect(try PairingLink.parse(text) == link)
    }

    @Test(
        arguments: [
            // 1: no link at all.
            ("", .notALink), ("sill", .notALink), ("sill:pair?\(base)", .notALink),
            ("sill:/pair?\(base)", .notALink),
            ("http://pair?\(base)", .notALink), ("sill://pairs?\(base)", .notALink),
            ("sill://pair", .notALink),
            ("sill://pair/", .notALink), ("sill://pair#?\(base)", .notALink),
            ("sill://pair/x?\(base)", .notALink),
            ("sill://pair//?\(base)", .notALink), ("sill://?\(base)", .notALink),
            ("sill://x@?\(base)", .notALink),
            ("sill://pair:x?\(base)", .notALink), ("xsill://pair?\(base)", .notALink),
            ("sill://x/pair?\(base)", .notALink),
            // 2: version, before everything else.
            ("sill://pair?", .version), ("sill://pair?v", .version), ("sill://pair?v=", .version),
            ("sill://pair?v=2", .version),
            ("sill://pair?v=01", .version), ("sill://pair?v=1&v=1", .version), ("sill://pair?V=1", .version),
            ("sill://pair?v=+1", .version), ("sill://pair?\(base)&v=2", .version),
            ("sill://pair?v==1", .version),
            // 3 to 6: fields in order.
            ("sill://pair?v=1", .field("m")), ("sill://pair?v=1&m=", .field("m")),
            ("sill://pair?v=1&\(m)&\(m)", .field("m")),
            ("sill://pair?v=1&m=b9x7hk54m3t21pdw", .field("m")),
            ("sill://pair?v=1&m=B9X7HK54M3T21PD", .field("m")),
            ("sill://pair?v=1&m=B9X7HK54M3T21PDI", .field("m")), ("sill://pair?v=1&\(m)", .field("k")),
            ("sill://pair?v=1&\(m)&k", .field("k")), ("sill://pair?v=1&\(m)&\(k)=", .field("k")),
            ("sill://pair?v=1&\(m)&\(k)&\(k)", .field("k")),
            ("sill://pair?v=1&\(m)&k=Wnp4zKSg9CDZvGK7Zpw8J1njn3I9OuENy-DwgVoH7NR", .field("k")),
            ("sill://pair?v=1&\(m)&k=AAAA", .field("k")), ("sill://pair?v=1&\(m)&\(k)", .field("s")),
            ("sill://pair?v=1&\(m)&\(k)&s=AAECAwQFBgcICQoLDA0OD", .field("s")),
            ("sill://pair?v=1&\(m)&\(k)&s=AAECAwQFBgcICQoLDA0ODx", .field("s")),
            ("sill://pair?v=1&\(m)&\(k)&s=AAECAwQFBgcICQoLDA0O", .field("s")),
            ("sill://pair?v=1&\(m)&\(k)&\(s)&\(s)", .field("s")),
            ("sill://pair?v=1&\(m)&\(k)&\(s)", .field("p")),
            ("sill://pair?v=1&\(m)&\(k)&\(s)&p=0", .field("p")),
            ("sill://pair?v=1&\(m)&\(k)&\(s)&p=65536", .field("p")),
            ("sill://pair?v=1&\(m)&\(k)&\(s)&p=007455", .field("p")),
            ("sill://pair?v=1&\(m)&\(k)&\(s)&p=+7455", .field("p")),
            ("sill://pair?v=1&\(m)&\(k)&\(s)&p=7455&p=7455", .field("p")),
            ("sill://pair?v=1&\(m)&\(k)&\(s)&p=%EF%BC%97", .field("p")),
            ("sill://pair?v=1&m=A3C5HR4RBV67YR21&\(k)&\(s)&p=0", .field("p")),
            // 7: before any address.
            ("sill://pair?v=1&m=A3C5HR4RBV67YR21&\(k)&\(s)&p=7455&a=%25", .macIDMismatch),
            // 8: the first bad one, also beyond the fifth.
            ("sill://pair?\(base)&a", .address("", .empty)), ("sill://pair?\(base)&a=", .address("", .empty)),
            ("sill://pair?\(base)&a=1.2.3", .address("1.2.3", .ipv4)),
            ("sill://pair?\(base)&a=fe80::1%25en0", .address("fe80::1%en0", .zone)),
            ("sill://pair?\(base)&a=ok&a=a%20b&a=1.2.3", .address("a b", .malformed)),
            ("sill://pair?\(base)&a=a&a=b&a=c&a=d&a=e&a=host:0", .address("host:0", .port)),
            ("sill://pair?\(base)&a=sill:x", .address("sill:x", .pairingLink)),
            ("sill://pair?\(base)&a=a+b", .address("a+b", .name)),
        ] as [(String, LinkProblem)])
    func refuses(text: String, problem: LinkProblem) {
        #expect(throws: problem) { try PairingLink.parse(text) }
    }

    @Test func anItemIsSplitAtItsFirstEqualsSign() throws {
        #expect(try PairingLink.parse("sill://pair?\(Self.base)&n=a=b").name == "a=b")
    }

    @Test func fiveAddressesAreKept() throws {
        let link = try PairingLink.parse("sill://pair?\(Self.base)&a=a&a=b&a=c&a=d&a=e&a=f")
        #expect(link.addresses.map(\.text) == ["a", "b", "c", "d", "e"])
        let many = (0..<9).map { DialAddress(host: .name("h\($0)")) }
        let built = PairingLink(
            fingerprint: try Self.keyA(), secret: Array(0...15), name: "x", port: 1, addresses: many)
        #expect(built.text.split(separator: "&a=").count == 6)
    }

    @Test func namesAreCleanedAndPlusIsAPlus() throws {
        let link = try PairingLink.parse("sill://pair?\(Self.base)&n=a+b%0A%09c%E2%80%AE")
        #expect(link.name == "a+b c")
        let longName = String(repeating: "ä", count: 100)
        let built = PairingLink(
            fingerprint: try Self.keyA(), secret: Array(0...15), name: longName, port: 1, addresses: [])
        #expect(built.name.count == 64)
        #expect(try PairingLink.parse(built.text) == built)
    }

    @Test func noiseNeverTraps() {
        var generator = SeededGenerator(seed: 11)
        let bytes = Array(Self.long.utf8)
        for _ in 0..<10_000 {
            var changed = bytes
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let index = Int.random(in: 0..<changed.count, using: &generator)
                if Bool.random(using: &generator) {
                    changed[index] = UInt8.random(in: 0...127, using: &generator)
                } else {
                    changed.removeSubrange(index...)
                    if changed.isEmpty { changed = bytes }
                }
            }
            guard let link = try? PairingLink.parse(String(decoding: changed, as: UTF8.self)) else {
                continue
            }
            #expect((try? PairingLink.parse(link.text)) == link)
        }
    }
}
