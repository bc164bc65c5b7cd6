// SPDX-License-Identifier: Apache-2.0

import Testing
import Wire

@Suite struct FingerprintTests {
    static let keyA = "5a7a78cca4a0f420d9bc62bb669c3c2759e39f723d3ae10dcbe0f0815a07ecd4"

    /// File 01 §5.6 and file 02 §4.3.
    @Test(arguments: [
        (String(repeating: "00", count: 32), "0000000000000000"),
        (String(repeating: "ff", count: 32), "ZZZZZZZZZZZZZZZZ"),
        ("50d858e0985ecc7f6041" + String(repeating: "00", count: 22), "A3C5HR4RBV67YR21"),
        (keyA, "B9X7HK54M3T21PDW"),
        ("348a629f5ceed032c3e8706ec47d9bfafb00fb4250b018dd965435ca50cb836e", "6J5657TWXV835GZ8"),
    ])
    func hostIDs(hex: String, id: String) throws {
        let bytes = try #require(Hex.decode(hex))
        let fingerprint = try #require(Fingerprint(bytes: bytes))
        #expect(fingerprint.bytes == bytes)
        #expect(fingerprint.id.text == id)
        #expect(fingerprint.id == SillID(id))
        #expect(fingerprint.shortName == String(id.prefix(6)))
        #expect(Fingerprint(base64url: fingerprint.base64url) == fingerprint)
    }

    @Test func keyAText() throws {
        let bytes = try #require(Hex.decode(Self.keyA))
        let fingerprint = try #require(Fingerprint(bytes: bytes))
        #expect(fingerprint.base64url == "Wnp4zKSg9CDZvGK7Zpw8J1njn3I9OuENy-DwgVoH7NQ")
        #expect(fingerprint.shortName == "B9X7HK")
    }

    @Test(arguments: [0, 1, 31, 33, 64])
    func refusesOtherLengths(count: Int) {
        #expect(Fingerprint(bytes: [UInt8](repeating: 1, count: count)) == nil)
        #expect(Fingerprint(base64url: Base64URL.encode([UInt8](repeating: 1, count: count))) == nil)
    }

    /// The reader of bytes takes exactly what the general base64url reader takes, when that gives 32 bytes.
    @Test(arguments: [0, 1, 2, 4, 5, 9, 10, 11, 20, 21, 31, 41, 42])
    func oneCharacterChanged(at index: Int) throws {
        let good = Array("Wnp4zKSg9CDZvGK7Zpw8J1njn3I9OuENy-DwgVoH7NQ".utf8)
        for byte in UInt8.min...UInt8.max {
            var text = good
            text[index] = byte
            let expected = Base64URL.decode(String(decoding: text, as: UTF8.self)).flatMap {
                Fingerprint(bytes: $0)
            }
            #expect(Self.read(text) == expected)
        }
        #expect(Self.read(good + good.prefix(1)) == nil)
        #expect(Self.read(Array(good.dropLast())) == nil)
        #expect(Self.read([]) == nil)
    }

    private static func read(_ text: [UInt8]) -> Fingerprint? { Fingerprint(base64url: text.span) }

    @Test func everyByteCounts() throws {
        let base = [UInt8](repeating: 7, count: 32)
        let fingerprint = try #require(Fingerprint(bytes: base))
        for index in 0..<32 {
            var other = base
            other[index] ^= 1
            #expect(Fingerprint(bytes: other) != fingerprint)
        }
    }
}
