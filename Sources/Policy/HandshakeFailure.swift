// SPDX-License-Identifier: Apache-2.0

/// Why a connection ended before it was admitted (03 §8); the API's words too.
package enum HandshakeFailure: String, Sendable, CaseIterable, Hashable {
    /// The verify step said no.
    case untrusted
    /// The peer sent no certificate.
    case noCertificate
    /// Neither of the two protocol names.
    case alpn
    /// An HTTP request.
    case http
    /// TLS older than 1.3, or bytes that are not TLS.
    case notTLS13
    /// 10 s were over (03 §7.2).
    case deadline
    /// A kind 19 that is none (03 §5.6).
    case badMessage
    /// The peer ended it or rejected our key.
    case peerLeft

    /// How it counts (03 §7.5): nil for nothing at all; `isFailure` is whether the backoff hears of it.
    package func counted(at door: Door) -> (word: RefusalWord, isFailure: Bool)? {
        switch self {
        case .peerLeft: nil
        case .notTLS13: door == .home ? (.older, false) : (.unpaired, true)
        case .untrusted, .noCertificate, .alpn, .http, .deadline, .badMessage: (.unpaired, true)
        }
    }
}
