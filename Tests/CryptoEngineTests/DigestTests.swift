// SPDX-License-Identifier: Apache-2.0

import CryptoEngine
import Testing
import Wire

@Suite struct DigestTests {
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("mac", "348a629f5ceed032c3e8706ec47d9bfafb00fb4250b018dd965435ca50cb836e"),
        ("device", "263a4dbe41488fb87214b0032339dbb9f0c8da14c16dfcf13084bf3c2552eca5"),
    ])
    func hashes(text: String, hash: String) {
        #expect(Hex.encode(Digest.sha256(Array(text.utf8))) == hash)
    }

    /// RFC 4231 case 2, and no key and no message.
    @Test(arguments: [
        (
            "Jefe", "what do ya want for nothing?",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
        ("", "", "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"),
    ])
    func keyedHashes(key: String, message: String, hash: String) {
        #expect(Hex.encode(Digest.hmacSHA256(key: Array(key.utf8), message: Array(message.utf8))) == hash)
    }

    /// File 02 section 4.3.
    @Test func pairingProofs() throws {
        let mac = Digest.sha256(Array("mac".utf8))
        let device = Digest.sha256(Array("device".utf8))
        let code = try Digest.pbkdf2SHA256(
            password: Array("482913557208".utf8), salt: Array("sill-pair-v1".utf8) + mac, rounds: 600_000,
            length: 32)
        #expect(Hex.encode(code) == "e9baf879a1cc4ac8b21554df480b6c1621671319107c91e7cb05d154f649d31d")
        let deviceText = Array("sill-pair-v1 device\u{0}".utf8) + device + mac
        let macText = Array("sill-pair-v1 mac\u{0}".utf8) + mac + device
        let link = [UInt8](repeating: 0x22, count: 16)
        let proofs = [(code, deviceText), (code, macText), (link, deviceText), (link, macText)]
            .map { Hex.encode(Digest.hmacSHA256(key: $0, message: $1)) }
        #expect(
            proofs == [
                "764ecf663e2f1ec0318fefb5bbd560ede8529fc6b5b567344421b8e98a4554ef",
                "e81986582f574fc27c398f29861abd6c04a0a129e85a947105ea99b6f46b5a69",
                "03264026a3535399d2284687c7a45939fd0ae5d39eca047ff094ab095fe034ea",
                "5c05feb993ecabf031f1fbc8fec57b131d1af913a2d7dac8f855beca43e1f531",
            ])
    }

    /// RFC 7914 section 11, and nothing at all.
    @Test(arguments: [
        ("passwd", "salt", "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc"),
        ("", "", "f7ce0b653d2d72a4108cf5abe912ffdd777616dbbb27a70e8204f3ae2d0f6fad"),
    ])
    func derivedKeys(password: String, salt: String, key: String) throws {
        let derived = try Digest.pbkdf2SHA256(
            password: Array(password.utf8), salt: Array(salt.utf8), rounds: 1, length: 32)
        #expect(Hex.encode(derived) == key)
    }

    @Test func pbkdf2WantsRoundsAndLength() {
        #expect(throws: CryptoError.self) {
            try Digest.pbkdf2SHA256(password: [], salt: [], rounds: 0, length: 32)
        }
        #expect(throws: CryptoError.self) {
            try Digest.pbkdf2SHA256(password: [], salt: [], rounds: 1, length: 0)
        }
    }

    @Test(
        arguments: [
            ([1, 2], [1, 2], true), ([1, 2], [1, 3], false), ([1, 2], [1], false), ([], [], false),
        ] as [([UInt8], [UInt8], Bool)])
    func equality(a: [UInt8], b: [UInt8], expected: Bool) {
        #expect(Digest.equal(a, b) == expected)
        #expect(SecretBytes(a).equals(b) == expected)
    }

    @Test func secretsDoNotShow() {
        let secret = SecretBytes([1, 2, 3])
        #expect("\(secret)" == "<3 secret bytes>")
        #expect(String(reflecting: secret) == "<3 secret bytes>")
        #expect(secret.copy == [1, 2, 3])
        #expect(secret.withBytes { $0.count } == 3)
        #expect(SecretBytes([]).copy == [])
    }

    @Test func entropyHasTheLengthAndRangeAskedFor() throws {
        #expect(try Entropy.bytes(0) == [])
        #expect(try Entropy.bytes(32).count == 32)
        #expect(try Entropy.bytes(32) != Entropy.bytes(32))
        let digits = try Entropy.digits(5000)
        #expect(digits.count == 5000)
        #expect(Set(digits) == Set(0...9))
    }
}
