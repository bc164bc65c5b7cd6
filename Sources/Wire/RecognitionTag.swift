// SPDX-License-Identifier: Apache-2.0

/// The record's `r`: by it a paired device knows a saved host on a network whatever name the host goes by (file 02 §11).
/// A hint, never authentication.
package enum RecognitionTag {
    /// Random bytes at its front, fresh at every registration.
    package static let prefixLength = 6

    /// The text of `r`. `hmac` is HMAC-SHA256 under the host's recognition key.
    package static func text(prefix: [UInt8], hmac: ([UInt8]) -> [UInt8]) -> String {
        Base64URL.encode(prefix + hmac(ProofText.tag(prefix: prefix)).prefix(checkLength))
    }

    private static let checkLength = 6
}
