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

    /// Whether the text of a record's `r` names the host whose recognition key `hmac` uses. Anything malformed names
    /// nobody; every byte is compared whatever the others are.
    package static func names(_ text: String, hmac: ([UInt8]) -> [UInt8]) -> Bool {
        guard let tag = Base64URL.decode(text), tag.count == prefixLength + checkLength else { return false }
        let code = hmac(ProofText.tag(prefix: Array(tag.prefix(prefixLength))))
        guard code.count >= checkLength else { return false }
        return zip(tag.suffix(checkLength), code).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    private static let checkLength = 6
}
