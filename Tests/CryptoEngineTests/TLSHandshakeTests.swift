// SPDX-License-Identifier: Apache-2.0

import Bytes
import COpenSSL
import CryptoEngine
import Testing
import Wire

@Suite struct TLSHandshakeTests {
    @Test(arguments: [ALPN.session, .pairing], [1, 7, 500, Int.max])
    func bothSidesMeet(alpn: ALPN, split: Int) throws {
        let host = try Identity()
        let device = try Identity()
        let asked = Asked()
        let server = try host.server {
            asked.facts.append($0)
            return true
        }
        let client = try device.client(alpn.rawValue) {
            asked.facts.append($0)
            return true
        }
        #expect(!server.sawClientHello)
        pump(client, server, split: split)

        #expect(client.state == .ready)
        #expect(server.state == .ready)
        #expect(server.sawClientHello)
        for end in [client, server] {
            #expect(end.negotiatedALPN == alpn.rawValue)
            #expect(end.tlsVersion == "TLSv1.3")
        }
        #expect(server.peerFingerprint == device.key.fingerprint)
        #expect(client.peerFingerprint == host.key.fingerprint)
        #expect(
            asked.facts == [
                TLSVerifyFacts(alpn: alpn.rawValue, fingerprint: host.key.fingerprint),
                TLSVerifyFacts(alpn: alpn.rawValue, fingerprint: device.key.fingerprint),
            ])
    }

    @Test func noTicketFollowsTheHandshake() throws {
        let server = try Identity().server()
        let client = try Identity().client()
        server.feed(client.takeOutgoing())
        client.feed(server.takeOutgoing())
        server.feed(client.takeOutgoing())
        #expect(server.state == .ready)
        #expect(server.pendingCiphertext == 0)
    }

    @Test(arguments: [ALPN.session, .pairing])
    func refusedDeviceReadsBadCertificateAfterItsHandshake(alpn: ALPN) throws {
        let server = try Identity().server { _ in false }
        let client = try Identity().client(alpn.rawValue)
        pump(client, server)
        #expect(failure(server) == .untrusted)
        // TLS 1.3: the client was done before it was judged.
        #expect(client.state == .ready)
        #expect(client.readAll() == [])
        #expect(failure(client) == .alertBadCertificate)
    }

    @Test func wrongPinAbortsBeforeOurCertificateIsSent() throws {
        let asked = Asked()
        let server = try Identity().server {
            asked.facts.append($0)
            return true
        }
        let client = try Identity().client { _ in false }
        pump(client, server)
        #expect(failure(client) == .pinMismatch)
        #expect(failure(server) == .peerLeft)
        #expect(asked.facts.isEmpty)
    }

    @Test func protocolsBeyondTheTwoAreRefused() throws {
        let asked = Asked()
        let server = try Identity().server {
            asked.facts.append($0)
            return true
        }
        let client = try Identity().client("h2")
        pump(client, server)
        #expect(failure(server) == .alpn)
        #expect(failure(client) == .other)
        #expect(asked.facts.isEmpty)
    }

    @Test(arguments: [
        (["sill-pair/1", "sill/1"], "sill/1"), (["h2", "sill-pair/1"], "sill-pair/1"), (["sill/1"], "sill/1"),
    ])
    func hostPrefersTheSession(offered: [String], chosen: String) throws {
        let server = try Identity().server()
        let client = try ForeignClient(alpn: offered, certificate: .p256)
        pump(client, server)
        #expect(server.state == .ready)
        #expect(server.negotiatedALPN == chosen)
    }

    @Test func withoutAnyProtocolTheClosureIsAskedAndSaysNo() throws {
        let asked = Asked()
        let server = try Identity().server {
            asked.facts.append($0)
            return $0.alpn != nil
        }
        let client = try ForeignClient(certificate: .p256)
        pump(client, server)
        #expect(asked.facts.map(\.alpn) == [nil])
        #expect(asked.facts.first?.fingerprint != nil)
        #expect(failure(server) == .untrusted)
        #expect(client.failure == SSL_AD_REASON_OFFSET + SSL3_AD_BAD_CERTIFICATE)
    }

    @Test(arguments: [ForeignClient.Certificate.rsa, .p384])
    func keysOffTheCurveAreBadCertificatesWhateverTheClosureSays(kind: ForeignClient.Certificate) throws {
        let asked = Asked()
        let server = try Identity().server {
            asked.facts.append($0)
            return true
        }
        let client = try ForeignClient(alpn: ["sill/1"], certificate: kind)
        pump(client, server)
        #expect(asked.facts == [TLSVerifyFacts(alpn: "sill/1", fingerprint: nil)])
        #expect(failure(server) == .untrusted)
        #expect(client.isReady)
        #expect(client.failure == SSL_AD_REASON_OFFSET + SSL3_AD_BAD_CERTIFICATE)
    }

    /// Expired, nameless, version 1: only the key counts.
    @Test func anyCertificateShapeWithAP256KeyIsFine() throws {
        let server = try Identity().server()
        let client = try ForeignClient(alpn: ["sill/1"], certificate: .p256)
        pump(client, server)
        #expect(server.state == .ready)
        #expect(client.isReady && client.failure == nil)
    }

    @Test func clientWithoutACertificate() throws {
        let server = try Identity().server()
        let client = try ForeignClient(alpn: ["sill/1"])
        pump(client, server)
        #expect(failure(server) == .noCertificate)
        #expect(client.failure == SSL_AD_REASON_OFFSET + TLS13_AD_CERTIFICATE_REQUIRED)
    }

    @Test func clientOfTLS12() throws {
        let server = try Identity().server()
        let client = try ForeignClient(alpn: ["sill/1"], certificate: .p256, maxVersion: TLS1_2_VERSION)
        pump(client, server)
        #expect(failure(server) == .notTLS13)
        #expect(server.sawClientHello)
        #expect(client.failure == SSL_AD_REASON_OFFSET + TLS1_AD_PROTOCOL_VERSION)
    }

    static let firstBytes: [(String, [UInt8], HandshakeFailureReason)] = [
        ("HTTP", Array("GET / HTTP/1.1\r\nHost: sill\r\n\r\n".utf8), .http),
        ("proxy", Array("CONNECT sill:7455 HTTP/1.1\r\n\r\n".utf8), .http),
        ("SSH", Array("SSH-2.0-OpenSSH_9.2\r\n".utf8), .notTLS13),
        (
            "old Sill hello", [23, 0x41, 0xDA, 0x2D, 0x5E, 0x40, 0, 0, 0, 0, 0, 0, 0, 2, 0x7B, 0x7D],
            .notTLS13
        ),
        ("zeros", [UInt8](repeating: 0, count: 64), .notTLS13),
        ("oversize first record", [0x16, 0x03, 0x01, 0xFF, 0xFF, 0x01, 0x00], .notTLS13),
        ("TLS 1.2 hello", tls12Hello, .notTLS13),
    ]

    @Test(arguments: firstBytes.indices, [1, Int.max])
    func bytesThatAreNoTLS13(row: Int, split: Int) throws {
        let (_, bytes, expected) = Self.firstBytes[row]
        let server = try Identity().server()
        for start in stride(from: 0, to: bytes.count, by: min(split, bytes.count)) {
            server.feed(Array(bytes[start...].prefix(split)))
        }
        #expect(failure(server) == expected)
        #expect(server.sawClientHello == (bytes == Self.tls12Hello))
    }

    @Test func clientThatMeetsPlainBytes() throws {
        let client = try Identity().client()
        client.feed(Array("SSH-2.0-OpenSSH_9.2\r\n".utf8))
        #expect(failure(client) == .other)
    }

    /// The 7 bytes that the reference's platform answers plain bytes with.
    @Test func clientThatReadsProtocolVersion() throws {
        let client = try Identity().client()
        client.feed([0x15, 0x03, 0x01, 0x00, 0x02, 0x02, 0x46])
        #expect(failure(client) == .protocolVersion)
    }

    @Test(arguments: [0, 3, 100])
    func transportThatEndsInTheHandshake(bytes: Int) throws {
        let server = try Identity().server()
        server.feed(Array(try Identity().client().takeOutgoing().prefix(bytes)))
        #expect(server.state == .handshaking)
        server.receiveEnd()
        #expect(failure(server) == .peerLeft)
        #expect(!server.sawClientHello)
    }

    /// A dead connection stays dead and harmless.
    @Test func failedConnectionTakesNothingMore() throws {
        let server = try Identity().server()
        server.feed(Array("GET / HTTP/1.1\r\n\r\n".utf8))
        server.feed([1, 2, 3])
        #expect(server.inbound.isEmpty)
        server.shutdown()
        #expect(server.writeAll([1]) == 0)
        #expect(server.readAll() == [])
        #expect(failure(server) == .http)
    }

    /// A ClientHello without extensions, so without supported_versions.
    static let tls12Hello: [UInt8] =
        [0x16, 0x03, 0x01, 0x00, 0x2D, 0x01, 0x00, 0x00, 0x29, 0x03, 0x03]
        + [UInt8](repeating: 0x5A, count: 32)
        + [0x00, 0x00, 0x02, 0xC0, 0x2B, 0x01, 0x00]

    private func failure(_ connection: TLSConnection) -> HandshakeFailureReason? {
        if case .failed(let reason, _) = connection.state { reason } else { nil }
    }
}
