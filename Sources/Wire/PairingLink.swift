// SPDX-License-Identifier: Apache-2.0

/// What the QR code says: which host, how to know it, and the secret of its pairing window (file 02 §3).
package struct PairingLink: Equatable, Sendable {
    /// The host's ID, which is that of ``fingerprint``.
    package var hostID: SillID
    /// The host's key, which the device pins before it sends anything.
    package var fingerprint: Fingerprint
    /// The window's 16 secret bytes. Never in a log.
    package var secret: [UInt8]
    /// The host's name after the label rule, `Mac` when nothing was left.
    package var name: String
    /// The remote port.
    package var port: Int
    /// Where to dial, in that order; empty for a window of the home door alone.
    package var addresses: [DialAddress]

    /// Addresses that a link carries; a builder writes no more, a parser keeps no more.
    package static let addressLimit = 5

    /// Bytes of a window's secret.
    package static let secretLength = 16

    /// A link to the host with this key.
    package init(fingerprint: Fingerprint, secret: [UInt8], name: String, port: Int, addresses: [DialAddress])
    {
        hostID = fingerprint.id
        self.fingerprint = fingerprint
        self.secret = secret
        let cleaned = Label.clean(name)
        self.name = cleaned.isEmpty ? "Mac" : cleaned
        self.port = port
        self.addresses = Array(addresses.prefix(Self.addressLimit))
    }

    /// The link, fields in their fixed order.
    package var text: String {
        var out = Array("sill://pair?v=1".utf8)
        func field(_ key: String, _ value: String) {
            out.append(UInt8(ascii: "&"))
            out.append(contentsOf: key.utf8)
            out.append(UInt8(ascii: "="))
            appendPercentEncoded(value, to: &out)
        }
        field("m", hostID.text)
        field("k", fingerprint.base64url)
        field("s", Base64URL.encode(secret))
        field("n", name)
        field("p", String(port))
        for address in addresses.prefix(Self.addressLimit) { field("a", address.text) }
        return String(decoding: out, as: UTF8.self)
    }
}

/// Why a text is no link that a device of this generation can use (file 02 §3.3).
package enum LinkProblem: Error, Equatable, Sendable {
    /// No `sill://pair?…` at all.
    case notALink
    /// A link of another version.
    case version
    /// The field with this key is missing, repeated, or holds no such value.
    case field(String)
    /// The ID is not that of the key: the two were not written by one host.
    case macIDMismatch
    /// This address is none, and why.
    case address(String, AddressProblem)
}

private func appendPercentEncoded(_ value: String, to out: inout [UInt8]) {
    let digits = Array("0123456789ABCDEF".utf8)
    for unit in value.utf8 {
        switch unit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"), UInt8(ascii: ":"):
            out.append(unit)
        default:
            out.append(UInt8(ascii: "%"))
            out.append(digits[Int(unit >> 4)])
            out.append(digits[Int(unit & 0x0F)])
        }
    }
}
