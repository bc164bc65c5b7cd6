// SPDX-License-Identifier: Apache-2.0

package import Wire

/// Whose database it is: the host's identity but for its private key.
package struct StoredIdentity: Sendable, Equatable, CustomStringConvertible {
    /// SHA-256 of the host key's SubjectPublicKeyInfo.
    package var fingerprint: Fingerprint
    /// 32 random bytes (02 §11). A secret: never printed.
    package var recognitionKey: [UInt8]
    /// When the key was made.
    package var createdAt: WallTime

    /// An identity about to be committed.
    package init(fingerprint: Fingerprint, recognitionKey: [UInt8], createdAt: WallTime) {
        self.fingerprint = fingerprint
        self.recognitionKey = recognitionKey
        self.createdAt = createdAt
    }

    package var description: String { "<identity \(fingerprint.id.text)>" }
}
