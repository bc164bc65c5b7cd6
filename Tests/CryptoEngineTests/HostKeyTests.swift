// SPDX-License-Identifier: Apache-2.0

import CryptoEngine
import Testing
import Wire

/// Key A: the P-256 sample key of RFC 6979 section A.2.5, with the vectors of file 01 sections 5.6 and 6.5.
enum KeyA {
    static let scalar = "c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721"
    static let point =
        "0460fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6"
        + "7903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299"
    static let fingerprint = "5a7a78cca4a0f420d9bc62bb669c3c2759e39f723d3ae10dcbe0f0815a07ecd4"
    static let certificate =
        "308201333081daa00302010202103f0102030405060708090a0b0c0d0e0f300a06082a8648ce3d040302301b311930170603"
        + "5504030c10303132333435363738396162636465663020170d3236303130313030303030305a180f39393939313233313233"
        + "353935395a301b3119301706035504030c10303132333435363738396162636465663059301306072a8648ce3d020106082a"
        + "8648ce3d0301070342000460fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb67903fe1008b8bc"
        + "99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299300a06082a8648ce3d040302034800304502202a0cf442722f"
        + "a434b27fe82f1765e96508dbe86dafd48010dd9e06c78b77864f022100cac66bbe8af94b79f5b346edde5c1ce770366bc64e"
        + "f9f68e4a4d1b11bb80f6c5"
    static let info =
        "eyJ2IjoxLCJtYWNJRCI6IkI5WDdISzU0TTNUMjFQRFciLCJuYW1lIjoiTWFjIG1pbmkiLCJpc3N1ZWRBdCI6MTc5MDI2NTYwMC41LCJyZW"
        + "1vdGVBY2Nlc3MiOnRydWUsInJlbW90ZVBvcnQiOjc0NTUsImludGVybmV0IjpmYWxzZSwiYWRkcmVzc2VzIjpbeyJob3N0IjoibWFj"
        + "LW1pbmkudGFpbDEyMzQudHMubmV0Iiwia2luZCI6InZwbiIsInZpYSI6IlRhaWxzY2FsZSJ9LHsiaG9zdCI6IjEwMC4xMDEuMTAyLjE"
        + "wMyIsImtpbmQiOiJ2cG4iLCJ2aWEiOiJUYWlsc2NhbGUifSx7Imhvc3QiOiJmZDdhOjExNWM6YTFlMDo6MTIzNCIsImtpbmQiOiJ2cG"
        + "4iLCJ2aWEiOiJUYWlsc2NhbGUifSx7Imhvc3QiOiIxOTIuMTY4LjEuMjAiLCJraW5kIjoibGFuIiwidmlhIjoiV2nigJFGaSJ9XX0="
    static let signature =
        "MEUCIQDZG64U47EPcOFYTBMxRt/cf4So4U797Mr+ZyjJ+orJAAIgevJU/6IWj3kqZYBiz7WeM44qHc9ANcJ7j9eK6NJ6T1w="

