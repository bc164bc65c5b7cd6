// SPDX-License-Identifier: Apache-2.0

/// Base64 without padding over the URL-safe alphabet: every byte string on the wire but kind 18's (file 01 §9.1).
package enum Base64URL {
    /// The one text that stands for these bytes.
    package static func encode(_ bytes: some Sequence<UInt8>) -> String {
        encodeBase64(
            bytes, alphabet: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", padded: false
        )
    }

    /// The six bits of one character; nil for one outside the alphabet.
    static func digit(_ unit: UInt8) -> UInt64? {
        switch unit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt64(unit &- UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt64(unit &- UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt64(unit &- UInt8(ascii: "0")) + 52
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
    }

    /// The bytes of a canonical text; nil for any other character, a length of 1 modulo 4, or unused bits that are set.
    package static func decode(_ text: String) -> [UInt8]? {
        decodeBase64(text.utf8, sixtyTwo: UInt8(ascii: "-"), sixtyThree: UInt8(ascii: "_"))
    }
}

/// Standard base64 with padding: the three outer fields of kind 18 and nothing else (file 01 §6.1).
package enum Base64 {
    /// The one text that stands for these bytes, without line breaks.
    package static func encode(_ bytes: some Sequence<UInt8>) -> String {
        encodeBase64(
            bytes, alphabet: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", padded: true)
    }

    /// The bytes of a canonical text; nil when padding is missing or misplaced, and wherever `Base64URL` says nil.
    package static func decode(_ text: String) -> [UInt8]? {
        let units = text.utf8
        guard units.count % 4 == 0 else { return nil }
        let padding = units.reversed().prefix(2).prefix { $0 == UInt8(ascii: "=") }.count
        return decodeBase64(
            units.dropLast(padding), sixtyTwo: UInt8(ascii: "+"), sixtyThree: UInt8(ascii: "/"))
    }
}

private func encodeBase64(_ bytes: some Sequence<UInt8>, alphabet: StaticString, padded: Bool) -> String {
    let digits = Array(alphabet.description.utf8)
    var out: [UInt8] = []
    out.reserveCapacity((bytes.underestimatedCount + 2) / 3 * 4)
    var bits: UInt32 = 0
    var pending = 0
    for byte in bytes {
        bits = bits << 8 | UInt32(byte)
        pending += 8
        while pending >= 6 {
            pending -= 6
            out.append(digits[Int(bits >> UInt32(pending) & 0x3F)])
        }
    }
    if pending > 0 { out.append(digits[Int(bits << UInt32(6 - pending) & 0x3F)]) }
    while padded, out.count % 4 != 0 { out.append(UInt8(ascii: "=")) }
    return String(decoding: out, as: UTF8.self)
}

private func decodeBase64(
    _ units: some Collection<UInt8>, sixtyTwo: UInt8, sixtyThree: UInt8
) -> [UInt8]? {
    guard units.count % 4 != 1 else { return nil }
    var out: [UInt8] = []
    out.reserveCapacity(units.count / 4 * 3 + 2)
    var bits: UInt32 = 0
    var pending = 0
    for unit in units {
        let digit: UInt8
        switch unit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): digit = unit - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): digit = unit - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = unit - UInt8(ascii: "0") + 52
        case sixtyTwo: digit = 62
        case sixtyThree: digit = 63
        default: return nil
        }
        bits = bits << 6 | UInt32(digit)
        pending += 6
        if pending >= 8 {
            pending -= 8
            out.append(UInt8(truncatingIfNeeded: bits >> UInt32(pending)))
        }
    }
    // Bits that no byte uses have to be zero, or two texts would stand for the same bytes.
    guard bits & (1 << UInt32(pending) - 1) == 0 else { return nil }
    return out
}
