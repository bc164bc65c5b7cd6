// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
package import Wire

/// Somebody else's P-256 key, for checking what they signed.
package struct PublicKey: Sendable {
    private let handle: KeyHandle
    /// The uncompressed point: 04, X, Y; 65 bytes.
    package let point: [UInt8]
    /// SHA-256 of the key's SubjectPublicKeyInfo.
    package let fingerprint: Fingerprint

    /// Reads an uncompressed point. Throws `badKey` for another form or length, or when it is not on the curve.
    package init(point: [UInt8]) throws(CryptoError) {
        guard point.count == SubjectPublicKeyInfo.pointSize, point[0] == 0x04 else {
            throw CryptoError(.badKey, "a P-256 point is 04 and 64 bytes")
        }
        ErrorQueue.clear()
        let spki = SubjectPublicKeyInfo.prefix + point
        let raw = unsafe spki.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            return unsafe d2i_PUBKEY(nil, &cursor, buffer.count)
        }
        guard let raw = unsafe raw else { throw .failed("d2i_PUBKEY", .badKey) }
        handle = try unsafe KeyHandle(owning: raw)
        guard let fingerprint = SubjectPublicKeyInfo.fingerprint(ofPoint: point) else {
            throw CryptoError(.openssl, "SHA-256 is not available")
        }
        self.point = point
        self.fingerprint = fingerprint
    }

    /// Takes the key of a certificate, of which nothing else is looked at. Throws `badKey` for what is no certificate,
    /// `notP256` for one with another key.
    package init(certificateDER: [UInt8]) throws(CryptoError) {
        ErrorQueue.clear()
        let certificate = unsafe certificateDER.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            return unsafe d2i_X509(nil, &cursor, buffer.count)
        }
        guard let certificate = unsafe certificate else { throw .failed("d2i_X509", .badKey) }
        let point = unsafe SubjectPublicKeyInfo.point(ofX509: certificate)
        unsafe X509_free(certificate)
        ErrorQueue.clear()
        guard let point else { throw CryptoError(.notP256, "the certificate's key is not on P-256") }
        try self.init(point: point)
    }

    /// Whether `signature` (DER ECDSA) is this key's over the SHA-256 of `message`.
    package func verify(signature: [UInt8], of message: [UInt8]) -> Bool {
        ErrorQueue.clear()
        defer { ErrorQueue.clear() }
        let digest = Digest.sha256(message)
        guard digest.count == Digest.size,
            let context = unsafe handle.withRaw({ key in unsafe EVP_PKEY_CTX_new_from_pkey(nil, key, nil) })
        else { return false }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        guard unsafe EVP_PKEY_verify_init(context) == 1 else { return false }
        return unsafe signature.withUnsafeBufferPointer { signed in
            unsafe digest.withUnsafeBufferPointer { input in
                unsafe EVP_PKEY_verify(
                    context, signed.baseAddress, signed.count, input.baseAddress, input.count)
            }
        } == 1
    }
}
