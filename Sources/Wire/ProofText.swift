// SPDX-License-Identifier: Apache-2.0

/// The bytes that go into the hashes of pairing (file 02 §4 and §11). Frozen for generation 1.
package enum ProofText {
    /// What the device's proof covers.
    package static func device(fpDevice: Fingerprint, fpMac: Fingerprint) -> [UInt8] {
        Array("sill-pair-v1 device".utf8) + [0] + fpDevice.bytes + fpMac.bytes
    }

    /// What the host's proof covers: another label, and the fingerprints the other way round.
    package static func mac(fpDevice: Fingerprint, fpMac: Fingerprint) -> [UInt8] {
        Array("sill-pair-v1 mac".utf8) + [0] + fpMac.bytes + fpDevice.bytes
    }

    /// The salt that stretches a typed code, bound to the host it is typed for.
    package static func codeSalt(fpMac: Fingerprint) -> [UInt8] {
        Array("sill-pair-v1".utf8) + fpMac.bytes
    }

    /// Rounds of PBKDF2-HMAC-SHA256 over a typed code.
    package static let codeRounds = 600_000

    /// What the recognition key is applied to, for a DNS-SD record with this random prefix.
    package static func tag(prefix: [UInt8]) -> [UInt8] {
        Array("sill-tag-v1".utf8) + prefix
    }
}
