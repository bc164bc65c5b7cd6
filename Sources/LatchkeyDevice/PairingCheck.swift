// SPDX-License-Identifier: Apache-2.0

internal import CryptoEngine
internal import Wire

/// The proofs of one pairing connection: its two fingerprints and the key both sides drew from the code (02 section 4).
struct PairingProofs: Sendable {
    /// Of this device.
    let device: Fingerprint
    /// Of the host, as this connection's TLS showed it; never from a message. That is what defeats a relay.
    let host: Fingerprint
    /// The link's secret, or the typed code stretched.
    let key: SecretBytes

    /// What the device sends.
    var sent: String {
        Base64URL.encode(
            Digest.hmacSHA256(key: key.copy, message: ProofText.device(fpDevice: device, fpMac: host)))
    }

    /// What only a host that knows the code can answer.
    private var expected: [UInt8] {
        Digest.hmacSHA256(key: key.copy, message: ProofText.mac(fpDevice: device, fpMac: host))
    }

    /// Whether an ok comes from the host that showed the code (02 section 5.5): its proof, its ID, its recognition key,
    /// in this order. Returns what is to be saved of it, nil when any of the three fails: then nothing is saved.
    func accept(_ result: PairResult) -> AcceptedPairing? {
        guard result.ok, let proof = result.proof.flatMap({ Base64URL.decode($0) }),
            Digest.equal(proof, expected),
            result.macID == host.id.text,
            let recognition = result.recognitionKey.flatMap({ Base64URL.decode($0) }), recognition.count == 32
        else { return nil }
        return AcceptedPairing(name: result.name, recognitionKey: recognition)
    }
}

/// What a verified ok says about the host.
struct AcceptedPairing: Equatable, Sendable {
    /// Cleaned; "Mac" when the host gave none.
    let name: String
    /// 32 bytes.
    let recognitionKey: [UInt8]

    /// What was verified; the name is cleaned here.
    init(name: String?, recognitionKey: [UInt8]) {
        let cleaned = Label.clean(name ?? "")
        self.name = cleaned.isEmpty ? "Mac" : cleaned
        self.recognitionKey = recognitionKey
    }

    /// The ok to an ask that claimed the cable, in its one shape (02 section 8.3): method `cable`, no proof, the ID of
    /// this connection's key, a recognition key of 32 bytes. nil for any other.
    init?(overCable result: PairResult, host: Fingerprint) {
        guard result.ok, result.method == "cable", result.proof == nil, result.macID == host.id.text,
            let recognition = result.recognitionKey.flatMap({ Base64URL.decode($0) }), recognition.count == 32
        else { return nil }
        self.init(name: result.name, recognitionKey: recognition)
    }
}
