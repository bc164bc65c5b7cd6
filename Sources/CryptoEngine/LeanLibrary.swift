// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// The algorithms that TLS contexts use: OpenSSL's own, in shorter lists (lean_library.h says why). One for the process.
@safe final class LeanLibrary: @unchecked Sendable {
    // Sendable: made under the once-lock of a static let, never changed or freed; OpenSSL locks a library context's
    // caches itself.
    static let shared = LeanLibrary()

    /// `OSSL_LIB_CTX *`; nil when it could not be made, which OpenSSL takes for the default one: slower, not different.
    let raw: OpaquePointer?

    private init() {
        ErrorQueue.clear()
        unsafe raw = shim_lean_library()
        ErrorQueue.clear()
    }
}
