// SPDX-License-Identifier: Apache-2.0

extension DialAddress {
    /// Reads an address in the order of file 02 §9.1; the first problem that applies is the result.
    package static func parse(_ typed: String) throws(AddressProblem) -> DialAddress {
        let text = typed.trimmed
        guard !text.isEmpty else { throw .empty }
        if text.utf8.prefix(5).map(\.asciiLowercased) == Array("sill:".utf8) { throw .pairingLink }
        for scalar in text.unicodeScalars
        where scalar.value < 0x20 || scalar.value == 0x7F || scalar.properties.isWhitespace {
            throw .malformed
        }
        let units = Array(text.utf8)
        if units.contains(UInt8(ascii: "%")) { throw .zone }
        if units.first == UInt8(ascii: "[") { return try parseBracketed(units) }
        let colons = units.indices.filter { units[$0] == UInt8(ascii: ":") }
        if colons.count >= 2 { return DialAddress(host: try parseIPv6Host(units[...])) }
        guard let colon = colons.first else { return DialAddress(host: try parsePlainHost(units[...])) }
        let host = try parsePlainHost(units[..<colon])
        return DialAddress(host: host, port: try parsePortAfterColon(units[colon...]))
    }

    private static func parseBracketed(_ units: [UInt8]) throws(AddressProblem) -> DialAddress {
        guard let end = units.firstIndex(of: UInt8(ascii: "]")) else { throw .ipv6 }
        let rest = units[(end + 1)...]
        guard rest.isEmpty || rest.first == UInt8(ascii: ":") else { throw .malformed }
        let host = try parseIPv6Host(units[1..<end])
        return DialAddress(host: host, port: rest.isEmpty ? nil : try parsePortAfterColon(rest))
    }

    /// The port in `:7455`.
    private static func parsePortAfterColon(_ units: ArraySlice<UInt8>) throws(AddressProblem) -> Int {
        guard let port = parsePort(String(decoding: units.dropFirst(), as: UTF8.self)) else { throw .port }
        return port
    }

    private static func parseIPv6Host(_ units: ArraySlice<UInt8>) throws(AddressProblem) -> Host {
        guard let bytes = parseIPv6(units), let address = IPAddress(bytes: bytes) else { throw .ipv6 }
        return address.family == .v4 ? .ipv4(address.description) : .ipv6(address.description)
    }

    /// A host without colons: IPv4 or a name.
    private static func parsePlainHost(_ units: ArraySlice<UInt8>) throws(AddressProblem) -> Host {
        guard !units.isEmpty else { throw .malformed }
        let text = String(decoding: units, as: UTF8.self)
        let body = units.last == UInt8(ascii: ".") ? units.dropLast() : units
        let labels = body.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        if labels.allSatisfy({ !$0.isEmpty && $0.allSatisfy(\.isASCIIDigit) }) {
            guard parseIPv4(units) != nil else { throw .ipv4 }
            return .ipv4(text)
        }
        if isLenientIPv4(units) { throw .ipv4 }
        guard (1...253).contains(body.count), labels.allSatisfy(isHostLabel) else { throw .name }
        return .name(text)
    }

    private static func isHostLabel(_ label: ArraySlice<UInt8>) -> Bool {
        let hyphen = UInt8(ascii: "-")
        guard (1...63).contains(label.count), label.first != hyphen, label.last != hyphen else {
            return false
        }
        return label.allSatisfy { unit in
            let lower = unit.asciiLowercased
            return unit == hyphen || unit.isASCIIDigit
                || lower >= UInt8(ascii: "a") && lower <= UInt8(ascii: "z")
        }
    }

    /// Whether `inet_aton` would read this: one to four numbers, the last filling all bytes that remain.
    private static func isLenientIPv4(_ units: ArraySlice<UInt8>) -> Bool {
        let parts = units.split(separator: UInt8(ascii: "."), maxSplits: 4, omittingEmptySubsequences: false)
        guard parts.count <= 4 else { return false }
        for (index, part) in parts.enumerated() {
            let isLast = index == parts.count - 1
            let limit: UInt64 = isLast ? 1 << UInt64(8 * (4 - index)) : 256
            guard let value = lenientNumber(part), value < limit else { return false }
        }
        return true
    }

    /// A decimal number, an octal one after `0`, or a hexadecimal one after `0x`; nil for anything else or past 64 bits.
    private static func lenientNumber(_ part: ArraySlice<UInt8>) -> UInt64? {
        var digits = part
        var radix = 10
        if part.count > 1, part.first == UInt8(ascii: "0") {
            let isHex = part[part.startIndex + 1] | 0x20 == UInt8(ascii: "x")
            digits = part.dropFirst(isHex ? 2 : 1)
            radix = isHex ? 16 : 8
        }
        // The initializer below would take a sign.
        guard digits.allSatisfy({ Hex.value(of: $0) != nil }) else { return nil }
        return UInt64(String(decoding: digits, as: UTF8.self), radix: radix)
    }
}
