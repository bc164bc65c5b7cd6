// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// Why a key, a certificate or a TLS object could not be made or used. Never carries key material.
package struct CryptoError: Error, Sendable, CustomStringConvertible {
    package enum Code: Sendable {
        /// A key or certificate that is well-formed and not an EC key on P-256.
        case notP256
        /// Bytes that are no key, no point on the curve or no certificate.
        case badKey
        /// The random source failed.
        case io
        /// A call into OpenSSL failed for another reason.
        case openssl
    }

    package let code: Code
    /// For people: the call that failed and OpenSSL's reason.
    package let message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { message }

    /// The error of a call that just failed; empties the queue.
    static func failed(_ call: String, _ code: Code = .openssl) -> CryptoError {
        CryptoError(code, "\(call): \(ErrorQueue.drain()?.text ?? "no reason given")")
    }
}

/// One entry of OpenSSL's per-thread error queue.
struct QueuedError: Equatable, Sendable {
    /// `ERR_LIB_…`.
    var library: Int32
    /// `…_R_…`; 1000 and above with `ERR_LIB_SSL` is an alert that the peer sent, 1000 plus its number.
    var reason: Int32
    /// OpenSSL's words for the reason.
    var text: String
}

/// OpenSSL's per-thread error queue: emptied before each call, so that a stale entry is never blamed on it, and after.
enum ErrorQueue {
    static func clear() { ERR_clear_error() }

    /// The oldest entry, which is the cause of those after it; empties the queue.
    static func drain() -> QueuedError? {
        let code = ERR_peek_error()
        guard code != 0 else { return nil }
        defer { ERR_clear_error() }
        let text = unsafe ERR_reason_error_string(code).map { unsafe String(cString: $0) }
        return QueuedError(
            library: ERR_GET_LIB(code), reason: ERR_GET_REASON(code), text: text ?? "error \(code)")
    }
}
