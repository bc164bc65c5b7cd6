// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// The owner of one reference to an OpenSSL key, private or public, that is known to be on P-256.
@safe final class KeyHandle: @unchecked Sendable {
    // Sendable: an EVP_PKEY is reference-counted with atomics, and nothing here changes it after init; OpenSSL 3
    // documents signing and verifying with one key on several threads as safe as long as each call has its own
    // EVP_MD_CTX or EVP_PKEY_CTX, which sign and verify make.
    private let raw: OpaquePointer

    /// Takes over one reference (`EVP_PKEY *`), also when it throws.
    @unsafe init(owning raw: OpaquePointer) throws(CryptoError) {
        unsafe self.raw = raw
        guard unsafe Self.isP256(raw) else {
            throw CryptoError(.notP256, "the key is not an EC key on P-256")
        }
    }

    deinit { unsafe EVP_PKEY_free(raw) }

    /// Lends the `EVP_PKEY *`; it dies with the call.
    @unsafe func withRaw<R>(_ body: (OpaquePointer) -> R) -> R { unsafe body(raw) }

    /// The uncompressed point, from the coordinates, whatever form the key was read in.
    func point() throws(CryptoError) -> [UInt8] {
        ErrorQueue.clear()
        guard let x = coordinate(OSSL_PKEY_PARAM_EC_PUB_X),
            let y = coordinate(OSSL_PKEY_PARAM_EC_PUB_Y)
        else { throw .failed("EVP_PKEY_get_bn_param", .badKey) }
        return [0x04] + x + y
    }

    /// Whether the private scalar is in range and belongs to the point.
    func isConsistent() -> Bool {
        ErrorQueue.clear()
        defer { ErrorQueue.clear() }
        guard let context = unsafe EVP_PKEY_CTX_new_from_pkey(nil, raw, nil) else { return false }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        return unsafe EVP_PKEY_check(context) == 1
    }

    private func coordinate(_ name: String) -> [UInt8]? {
        var number: OpaquePointer?
        defer { unsafe BN_clear_free(number) }
        guard unsafe EVP_PKEY_get_bn_param(raw, name, &number) == 1 else { return nil }
        var out = [UInt8](repeating: 0, count: 32)
        let written = unsafe out.withUnsafeMutableBufferPointer {
            unsafe BN_bn2binpad(number, $0.baseAddress, 32)
        }
        return written == 32 ? out : nil
    }

    private static func isP256(_ raw: OpaquePointer) -> Bool {
        ErrorQueue.clear()
        defer { ErrorQueue.clear() }
        guard unsafe EVP_PKEY_is_a(raw, "EC") == 1 else { return false }
        var name = [CChar](repeating: 0, count: 64)
        var length = 0
        let found = unsafe name.withUnsafeMutableBufferPointer {
            unsafe EVP_PKEY_get_group_name(raw, $0.baseAddress, $0.count, &length)
        }
        return found == 1 && name.prefix(length).elementsEqual("prime256v1".utf8.map { CChar($0) })
    }
}
