// SPDX-License-Identifier: Apache-2.0

/// A host ID or device ID: 80 bits of a fingerprint as 16 Crockford characters (file 01 §5.3, "Mac ID").
///
/// An index, never a credential: whoever gets one together with a key checks that it is that key's.
package struct SillID: Hashable, Sendable, Comparable {
    // The text's ASCII bytes, first character in the highest byte: sorts as the text does, and needs no allocation.
    private let high: UInt64
    private let low: UInt64

    private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)

    /// A well-formed ID: exactly 16 upper-case characters of the alphabet. Lower case and the letters that other
    /// Crockford decoders forgive are refused.
    package init?(_ text: String) {
        let units = text.utf8
        guard units.count == 16, units.allSatisfy(Self.alphabet.contains) else { return nil }
        high = units.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        low = units.suffix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The ID of a fingerprint, of which the first 80 bits count.
    init(firstWord: UInt64, secondWord: UInt64) {
        // 40 bits make eight characters: bits 0..<40 and 40..<80 of the fingerprint.
        let lowBits = (firstWord & 0xFF_FFFF) << 16 | secondWord >> 48
        high = Self.characters(of: firstWord >> 24)
        low = Self.characters(of: lowBits)
    }

    /// The 16 characters.
    package var text: String {
        var units: [UInt8] = []
        units.reserveCapacity(16)
        append(to: &units)
        return String(decoding: units, as: UTF8.self)
    }

    /// Adds the 16 characters to a text of bytes.
    package func append(to out: inout [UInt8]) {
        for shift in 1...8 { out.append(UInt8(truncatingIfNeeded: high >> UInt64(64 - 8 * shift))) }
        for shift in 1...8 { out.append(UInt8(truncatingIfNeeded: low >> UInt64(64 - 8 * shift))) }
    }

    package static func < (left: SillID, right: SillID) -> Bool {
        (left.high, left.low) < (right.high, right.low)
    }

    private static func characters(of fortyBits: UInt64) -> UInt64 {
        var out: UInt64 = 0
        for shift in stride(from: UInt64(35), through: 0, by: -5) {
            out = out << 8 | UInt64(alphabet[Int(fortyBits >> shift & 31)])
        }
        return out
    }
}
