// SPDX-License-Identifier: Apache-2.0

import COpenSSL
import Testing

@testable import CryptoEngine

@Suite struct HandshakeFailureTests {
    static let rows: [(server: Bool, reason: Int32, expected: HandshakeFailureReason)] = [
        (true, SSL_R_CERTIFICATE_VERIFY_FAILED, .untrusted),
        (true, SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE, .noCertificate),
        (true, SSL_R_NO_APPLICATION_PROTOCOL, .alpn),
        (true, SSL_R_HTTP_REQUEST, .http), (true, SSL_R_HTTPS_PROXY_REQUEST, .http),
        (true, SSL_R_WRONG_VERSION_NUMBER, .notTLS13), (true, SSL_R_UNSUPPORTED_PROTOCOL, .notTLS13),
        (true, SSL_R_UNKNOWN_PROTOCOL, .notTLS13), (true, SSL_R_VERSION_TOO_LOW, .notTLS13),
        (true, SSL_R_PACKET_LENGTH_TOO_LONG, .notTLS13),
        (true, 1042, .peerLeft), (true, 1048, .peerLeft),
        (true, SSL_R_UNEXPECTED_EOF_WHILE_READING, .peerLeft),
        (true, SSL_R_NO_SHARED_CIPHER, .peerLeft), (true, SSL_R_LENGTH_MISMATCH, .peerLeft),
        (false, 1042, .alertBadCertificate), (false, 1046, .alertCertificateUnknown),
        (false, 1070, .protocolVersion), (false, SSL_R_UNSUPPORTED_PROTOCOL, .protocolVersion),
        (false, 1040, .other), (false, 1116, .other), (false, 1120, .other),
        (false, SSL_R_WRONG_VERSION_NUMBER, .other),
        (false, SSL_R_UNEXPECTED_EOF_WHILE_READING, .peerLeft),
    ]

    private func facts(_ row: (server: Bool, reason: Int32, expected: HandshakeFailureReason)) -> FailureFacts
    {
        FailureFacts(
            isServer: row.server,
            error: QueuedError(library: Int32(ERR_LIB_SSL), reason: row.reason, text: ""))
    }

    @Test(arguments: rows.indices)
    func firstErrorDecides(row: Int) {
        #expect(facts(Self.rows[row]).reason() == Self.rows[row].expected)
    }

    @Test(arguments: rows.indices)
    func ownFlagsComeBeforeIt(row: Int) {
        var facts = facts(Self.rows[row])
        facts.foundNoProtocol = true
        #expect(facts.reason() == .alpn)
        facts.refusedPeer = true
        #expect(facts.reason() == (facts.isServer ? .untrusted : .pinMismatch))
    }

    @Test func oversizeRecordAfterAHelloIsNoPlainSpeaker() {
        var facts = facts((true, SSL_R_PACKET_LENGTH_TOO_LONG, .notTLS13))
        facts.sawClientHello = true
        #expect(facts.reason() == .peerLeft)
    }

    @Test func silenceAndOtherLibrariesArePeersThatLeft() {
        #expect(FailureFacts(isServer: true).reason() == .peerLeft)
        let foreign = QueuedError(library: Int32(ERR_LIB_ASN1), reason: SSL_R_HTTP_REQUEST, text: "")
        #expect(FailureFacts(isServer: true, error: foreign).reason() == .peerLeft)
    }
}
