// SPDX-License-Identifier: Apache-2.0

extension UInt8 {
    /// Whether this is one of `0` to `9`. Unicode has more digits; no rule of the protocol means those.
    var isASCIIDigit: Bool { self >= UInt8(ascii: "0") && self <= UInt8(ascii: "9") }

    /// An ASCII letter in lower case; every other byte as it is.
    var asciiLowercased: UInt8 { self >= UInt8(ascii: "A") && self <= UInt8(ascii: "Z") ? self | 0x20 : self }
}

extension String {
    /// Without White_Space at both ends, line ends included: the first step of every text a person hands over.
    /// Counts scalars, so a combining mark does not hide the space under it.
    var trimmed: String {
        let scalars = unicodeScalars
        guard let first = scalars.firstIndex(where: { !$0.properties.isWhitespace }),
            let last = scalars.lastIndex(where: { !$0.properties.isWhitespace })
        else { return "" }
        return String(scalars[first...last])
    }

    /// Whether the two texts are the same bytes. `==` also takes canonically equivalent texts, such as the Kelvin sign
    /// for `K`, as the same, which the wire does not.
    func isSameBytes(as other: String) -> Bool {
        utf8.elementsEqual(other.utf8)
    }
}

/// A port of 1 to 5 ASCII digits and 1 to 65535; leading zeros are allowed (file 02 §3.1, §9.1).
func parsePort(_ text: some StringProtocol) -> Int? {
    let units = text.utf8
    guard (1...5).contains(units.count), units.allSatisfy(\.isASCIIDigit) else { return nil }
    let value = units.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    return (1...65_535).contains(value) ? value : nil
}
