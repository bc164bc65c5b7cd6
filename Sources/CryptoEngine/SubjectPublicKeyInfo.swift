// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
internal import Wire

/// The SubjectPublicKeyInfo of a P-256 key, the one thing every pin compares (file 01 section 5.2).
enum SubjectPublicKeyInfo {
    /// Bytes of an uncompressed point: 04, X, Y.
    static let pointSize = 65
    /// Bytes of the whole for such a point: always 91.
    static let size = prefix.count + pointSize

    /// Everything before the point. Fixed, because the curve and the point's form are.
    static let prefix: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86,
        0x48,
        0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
    ]

    /// The 65-byte point of a certificate's key; nil when the key is not EC on the named curve P-256 with an
    /// uncompressed point on it. `certificate` is an `X509 *`.
    @unsafe static func point(ofX509 certificate: OpaquePointer) -> [UInt8]? {
        guard let info = unsafe X509_get_X509_PUBKEY(certificate),
            unsafe i2d_X509_PUBKEY(info, nil) == size
        else { return nil }
        var der = [UInt8](repeating: 0, count: size)
        let written = unsafe der.withUnsafeMutableBufferPointer { buffer in
            var cursor = buffer.baseAddress
            return unsafe i2d_X509_PUBKEY(info, &cursor)
        }
        guard written == size, der.starts(with: prefix), der[prefix.count] == 0x04 else { return nil }
        // OpenSSL decoded the key while it parsed; no key means that the point is not on the curve.
        guard unsafe X509_get0_pubkey(certificate) != nil else { return nil }
        return Array(der[prefix.count...])
    }

    /// The fingerprint of a point that is known to be one; nil for another length.
    static func fingerprint(ofPoint point: [UInt8]) -> Fingerprint? {
        guard point.count == pointSize else { return nil }
        return Fingerprint(bytes: Digest.sha256(prefix + point))
    }
}
