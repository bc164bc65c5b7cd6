// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// Bytes that must not linger or be printed: wiped when the last reference goes, described only by their number.
@safe package final class SecretBytes: @unchecked Sendable, CustomStringConvertible {
    // Sendable: the memory is written once, inside init, before any other thread can hold a reference, and afterwards
    // only read until deinit, which runs when no reference is left.
    private let memory: UnsafeMutableRawBufferPointer

    /// Takes a copy of `bytes`; the caller's array is its own to forget.
    package init(_ bytes: [UInt8]) {
        unsafe memory = .allocate(byteCount: bytes.count, alignment: 1)
        unsafe memory.copyBytes(from: bytes)
    }

    deinit {
        unsafe OPENSSL_cleanse(memory.baseAddress, memory.count)
        unsafe memory.deallocate()
    }

    /// Lends the bytes; the span ends with the call.
    package func withBytes<R>(_ body: (Span<UInt8>) throws -> R) rethrows -> R {
        try unsafe body(Span<UInt8>(_unsafeBytes: UnsafeRawBufferPointer(memory)))
    }

    /// A copy that is no longer protected; for handing to a hash or the wire at once.
    package var copy: [UInt8] { unsafe [UInt8](memory) }

    /// Whether `other` holds the same bytes, in time that depends on the lengths alone.
    /// Empty is equal to nothing, as in ``Digest/equal(_:_:)``.
    package func equals(_ other: [UInt8]) -> Bool {
        guard unsafe other.count == memory.count, !other.isEmpty else { return false }
        return unsafe other.withUnsafeBytes {
            unsafe CRYPTO_memcmp(memory.baseAddress, $0.baseAddress, $0.count) == 0
        }
    }

    package var description: String { unsafe "<\(memory.count) secret bytes>" }
}
