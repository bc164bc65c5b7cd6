// SPDX-License-Identifier: Apache-2.0

import CryptoEngine
import Testing
import Wire

@Suite("AES-256-GCM")
struct SealTests {
    private static func hex(_ text: String) throws -> [UInt8] { try #require(Hex.decode(text)) }

    /// Test case 16 of McGrew and Viega, "The Galois/Counter Mode of Operation": 20 bytes in the clear, 60 sealed.
    @Test("the published vector")
    func vector() throws {
        let key = try Self.hex("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308")
        let nonce = try Self.hex("cafebabefacedbaddecaf888")
        let clear = try Self.hex("feedfacedeadbeeffeedfacedeadbeefabaddad2")
        let plain = try Self.hex(
            "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
                + "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39")
        let sealed = try Self.hex(
            "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
                + "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662"
                + "76fc6ece0f4e1768cddf8853bb2d551b")
        var bytes = clear + plain
        try Seal.close(&bytes, after: clear.count, key: key, nonce: nonce)
        #expect(bytes == clear + sealed)
        #expect(try Seal.open(&bytes, after: clear.count, key: key, nonce: nonce))
        #expect(bytes == clear + plain)
    }

    @Test("nothing at all can be sealed", arguments: [0, 5])
    func empty(_ clear: Int) throws {
        let key = [UInt8](repeating: 1, count: 32)
        let nonce = [UInt8](repeating: 2, count: 12)
        let before = [UInt8](repeating: 3, count: clear)
        var bytes = before
        try Seal.close(&bytes, after: clear, key: key, nonce: nonce)
        #expect(bytes.count == clear + Seal.tagSize)
        #expect(try Seal.open(&bytes, after: clear, key: key, nonce: nonce) && bytes == before)
    }

    @Test("another key, nonce, or any changed or missing byte opens nothing")
    func changed() throws {
        let key = [UInt8](repeating: 1, count: 32)
        let nonce = [UInt8](repeating: 2, count: 12)
        let plain = Array("head".utf8) + Array(0...99)
        var sealed = plain
        try Seal.close(&sealed, after: 4, key: key, nonce: nonce)
        func opens(_ bytes: [UInt8], _ key: [UInt8], _ nonce: [UInt8]) throws -> Bool {
            var bytes = bytes
            let isOpen = try Seal.open(&bytes, after: 4, key: key, nonce: nonce)
            // Nothing that was not proven is left to read.
            #expect(isOpen ? bytes == plain : bytes.count <= max(4, Seal.tagSize + 3))
            return isOpen
        }
        #expect(try opens(sealed, key, nonce))
        #expect(try !opens(sealed, [9] + key.dropFirst(), nonce))
        #expect(try !opens(sealed, key, [9] + nonce.dropFirst()))
        for index in sealed.indices {
            var other = sealed
            other[index] ^= 1
            #expect(try !opens(other, key, nonce))
        }
        for count in [0, 3, 4, 19, 20, sealed.count - 1] {
            #expect(try !opens(Array(sealed.prefix(count)), key, nonce))
        }
        #expect(try !opens(sealed + [0], key, nonce))
        #expect(throws: CryptoError.self) { try opens(sealed, Array(key.dropLast()), nonce) }
        #expect(throws: CryptoError.self) { try opens(sealed, key, nonce + [0]) }
    }
}
