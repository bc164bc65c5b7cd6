import CryptoEngine
import Sockets
import Testing
import Wire

@testable import LatchkeyDevice

@Suite("What the end of a connection means")
struct ConnectionFailureTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let reason: HandshakeFailureReason
        var alpn = ALPN.session
        var heardMessage = false
        var stage = ConnectionFailure.Facts.Stage.open
        let want: DeviceError.Code
        var testDescription: String {
            "\(reason) on \(alpn.rawValue), \(stage), message heard: \(heardMessage)"
        }
    }

    static let rows = [
        Row(reason: .pinMismatch, want: .wrongHost),
        Row(reason: .alertBadCertificate, want: .revoked),
        Row(reason: .alertCertificateUnknown, want: .revoked),
        Row(reason: .alertBadCertificate, alpn: .pairing, want: .notPairing),
        Row(reason: .alertCertificateUnknown, alpn: .pairing, want: .notPairing),
        // Before the host's key is proved anybody can have said it.
        Row(reason: .alertBadCertificate, stage: .handshaking, want: .notSill),
        Row(reason: .alertCertificateUnknown, stage: .handshaking, want: .notSill),
        Row(reason: .alertBadCertificate, alpn: .pairing, stage: .handshaking, want: .notSill),
        Row(reason: .protocolVersion, want: .notSill),
        Row(reason: .other, want: .notSill),
        Row(reason: .http, alpn: .pairing, want: .notSill),
        Row(reason: .peerLeft, want: .refused),
        Row(reason: .peerLeft, heardMessage: true, want: .lost),
    ]

    @Test("TLS", arguments: rows)
    func tls(_ row: Row) {
        let facts = ConnectionFailure.Facts(
            alpn: row.alpn, stage: row.stage, heardAnything: true, heardMessage: row.heardMessage)
        let error = ConnectionFailure.meaning(of: row.reason, facts)
        #expect(error.code == row.want)
        #expect(error.reachedPeer)
    }

    /// 111 ECONNREFUSED, 110 ETIMEDOUT, 113 EHOSTUNREACH, 104 ECONNRESET (Linux).
    static let sockets: [(Int32, ConnectionFailure.Facts.Stage, DeviceError.Code, Bool)] = [
        (111, .connecting, .refused, false), (110, .connecting, .noAnswer, false),
        (113, .connecting, .noAnswer, false),
        (104, .handshaking, .refused, true), (104, .open, .refused, true),
    ]

    @Test("sockets", arguments: sockets)
    func socket(
        _ errno: Int32, _ stage: ConnectionFailure.Facts.Stage, _ want: DeviceError.Code, _ reached: Bool
    ) {
        let facts = ConnectionFailure.Facts(alpn: .session, stage: stage)
        let error = ConnectionFailure.meaning(of: SocketError(errno: errno, call: "x"), facts)
        #expect(error.code == want)
        #expect(error.reachedPeer == reached)
    }

    @Test("the most telling failure comes first (06 B3)")
    func ranks() {
        let order: [DeviceError.Code] = [
            .wrongHost, .revoked, .remoteOff, .busy, .refused, .nameNotFound, .notSill, .noAnswer,
        ]
        let ranks = order.map { DeviceError($0, "").rank }
        #expect(ranks == ranks.sorted())
        #expect(Set(ranks).count == ranks.count)
    }

    static let bad: [(String, DeviceError.Code?)] = [
        ("127.0.0.1:7455", nil), ("[::1]:1", nil), ("host.example", nil), ("1.2.3", .badAddress),
        ("fe80::1%en0", .badAddress),
        ("h:0", .badAddress), ("", .badAddress), ("sill://pair?v=1", .badAddress), ("a b", .badAddress),
    ]

    @Test("addresses are read by the strict parser", arguments: bad)
    func endpoints(_ text: String, _ want: DeviceError.Code?) {
        do throws(DeviceError) {
            let endpoint = try Endpoint(text)
            #expect(want == nil)
            #expect(endpoint.description == text)
        } catch {
            #expect(error.code == want)
        }
    }
}
