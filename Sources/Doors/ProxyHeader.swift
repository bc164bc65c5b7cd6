// SPDX-License-Identifier: Apache-2.0

internal import Core
internal import Policy
internal import Wire

/// The first bytes on a backend's socket: who the session is (spec 08 "The backend header", 09.11).
///
/// PROXY protocol version 2 (haproxy.org, proxy-protocol.txt section 2.2), command PROXY.
enum ProxyHeader {
    /// The 12 bytes no other protocol begins with.
    static let signature: [UInt8] = [
        0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A,
    ]

    private enum TLV {
        static let alpn: UInt8 = 0x01
        static let authority: UInt8 = 0x02
        static let uniqueID: UInt8 = 0x05
        static let ssl: UInt8 = 0x20
        static let sslVersion: UInt8 = 0x21
        static let session: UInt8 = 0xE0
    }

    /// PP2_CLIENT_SSL, CERT_CONN and CERT_SESS: TLS, with a certificate on this very connection (09.11).
    private static let clientFlags: UInt8 = 0x07

    /// The header of one session.
    static func encode(_ session: SessionView) -> [UInt8] {
        let local = session.local ?? SocketAddress(ip: session.remote.ip, port: 0)
        let isV4 = session.remote.ip.family == .v4 && local.ip.family == .v4
        var body: [UInt8] = []
        body += bytes(session.remote.ip, asV4: isV4)
        body += bytes(local.ip, asV4: isV4)
        body += bigEndian(session.remote.port)
        body += bigEndian(local.port)
        body += tlv(TLV.alpn, Array(ALPN.session.rawValue.utf8))
        body += tlv(TLV.uniqueID, Array(session.id.text.utf8))
        body += tlv(TLV.authority, Array(serverName.utf8))
        // Client flags, then "verify" as 32 bits, 0: the certificate was judged good.
        body += tlv(TLV.ssl, [clientFlags, 0, 0, 0, 0] + tlv(TLV.sslVersion, Array("TLSv1.3".utf8)))
        body += tlv(TLV.session, json(session))
        // 0x21: version 2, command PROXY. 0x11 and 0x21: TCP over IPv4, over IPv6.
        return signature + [0x21, isV4 ? 0x11 : 0x21] + bigEndian(UInt16(clamping: body.count)) + body
    }

    /// What the header says beyond PROXY's own fields.
    static func json(_ session: SessionView) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.field("session", session.id.text)
            if let device = session.device, session.paired {
                writer.field("device", device.id.text)
                writer.field("name", device.name)
            } else {
                writer.null("device")
                writer.null("name")
            }
            if let key = session.fingerprint {
                writer.field("fingerprint", key.base64url)
            } else {
                writer.null("fingerprint")
            }
            writer.field("door", session.door.rawValue)
            writer.field("origin", session.origin.rawValue)
            writer.field("cable", session.cable)
            writer.field("route", session.route)
            writer.field("away", session.away)
            writer.field("paired", session.paired)
        }
        return writer.bytes
    }

    /// Names and routes are bounded labels, so no value comes near the 65,535 that a length can say.
    private static func tlv(_ type: UInt8, _ value: [UInt8]) -> [UInt8] {
        [type] + bigEndian(UInt16(clamping: value.count)) + value.prefix(Int(UInt16.max))
    }

    private static func bigEndian(_ value: UInt16) -> [UInt8] {
        [UInt8(truncatingIfNeeded: value >> 8), UInt8(truncatingIfNeeded: value)]
    }

    /// An IPv4 address beside an IPv6 one is written in its mapped form.
    private static func bytes(_ ip: IPAddress, asV4: Bool) -> [UInt8] {
        let bytes = ip.bytes
        if asV4 || bytes.count == 16 { return bytes }
        return [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF] + bytes
    }
}