    static func key() throws -> HostKey { try HostKey(scalar: #require(Hex.decode(scalar))) }
}

@Suite struct HostKeyTests {
    @Test func keyAHasItsPointAndFingerprint() throws {
        let key = try KeyA.key()
        #expect(Hex.encode(key.point) == KeyA.point)
        #expect(Hex.encode(key.fingerprint.bytes) == KeyA.fingerprint)
        #expect(key.spki.count == 91)
        #expect(key.spki.suffix(65).elementsEqual(key.point))
    }

    @Test func certificateIsTheVectorsUpToItsSignature() throws {
        let key = try KeyA.key()
        let vector = try #require(Hex.decode(KeyA.certificate))
        let serial = try #require(Hex.decode("3f0102030405060708090a0b0c0d0e0f"))
        let made = try key.certificate(serial: serial, commonName: "0123456789abcdef")
        #expect(vector.count == 311)
        #expect(made[4..<225] == vector[4..<225])
        #expect((300...312).contains(made.count))
        #expect(try PublicKey(certificateDER: made).fingerprint == key.fingerprint)
        #expect(try PublicKey(certificateDER: vector).fingerprint == key.fingerprint)
    }

    /// The signature follows the TBS, its algorithm (12 bytes) and the BIT STRING's tag, length and zero (3 bytes).
    @Test func certificateIsSignedByItself() throws {
        let key = try HostKey.generate()
        let made = try key.certificate()
        let verifier = try PublicKey(point: key.point)
        #expect(verifier.verify(signature: Array(made[240...]), of: Array(made[4..<225])))
    }

    @Test func everyCertificateIsNewAndItsSerialPositive() throws {
        let key = try HostKey.generate()
        var serials: Set<[UInt8]> = []
        for _ in 0..<50 {
            let made = try key.certificate()
            #expect(Array(made[4..<7]) == [0x30, 0x81, 0xDA])
            let serial = Array(made[14..<30])
            #expect(serial[0] & 0x81 == 0x01)
            serials.insert(serial)
        }
        #expect(serials.count == 50)
    }

    @Test func signatureVectorOfHostInfoVerifies() throws {
        let info = try #require(Base64.decode(KeyA.info))
        let signature = try #require(Base64.decode(KeyA.signature))
        let key = try PublicKey(point: KeyA.key().point)
        #expect(info.count == 386)
        #expect(
            Hex.encode(Digest.sha256(info))
                == "5029cd7f11f478b9232b317938512a79e74292fa08d0fadedc1c92b2e4fc8b97")
        #expect(key.verify(signature: signature, of: info))
        #expect(!key.verify(signature: signature, of: info + [0x20]))
        #expect(!key.verify(signature: signature.dropLast(), of: info))
        #expect(!key.verify(signature: [], of: info))
    }

    @Test func signaturesVerifyFromManyThreads() async throws {
        let key = try HostKey.generate()
        let verifier = try PublicKey(point: key.point)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<64 {
                group.addTask {
                    let message = [UInt8(number)]
                    return try verifier.verify(signature: key.sign(message), of: message)
                        && verifier.verify(signature: key.sign(digest: Digest.sha256(message)), of: message)
                }
            }
            for try await verified in group { #expect(verified) }
        }
    }

    @Test func pemKeepsTheKey() throws {
        for key in [try HostKey.generate(), try KeyA.key()] {
            let pem = try key.pkcs8PEM()
            #expect(String(decoding: pem, as: UTF8.self).hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
            let read = try HostKey(pkcs8PEM: pem)
            #expect(read.fingerprint == key.fingerprint)
            #expect(try read.pkcs8PEM() == pem)
        }
    }

    static let otherKeys: [(pem: String, code: CryptoError.Code)] = [
        ("", .badKey), ("no key at all", .badKey),
        ("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", .badKey),
        // Ed25519, of RFC 8410 section 10.3.
        (
            "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n"
                + "-----END PRIVATE KEY-----\n", .notP256
        ),
        // Encrypted: nobody is asked for a passphrase.
        (
            "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIGjMF8GCSqGSIb3DQEFDTBSMDEGCSqGSIb3DQEFDDAkBBDNzn9Rc+3lzZ2H\n"
                + "-----END ENCRYPTED PRIVATE KEY-----\n", .badKey
        ),
    ]

    @Test(arguments: otherKeys.indices)
    func otherPEMsAreRefused(row: Int) {
        #expect(throws: CryptoError.self) { try HostKey(pkcs8PEM: Array(Self.otherKeys[row].pem.utf8)) }
        do { _ = try HostKey(pkcs8PEM: Array(Self.otherKeys[row].pem.utf8)) } catch {
            #expect(error.code == Self.otherKeys[row].code)
        }
    }

    @Test(arguments: [
        "", "00", String(repeating: "00", count: 32), String(repeating: "ff", count: 32),
        // The order of the group itself.
        "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551",
    ])
    func numbersThatAreNoKey(scalar: String) throws {
        let bytes = try #require(Hex.decode(scalar))
        #expect(throws: CryptoError.self) { try HostKey(scalar: bytes) }
    }

    @Test func pointsOffTheCurveAreRefused() throws {
        var point = try KeyA.key().point
        point[64] ^= 1
        #expect(throws: CryptoError.self) { try PublicKey(point: point) }
        #expect(throws: CryptoError.self) { try PublicKey(point: []) }
        #expect(throws: CryptoError.self) { try PublicKey(point: [0x02] + point[1...32]) }
        #expect(throws: CryptoError.self) { try PublicKey(certificateDER: [0x30, 0x00]) }
    }
}
