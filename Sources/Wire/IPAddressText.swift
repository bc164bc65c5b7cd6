// SPDX-License-Identifier: Apache-2.0

// The text forms of addresses as glibc's inet_pton and inet_ntop define them, without glibc: Wire is pure, and link and
// API parsing must not depend on the system it runs on.

/// Four decimal numbers of 0 to 255 without leading zeros; nil for every other text.
func parseIPv4(_ units: some Collection<UInt8>) -> [UInt8]? {
    let parts = units.split(separator: UInt8(ascii: "."), maxSplits: 4, omittingEmptySubsequences: false)
    guard parts.count == 4 else { return nil }
    var out: [UInt8] = []
    out.reserveCapacity(4)
    for part in parts {
        guard (1...3).contains(part.count), part.allSatisfy(\.isASCIIDigit) else { return nil }
        if part.count > 1, part.first == UInt8(ascii: "0") { return nil }
        let value = part.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
        guard value <= 255 else { return nil }
        out.append(UInt8(value))
    }
    return out
}

/// The 16 bytes of an IPv6 text without brackets and zone; nil for every other text.
func parseIPv6(_ units: some Collection<UInt8>) -> [UInt8]? {
    // The longest text is six full groups and an IPv4 tail: 45 bytes.
    guard units.count >= 2, units.count <= 45 else { return nil }
    let text = Array(units)
    let colon = UInt8(ascii: ":")
    var out: [UInt8] = []
    out.reserveCapacity(16)
    var gap: Int?  // where `::` stands, as a count of bytes before it
    var index = 0
    if text[0] == colon {
        guard text[1] == colon else { return nil }
        index = 1
    }
    while index < text.count {
        if text[index] == colon {
            // Only reached right after another colon: this one makes the gap.
            guard gap == nil else { return nil }
            gap = out.count
            index += 1
            continue
        }
        let start = index
        var value: UInt16 = 0
        while index < text.count, let digit = Hex.value(of: text[index]) {
            guard index - start < 4 else { return nil }
            value = value << 4 | UInt16(digit)
            index += 1
        }
        if index < text.count, text[index] == UInt8(ascii: ".") {
            guard out.count <= 12, let tail = parseIPv4(text[start...]) else { return nil }
            out += tail
            index = text.count
            break
        }
        guard index > start, out.count <= 14 else { return nil }
        out.append(UInt8(value >> 8))
        out.append(UInt8(truncatingIfNeeded: value))
        if index < text.count {
            guard text[index] == colon, index + 1 < text.count else { return nil }
            index += 1
        }
    }
    if let gap {
        guard out.count < 16 else { return nil }
        out.insert(contentsOf: repeatElement(0, count: 16 - out.count), at: gap)
    }
    return out.count == 16 ? out : nil
}

/// Four decimal numbers.
func formatIPv4(_ address: UInt32) -> String {
    "\(address >> 24).\(address >> 16 & 0xFF).\(address >> 8 & 0xFF).\(address & 0xFF)"
}

/// Lower case, the longest run of two or more zero groups as `::`, the first of equal ones; an address of 96 zero bits
/// ends in IPv4 form, as glibc writes it.
func formatIPv6(high: UInt64, low: UInt64) -> String {
    let groups = (0..<8).map { index in
        UInt16(truncatingIfNeeded: (index < 4 ? high : low) >> UInt64(48 - index % 4 * 16))
    }
    var run = 0..<0
    var start = 0
    while start < 8 {
        let end = groups[start...].firstIndex { $0 != 0 } ?? 8
        if end - start >= 2, end - start > run.count { run = start..<end }
        start = max(end, start + 1)
    }
    if run == 0..<6 { return "::" + formatIPv4(UInt32(truncatingIfNeeded: low)) }
    func text(_ part: ArraySlice<UInt16>) -> String {
        part.map { String($0, radix: 16) }.joined(separator: ":")
    }
    guard !run.isEmpty else { return text(groups[...]) }
    return text(groups[..<run.lowerBound]) + "::" + text(groups[run.upperBound...])
}
