// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// Why a connection came to nothing (file 03 section 8).
package enum HandshakeFailureReason: String, Sendable {
    /// The verify closure said no to the client's key, or the client's key is not on P-256.
    case untrusted
    /// The client sent no certificate.
    case noCertificate
    /// The client offered application protocols, and none of the two.
    case alpn
    /// The first bytes were an HTTP request.
    case http
    /// The first bytes were no TLS, or TLS older than 1.3.
    case notTLS13
    /// The peer gave up, or broke off; counts for nothing.
    case peerLeft
    /// For the doors: time ran out. Never set here.
    case deadline
    /// For the doors: the first message broke the rules. Never set here.
    case badMessage
    /// Client: the host turned our key away (alert 42).
    case alertBadCertificate
    /// Client: the host turned our key away in other words (alert 46).
    case alertCertificateUnknown
    /// Client: our own verify closure said no to the host's key.
    case pinMismatch
    /// Client: the other end does not speak TLS 1.3 (alert 70, or an older answer).
    case protocolVersion
    /// Client: any other TLS failure.
    case other
}

/// What is known when a TLS call has failed; pure, so that the rules are a table in a test.
struct FailureFacts: Equatable, Sendable {
    var isServer: Bool
    /// The verify callback said no.
    var refusedPeer = false
    /// The selection callback found no protocol in common.
    var foundNoProtocol = false
    /// A whole ClientHello has been seen; before, an oversize record is plain bytes.
    var sawClientHello = false
    /// OpenSSL's first queued error; nil when the transport ended or the peer said goodbye.
    var error: QueuedError?

    /// First match wins; own flags come before OpenSSL's words.
    func reason() -> HandshakeFailureReason {
        if refusedPeer { return isServer ? .untrusted : .pinMismatch }
        if foundNoProtocol { return .alpn }
        guard let error, error.library == Int32(ERR_LIB_SSL) else { return .peerLeft }
        return isServer ? serverReason(error.reason) : clientReason(error.reason)
    }

    private func serverReason(_ reason: Int32) -> HandshakeFailureReason {
        switch reason {
        case SSL_R_CERTIFICATE_VERIFY_FAILED: .untrusted
        case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE: .noCertificate
        case SSL_R_NO_APPLICATION_PROTOCOL: .alpn
        case SSL_R_HTTP_REQUEST, SSL_R_HTTPS_PROXY_REQUEST: .http
        case SSL_R_WRONG_VERSION_NUMBER, SSL_R_UNSUPPORTED_PROTOCOL, SSL_R_UNKNOWN_PROTOCOL,
            SSL_R_VERSION_TOO_LOW:
            .notTLS13
        case SSL_R_PACKET_LENGTH_TOO_LONG where !sawClientHello: .notTLS13
        default: .peerLeft
        }
    }

    private func clientReason(_ reason: Int32) -> HandshakeFailureReason {
        switch reason {
        case SSL_AD_REASON_OFFSET + SSL3_AD_BAD_CERTIFICATE: .alertBadCertificate
        case SSL_AD_REASON_OFFSET + SSL3_AD_CERTIFICATE_UNKNOWN: .alertCertificateUnknown
        case SSL_AD_REASON_OFFSET + TLS1_AD_PROTOCOL_VERSION, SSL_R_UNSUPPORTED_PROTOCOL,
            SSL_R_WRONG_SSL_VERSION:
            .protocolVersion
        case SSL_R_CERTIFICATE_VERIFY_FAILED: .pinMismatch
        case SSL_R_UNEXPECTED_EOF_WHILE_READING: .peerLeft
        default: .other
        }
    }
}
