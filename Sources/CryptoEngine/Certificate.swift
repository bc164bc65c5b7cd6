// SPDX-License-Identifier: Apache-2.0

internal import Wire

/// The certificate around a key (file 01 section 5.4): built by hand at every start, never stored, never compared.
extension HostKey {
    /// A self-signed certificate with a new serial and common name; DER.
    package func certificate() throws(CryptoError) -> [UInt8] {
        try certificate(serial: Entropy.bytes(16), commonName: Hex.encode(Entropy.bytes(8)))
    }

    /// A self-signed certificate with this serial (16 bytes; the first is made positive and not zero, so that the
    /// INTEGER keeps its 16 bytes) and this common name (16 characters; the name says nothing about the machine); DER.
    package func certificate(serial: [UInt8], commonName: String) throws(CryptoError) -> [UInt8] {
        let algorithm = DER.sequence(DER.OID.ecdsaSHA256)
        let tbs = tbsCertificate(serial: serial, commonName: commonName, algorithm: algorithm)
        return try DER.sequence(tbs, algorithm, DER.bits(sign(tbs)))
    }

    private func tbsCertificate(serial: [UInt8], commonName: String, algorithm: [UInt8]) -> [UInt8] {
        var serial = serial
        if let first = serial.first { serial[0] = first & 0x7F | 0x01 }
        let name = DER.sequence(DER.set(DER.sequence(DER.OID.commonName, DER.utf8(commonName))))
        // Long before any install and for ever: dates are never judged, and a clock may be wrong.
        let validity = DER.sequence(DER.utcTime("260101000000Z"), DER.generalizedTime("99991231235959Z"))
        return DER.sequence(
            DER.explicit(0, DER.integer([2])), DER.integer(serial), algorithm, name, validity, name, spki)
    }
}
