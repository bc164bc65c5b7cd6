// SPDX-License-Identifier: Apache-2.0

import Testing
import Wire

@Suite struct Base64Tests {
    @Test(arguments: [
        ("", ""), ("AAAA", "000000"), ("AQ", "01"), ("_-8", "ffef"), ("-_-_", "fbffbf"), ("AAE", "0001"),
        (
            "Wnp4zKSg9CDZvGK7Zpw8J1njn3I9OuENy-DwgVoH7NQ",
            "5a7a78cca4a0f420d9bc62bb669c3c2759e39f723d3ae10dcbe0f0815a07ecd4"
        ),
        ("AAECAwQFBgcICQoLDA0ODw", "000102030405060708090a0b0c0d0e0f"),
        ("oaKjpKWmL4V47Ctm", "a1a2a3a4a5a62f8578ec2b66"),
        ("ERERERERERERERERERERERERERERERERERERERERERE", String(repeating: "11", count: 32)),
    ])
    func bothWays(text: String, hex: String) throws {
        let bytes = try #require(Hex.decode(hex))
        #expect(Base64URL.decode(text) == bytes)
        #expect(Base64URL.encode(bytes) == text)
    }

    @Test(arguments: [
        "AR", "ab+c", "ab/c", "AAAA=", "A", "AAAAA", "AA==", "AA AA", "AAAA\n", " AAAA", "AAÄA", "AA\u{0}A",
        "AAB",
        "====", "=",
    ])
    func refuses(text: String) {
        #expect(Base64URL.decode(text) == nil)
    }

    @Test(arguments: [
        ("", ""), ("AQ==", "01"), ("AAE=", "0001"), ("AAAA", "000000"), ("/+8=", "ffef"),
    ])
    func standardBothWays(text: String, hex: String) throws {
        let bytes = try #require(Hex.decode(hex))
        #expect(Base64.decode(text) == bytes)
        #expect(Base64.encode(bytes) == text)
    }

    @Test(arguments: [
        "AQ", "AQ=", "AQ===", "AR==", "AAF=", "A===", "====", "AA=A", "=AAA", "AAAA====", "_-8=", "AQ==AAAA",
        "AAAA\n", "AA\r\nAA", "AA A",
    ])
    func standardRefuses(text: String) {
        #expect(Base64.decode(text) == nil)
    }

    @Test(arguments: 0..<70)
    func everyLengthComesBack(count: Int) {
        var generator = SeededGenerator(seed: UInt64(count))
        let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
        #expect(Base64URL.decode(Base64URL.encode(bytes)) == bytes)
        #expect(Base64.decode(Base64.encode(bytes)) == bytes)
        #expect(Hex.decode(Hex.encode(bytes)) == bytes)
        #expect(Base64URL.encode(bytes).utf8.count == (count * 8 + 5) / 6)
    }

    @Test func onlyOneTextStandsForBytes() {
        // All two-character texts: what decodes encodes back to itself.
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        var decoded = 0
        for first in alphabet {
            for second in alphabet {
                let text = String([first, second])
                guard let bytes = Base64URL.decode(text) else { continue }
                decoded += 1
                #expect(Base64URL.encode(bytes) == text)
            }
        }
        #expect(decoded == 256)
    }
}
