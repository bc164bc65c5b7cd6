// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
package import Wire

/// A P-256 private key: what a host or a device is (file 01 section 5). Usable from any thread at once.
package final class HostKey: Sendable {
    let handle: KeyHandle
    /// The public point, uncompressed: 04, X, Y; 65 bytes.
    package let point: [UInt8]
    /// The SubjectPublicKeyInfo, 91 bytes of DER.
    package let spki: [UInt8]
    /// SHA-256 of ``spki``.
    package let fingerprint: Fingerprint

    private init(_ handle: KeyHandle) throws(CryptoError) {
        let point = try handle.point()
        guard let fingerprint = SubjectPublicKeyInfo.fingerprint(ofPoint: point) else {
            throw CryptoError(.openssl, "SHA-256 is not available")
        }
        self.handle = handle
        self.point = point
        self.spki = SubjectPublicKeyInfo.prefix + point
        self.fingerprint = fingerprint
    }

    /// A new key. Throws `openssl` when there is no randomness or no P-256.
    package static func generate() throws(CryptoError) -> HostKey {
        ErrorQueue.clear()
        guard let context = unsafe EVP_PKEY_CTX_new_from_name(nil, "EC", nil) else {
            throw .failed("EVP_PKEY_CTX_new_from_name")
        }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        var raw: OpaquePointer?
        guard unsafe EVP_PKEY_keygen_init(context) == 1,
            unsafe EVP_PKEY_CTX_set_group_name(context, "P-256") == 1,
            unsafe EVP_PKEY_generate(context, &raw) == 1,
            let raw = unsafe raw
        else { throw .failed("EVP_PKEY_generate") }
        return try HostKey(unsafe KeyHandle(owning: raw))
    }

    /// Reads an unencrypted PEM private key. Throws `badKey` for what is no such thing or contradicts itself, `notP256`
    /// for a key of another kind.
    package convenience init(pkcs8PEM: [UInt8]) throws(CryptoError) {
        let handle = try Self.read(pem: pkcs8PEM)
        guard handle.isConsistent() else { throw CryptoError(.badKey, "the private key contradicts itself") }
        try self.init(handle)
    }

    /// The key with this private scalar (32 bytes, big-endian). Throws `badKey` for another length or for a number
    /// that is no key: zero, or not below the group's order.
    package convenience init(scalar: [UInt8]) throws(CryptoError) {
        guard scalar.count == 32 else { throw CryptoError(.badKey, "a P-256 scalar has 32 bytes") }
        // A key read without its public half gets it computed, but is marked to be written without it. So it is read
        // a second time, whole.
        let point = try Self.read(der: Self.pkcs8(scalar: scalar, point: nil)).point()
        let handle = try Self.read(der: Self.pkcs8(scalar: scalar, point: point))
        guard handle.isConsistent() else {
            throw CryptoError(.badKey, "the number is not a P-256 private key")
        }
        try self.init(handle)
    }

    /// PKCS#8, unencrypted, as PEM.
    package func pkcs8PEM() throws(CryptoError) -> [UInt8] {
        ErrorQueue.clear()
        // A memory BIO wipes what it held when it is freed.
        guard let bio = unsafe BIO_new(BIO_s_mem()) else { throw .failed("BIO_new") }
        defer { unsafe BIO_free_all(bio) }
        let written = unsafe handle.withRaw { key in
            unsafe PEM_write_bio_PKCS8PrivateKey(bio, key, nil, nil, 0, nil, nil)
        }
        guard written == 1 else { throw .failed("PEM_write_bio_PKCS8PrivateKey") }
        var out = [UInt8](repeating: 0, count: unsafe BIO_ctrl_pending(bio))
        let read = unsafe out.withUnsafeMutableBytes { buffer in
            unsafe BIO_read(bio, buffer.baseAddress, Int32(clamping: buffer.count))
        }
        guard read == Int32(clamping: out.count) else { throw .failed("BIO_read") }
        return out
    }

    /// A DER ECDSA signature over the SHA-256 of `message`.
    package func sign(_ message: [UInt8]) throws(CryptoError) -> [UInt8] {
        try sign(digest: Digest.sha256(message))
    }

    /// A DER ECDSA signature over a SHA-256 that the caller made (32 bytes, else `openssl`).
    package func sign(digest: [UInt8]) throws(CryptoError) -> [UInt8] {
        guard digest.count == Digest.size else {
            throw CryptoError(.openssl, "a SHA-256 digest has 32 bytes")
        }
        ErrorQueue.clear()
        guard
            let context = unsafe handle.withRaw({ key in unsafe EVP_PKEY_CTX_new_from_pkey(nil, key, nil) })
        else { throw .failed("EVP_PKEY_CTX_new_from_pkey") }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        guard unsafe EVP_PKEY_sign_init(context) == 1 else { throw .failed("EVP_PKEY_sign_init") }
        // Two INTEGERs of up to 33 bytes in a SEQUENCE.
        var out = [UInt8](repeating: 0, count: 72)
        var length = out.count
        let done = unsafe out.withUnsafeMutableBufferPointer { output in
            unsafe digest.withUnsafeBufferPointer { input in
                unsafe EVP_PKEY_sign(context, output.baseAddress, &length, input.baseAddress, input.count)
            }
        }
        guard done == 1 else { throw .failed("EVP_PKEY_sign") }
        return Array(out.prefix(length))
    }

    /// PKCS#8 (RFC 5958) around an ECPrivateKey (RFC 5915).
    private static func pkcs8(scalar: [UInt8], point: [UInt8]?) -> [UInt8] {
        let publicHalf = point.map { DER.explicit(1, DER.bits($0)) } ?? []
        let key = DER.sequence(DER.integer([1]), DER.octets(scalar), publicHalf)
        return DER.sequence(
            DER.integer([0]), DER.sequence(DER.OID.ecPublicKey, DER.OID.p256), DER.octets(key))
    }

    private static func read(der: [UInt8]) throws(CryptoError) -> KeyHandle {
        ErrorQueue.clear()
        let raw = unsafe der.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            return unsafe d2i_AutoPrivateKey(nil, &cursor, buffer.count)
        }
        guard let raw = unsafe raw else { throw .failed("d2i_AutoPrivateKey", .badKey) }
        return try unsafe KeyHandle(owning: raw)
    }

    private static func read(pem: [UInt8]) throws(CryptoError) -> KeyHandle {
        ErrorQueue.clear()
        let raw = unsafe pem.withUnsafeBytes { buffer -> OpaquePointer? in
            guard let bio = unsafe BIO_new_mem_buf(buffer.baseAddress, Int32(clamping: buffer.count)) else {
                return nil
            }
            defer { unsafe BIO_free_all(bio) }
            // The callback refuses: without one OpenSSL would ask for a passphrase on the terminal.
            return unsafe PEM_read_bio_PrivateKey(bio, nil, { _, _, _, _ in -1 }, nil)
        }
        guard let raw = unsafe raw else { throw .failed("PEM_read_bio_PrivateKey", .badKey) }
        return try unsafe KeyHandle(owning: raw)
    }
}
