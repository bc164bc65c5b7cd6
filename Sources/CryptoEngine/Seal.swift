// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// AES-256-GCM (NIST SP 800-38D): bytes that only the same key opens, and that show when anybody changed them.
package enum Seal {
    /// Bytes of a key.
    package static let keySize = 32
    /// Bytes of a nonce, which must never come twice with one key.
    package static let nonceSize = 12
    /// Bytes that sealing adds at the end.
    package static let tagSize = 16

    /// Encrypts, in place, what follows the first `clear` bytes, and appends the tag. The first bytes stay readable, and
    /// opening notices when they were changed too.
    package static func close(
        _ bytes: inout [UInt8], after clear: Int, key: [UInt8], nonce: [UInt8]
    ) throws(CryptoError) {
        bytes.reserveCapacity(bytes.count + tagSize)
        let context = try CipherContext(key: key, nonce: nonce, encrypts: true)
        try context.run(&bytes, clear: clear, end: bytes.count)
        guard context.finish() else { throw .failed("EVP_CipherFinal_ex") }
        bytes += try context.tag()
    }

    /// Takes back what ``close(_:after:key:nonce:)`` did, the tag included; the first `clear` bytes stay. False when the
    /// key is another or a byte has changed: then nothing of what was sealed is left in `bytes`.
    package static func open(
        _ bytes: inout [UInt8], after clear: Int, key: [UInt8], nonce: [UInt8]
    ) throws(CryptoError) -> Bool {
        guard bytes.count >= clear + tagSize else { return false }
        let context = try CipherContext(key: key, nonce: nonce, encrypts: false)
        let end = bytes.count - tagSize
        try context.expect(tag: Array(bytes[end...]))
        try context.run(&bytes, clear: clear, end: end)
        guard context.finish() else {
            bytes.removeLast(bytes.count - clear)
            return false
        }
        bytes.removeLast(tagSize)
        return true
    }
}

/// The owner of one `EVP_CIPHER_CTX`; OpenSSL wipes the key in it when it is freed.
@safe private struct CipherContext: ~Copyable {
    private let raw: OpaquePointer

    init(key: [UInt8], nonce: [UInt8], encrypts: Bool) throws(CryptoError) {
        guard key.count == Seal.keySize, nonce.count == Seal.nonceSize else {
            throw CryptoError(.openssl, "AES-256-GCM needs a key of 32 bytes and a nonce of 12")
        }
        unsafe raw = try Self.start(key, nonce, encrypts: encrypts)
    }

    private static func start(
        _ key: [UInt8], _ nonce: [UInt8], encrypts: Bool
    ) throws(CryptoError) -> OpaquePointer {
        ErrorQueue.clear()
        guard let raw = unsafe EVP_CIPHER_CTX_new() else { throw .failed("EVP_CIPHER_CTX_new") }
        let started = unsafe key.withUnsafeBufferPointer { key in
            unsafe nonce.withUnsafeBufferPointer { nonce in
                unsafe EVP_CipherInit_ex(
                    raw, EVP_aes_256_gcm(), nil, key.baseAddress, nonce.baseAddress, encrypts ? 1 : 0)
            }
        }
        guard started == 1 else {
            unsafe EVP_CIPHER_CTX_free(raw)
            throw .failed("EVP_CipherInit_ex")
        }
        return unsafe raw
    }

    deinit { unsafe EVP_CIPHER_CTX_free(raw) }

    /// Authenticates `bytes[..<clear]` and encrypts or decrypts from there to `end`, each byte in its place.
    borrowing func run(_ bytes: inout [UInt8], clear: Int, end: Int) throws(CryptoError) {
        guard clear >= 0, clear <= end, end <= Int(Int32.max) else {
            throw CryptoError(.openssl, "too much to seal at once")
        }
        let isDone = unsafe bytes.withUnsafeMutableBufferPointer { bytes in
            var count: Int32 = 0
            guard let start = bytes.baseAddress else { return clear == end }
            if clear > 0, unsafe EVP_CipherUpdate(raw, nil, &count, start, Int32(clear)) != 1 { return false }
            let from = unsafe start + clear
            let size = Int32(end - clear)
            return unsafe size == 0 || EVP_CipherUpdate(raw, from, &count, from, size) == 1 && count == size
        }
        guard isDone else { throw .failed("EVP_CipherUpdate") }
    }

    /// Whether everything was as the tag says; when encrypting, whether it is done.
    borrowing func finish() -> Bool {
        defer { ErrorQueue.clear() }
        var count: Int32 = 0
        var none = [UInt8](repeating: 0, count: 16)
        return unsafe none.withUnsafeMutableBufferPointer { buffer in
            unsafe EVP_CipherFinal_ex(raw, buffer.baseAddress, &count) == 1
        }
    }

    borrowing func tag() throws(CryptoError) -> [UInt8] {
        var tag = [UInt8](repeating: 0, count: Seal.tagSize)
        let done = unsafe tag.withUnsafeMutableBytes { buffer in
            unsafe EVP_CIPHER_CTX_ctrl(raw, EVP_CTRL_AEAD_GET_TAG, Int32(buffer.count), buffer.baseAddress)
        }
        guard done == 1 else { throw .failed("EVP_CIPHER_CTX_ctrl") }
        return tag
    }

    borrowing func expect(tag: [UInt8]) throws(CryptoError) {
        var tag = tag
        let done = unsafe tag.withUnsafeMutableBytes { buffer in
            unsafe EVP_CIPHER_CTX_ctrl(raw, EVP_CTRL_AEAD_SET_TAG, Int32(buffer.count), buffer.baseAddress)
        }
        guard done == 1 else { throw .failed("EVP_CIPHER_CTX_ctrl") }
    }
}
