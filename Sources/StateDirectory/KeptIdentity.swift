// SPDX-License-Identifier: Apache-2.0

package import CryptoEngine
internal import Policy
package import Wire

/// Who the host is: its key and what was made with it. Another one after a rotation, never a changed one.
package struct KeptIdentity: Sendable {
    /// The private key.
    package let key: HostKey
    /// When it was made.
    package let createdAt: WallTime
    /// 32 bytes that paired devices recognise the host by (02 section 11).
    package let recognitionKey: SecretBytes

    init(key: HostKey, stored: StoredIdentity) {
        self.key = key
        createdAt = stored.createdAt
        recognitionKey = SecretBytes(stored.recognitionKey)
    }
}
