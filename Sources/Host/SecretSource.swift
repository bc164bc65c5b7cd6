internal import Core
internal import CryptoEngine
internal import Wire

/// Fresh secrets for pairing windows; the core itself draws nothing.
enum SecretSource {
    /// An ID, a link secret of 16 bytes and a code (spec 02 §2.1, §6.1). Throws when the system has no randomness.
    static func window() throws(CryptoError) -> WindowEntropy {
        WindowEntropy(
            id: Base64URL.encode(try Entropy.bytes(9)), secret: try Entropy.bytes(16),
            code: TypedCode.make(randomDigits: try Entropy.digits(11)))
    }

    /// Stretches a typed code (spec 02 §4.1): about 0.1 s, so never on a thread that serves.
    static func codeKey(_ code: String, host: Fingerprint) throws(CryptoError) -> [UInt8] {
        try Digest.pbkdf2SHA256(
            password: Array(code.utf8), salt: ProofText.codeSalt(fpMac: host), rounds: ProofText.codeRounds,
            length: 32)
    }
}
