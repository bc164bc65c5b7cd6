// SPDX-License-Identifier: Apache-2.0

/// Writes the little of DER (X.690) that a certificate and a key need. Lengths are always the shortest form.
enum DER {
    static func sequence(_ parts: [UInt8]...) -> [UInt8] { value(0x30, parts.flatMap { $0 }) }
    static func set(_ content: [UInt8]) -> [UInt8] { value(0x31, content) }
    /// `content` is taken as it is: minimal two's complement is the caller's.
    static func integer(_ content: [UInt8]) -> [UInt8] { value(0x02, content) }
    static func octets(_ content: [UInt8]) -> [UInt8] { value(0x04, content) }
    /// Whole bytes: no unused bits.
    static func bits(_ content: [UInt8]) -> [UInt8] { value(0x03, [0] + content) }
    static func utf8(_ text: String) -> [UInt8] { value(0x0C, Array(text.utf8)) }
    static func utcTime(_ text: String) -> [UInt8] { value(0x17, Array(text.utf8)) }
    static func generalizedTime(_ text: String) -> [UInt8] { value(0x18, Array(text.utf8)) }
    /// `[number] EXPLICIT`, number up to 30.
    static func explicit(_ number: UInt8, _ content: [UInt8]) -> [UInt8] { value(0xA0 | number, content) }

    private static func value(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        [tag] + length(content.count) + content
    }

    private static func length(_ count: Int) -> [UInt8] {
        if count < 0x80 { return [UInt8(count)] }
        var bytes: [UInt8] = []
        var rest = count
        while rest > 0 {
            bytes.insert(UInt8(truncatingIfNeeded: rest), at: 0)
            rest >>= 8
        }
        return [0x80 | UInt8(bytes.count)] + bytes
    }

    /// Complete object identifiers, tag and length included.
    enum OID {
        /// 1.2.840.10045.2.1, id-ecPublicKey (RFC 5480).
        static let ecPublicKey: [UInt8] = [0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]
        /// 1.2.840.10045.3.1.7, prime256v1 (RFC 5480).
        static let p256: [UInt8] = [0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]
        /// 1.2.840.10045.4.3.2, ecdsa-with-SHA256 (RFC 5758).
        static let ecdsaSHA256: [UInt8] = [0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x02]
        /// 2.5.4.3, commonName (X.520).
        static let commonName: [UInt8] = [0x06, 0x03, 0x55, 0x04, 0x03]
    }
}
