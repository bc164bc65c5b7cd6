// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// SHA-256 and what is built on it. Thread-safe.
package enum Digest {
    /// Bytes of a SHA-256 hash and of an HMAC over it.
    package static let size = 32

    /// SHA-256. Empty when OpenSSL has no SHA-256 to offer, and no empty value is ever ``equal(_:_:)`` to anything.
    package static func sha256(_ bytes: [UInt8]) -> [UInt8] {
        // A hash fetched once: the implicit fetch of EVP_sha256() costs more than hashing a key does.
        guard let algorithm = unsafe Algorithms.shared.sha256 else { return [] }
        ErrorQueue.clear()
        defer { ErrorQueue.clear() }
        var out = [UInt8](repeating: 0, count: size)
        let done = unsafe bytes.withUnsafeBytes { input in
            unsafe out.withUnsafeMutableBufferPointer { output in
                unsafe EVP_Digest(input.baseAddress, input.count, output.baseAddress, nil, algorithm, nil)
            }
        }
        return done == 1 ? out : []
    }

    /// HMAC-SHA256 (RFC 2104). Empty like ``sha256(_:)``.
    package static func hmacSHA256(key: [UInt8], message: [UInt8]) -> [UInt8] {
        ErrorQueue.clear()
        defer { ErrorQueue.clear() }
        // OpenSSL reads a null key as "the key of before", and an empty array may have no address. A zero byte is the
        // same HMAC key as none, because keys are padded with zeros to the block.
        let key = key.isEmpty ? [0] : key
        var out = [UInt8](repeating: 0, count: size)
        let done = unsafe key.withUnsafeBytes { key in
            unsafe message.withUnsafeBufferPointer { input in
                unsafe out.withUnsafeMutableBufferPointer { output in
                    unsafe HMAC(
                        EVP_sha256(), key.baseAddress, Int32(clamping: key.count), input.baseAddress,
                        input.count, output.baseAddress, nil) != nil
                }
            }
        }
        return done ? out : []
    }

    /// PBKDF2 with HMAC-SHA256 (RFC 8018). Takes about 0.1 s for 600,000 rounds: never on a thread that serves.
    package static func pbkdf2SHA256(
        password: [UInt8], salt: [UInt8], rounds: Int, length: Int
    ) throws(CryptoError) -> [UInt8] {
        guard rounds > 0, length > 0 else { throw CryptoError(.openssl, "PBKDF2 needs rounds and a length") }
        ErrorQueue.clear()
        var out = [UInt8](repeating: 0, count: length)
        // OpenSSL takes null with length 0, which an empty array may give, for an empty string.
        let done = unsafe password.withUnsafeBytes { secret in
            unsafe salt.withUnsafeBufferPointer { salt in
                unsafe out.withUnsafeMutableBufferPointer { output in
                    unsafe PKCS5_PBKDF2_HMAC(
                        secret.baseAddress?.assumingMemoryBound(to: CChar.self),
                        Int32(clamping: secret.count),
                        salt.baseAddress, Int32(clamping: salt.count), Int32(clamping: rounds),
                        EVP_sha256(), Int32(clamping: output.count), output.baseAddress)
                }
            }
        }
        guard done == 1 else { throw .failed("PKCS5_PBKDF2_HMAC") }
        return out
    }

    /// Whether both hold the same bytes, in time that depends on the lengths alone. Empty is equal to nothing: it is
    /// what a missing or failed value looks like, and proves nothing.
    package static func equal(_ a: [UInt8], _ b: [UInt8]) -> Bool {
        guard a.count == b.count, !a.isEmpty else { return false }
        return unsafe a.withUnsafeBytes { left in
            unsafe b.withUnsafeBytes { right in
                unsafe CRYPTO_memcmp(left.baseAddress, right.baseAddress, left.count) == 0
            }
        }
    }
}

/// Algorithm objects fetched once for the life of the process.
@safe private final class Algorithms: @unchecked Sendable {
    // Sendable: set in init under the once-lock of a static let, never changed or freed, and OpenSSL documents fetched
    // algorithms as shareable between threads.
    static let shared = Algorithms()

    /// `EVP_MD *`; nil when no provider has SHA-256.
    let sha256: OpaquePointer?

    private init() { unsafe sha256 = EVP_MD_fetch(nil, "SHA256", nil) }
}
