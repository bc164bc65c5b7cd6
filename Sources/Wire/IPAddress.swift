// SPDX-License-Identifier: Apache-2.0

/// An IPv4 or IPv6 address. An IPv4-mapped IPv6 address is IPv4 from the start, so that no rule sees two forms of one
/// peer (file 03 §3.1).
package struct IPAddress: Hashable, Sendable, CustomStringConvertible {
    /// Which protocol the address belongs to.
    package enum Family: Sendable {
        case v4, v6
    }

    /// Which protocol the address belongs to, after IPv4-mapped addresses became IPv4.
    package let family: Family

    /// The interface index of a link-local IPv6 address, 0 for none and for IPv4. Part of equality; see ``unscoped``.
    package let scope: UInt32

    // IPv4 sits in the low 32 bits of `low`. Words, so that comparing and hashing need no heap.
    private let high: UInt64
    private let low: UInt64

    private init(family: Family, high: UInt64, low: UInt64, scope: UInt32) {
        let isMapped = family == .v6 && high == 0 && low >> 32 == 0xFFFF
        self.family = isMapped ? .v4 : family
        self.high = high
        self.low = isMapped ? low & 0xFFFF_FFFF : low
        self.scope = self.family == .v4 ? 0 : scope
    }

    /// An IPv4 address as a number, its first byte highest.
    package init(v4 number: UInt32) { self.init(family: .v4, high: 0, low: UInt64(number), scope: 0) }

    /// The address of 4 or 16 bytes in network order; nil for another count.
    package init?(bytes: [UInt8], scope: UInt32 = 0) {
        switch bytes.count {
        case 4:
            self.init(family: .v4, high: 0, low: bytes.reduce(0) { $0 << 8 | UInt64($1) }, scope: 0)
        case 16:
            self.init(
                family: .v6, high: bytes[..<8].reduce(0) { $0 << 8 | UInt64($1) },
                low: bytes[8...].reduce(0) { $0 << 8 | UInt64($1) }, scope: scope)
        default:
            return nil
        }
    }

    /// What `inet_pton` reads, with brackets around and a zone after it taken off first. An all-digit zone is the
    /// interface index; a named one is dropped, since only the system knows its index.
    package init?(_ text: String) {
        var units = Array(text.utf8)[...]
        if units.first == UInt8(ascii: "[") {
            guard units.last == UInt8(ascii: "]") else { return nil }
            units = units.dropFirst().dropLast()
        }
        var scope: UInt32 = 0
        if let percent = units.firstIndex(of: UInt8(ascii: "%")) {
            let zone = units[(percent + 1)...]
            guard !zone.isEmpty else { return nil }
            if zone.allSatisfy(\.isASCIIDigit) {
                guard let index = UInt32(String(decoding: zone, as: UTF8.self)) else { return nil }
                scope = index
            }
            units = units[..<percent]
        }
        guard let bytes = parseIPv4(units) ?? parseIPv6(units) else { return nil }
        self.init(bytes: bytes, scope: scope)
    }

    /// The 4 or 16 bytes in network order.
    package var bytes: [UInt8] {
        let words = family == .v4 ? [] : [high]
        var out: [UInt8] = []
        out.reserveCapacity(16)
        for word in words + [low] {
            for shift in stride(from: UInt64(56), through: 0, by: -8) {
                out.append(UInt8(truncatingIfNeeded: word >> shift))
            }
        }
        return family == .v4 ? Array(out.suffix(4)) : out
    }

    /// What `inet_ntop` writes, without a zone: the text of a *source* (file 01 §0).
    package var description: String {
        family == .v4 ? formatIPv4(UInt32(truncatingIfNeeded: low)) : formatIPv6(high: high, low: low)
    }

    /// Without interface: no index, and the bytes where some systems embed one (fe80::/10, offsets 2 and 3) zeroed.
    package var unscoped: IPAddress {
        guard family == .v6 else { return self }
        let embedded: UInt64 = high >> 54 == 0xFE80 >> 6 ? 0x0000_FFFF_0000_0000 : 0
        return IPAddress(family: .v6, high: high & ~embedded, low: low, scope: 0)
    }
}

extension IPAddress {
    /// The zone in the text of an address, with or without brackets and port: what follows `%` up to `]` or the end
    /// (file 03 §3.1, [L]). A name, or the digits of an index; nil when there is none. For the local API, which names
    /// interfaces that only the system knows the index of.
    package static func zone(in text: String) -> String? {
        guard let percent = text.utf8.firstIndex(of: UInt8(ascii: "%")) else { return nil }
        let zone = text.utf8[text.utf8.index(after: percent)...].prefix { $0 != UInt8(ascii: "]") }
        return zone.isEmpty ? nil : String(Substring(zone))
    }
}

// The ranges of file 03 §3.1.
extension IPAddress {
    /// 127.0.0.0/8 and `::1`.
    package var isLoopback: Bool { isV4(0x7F00_0000, bits: 8) || family == .v6 && high == 0 && low == 1 }

    /// `0.0.0.0` and `::`: as an address to listen at, all of the family.
    package var isUnspecified: Bool { high == 0 && low == 0 }

    /// 224.0.0.0/4 and ff00::/8, and what IPv4 has above: never one machine's address.
    package var isMulticast: Bool { isV4(0xE000_0000, bits: 3) || family == .v6 && high >> 56 == 0xFF }

    /// 169.254.0.0/16 and fe80::/10.
    package var isLinkLocal: Bool {
        isV4(0xA9FE_0000, bits: 16) || family == .v6 && high >> 54 == 0xFE80 >> 6
    }

    /// 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16 and fc00::/7. Carrier addresses are not.
    package var isPrivate: Bool {
        isV4(0x0A00_0000, bits: 8) || isV4(0xAC10_0000, bits: 12) || isV4(0xC0A8_0000, bits: 16)
            || family == .v6 && high >> 57 == 0xFC >> 1
    }

    /// 100.64.0.0/10, which carriers and VPNs share among many networks.
    package var isCarrier: Bool { isV4(0x6440_0000, bits: 10) }

    /// Whether the first `bits` bits are those of `prefix`. Another family, or a count that the family has not, is not
    /// inside. Scopes do not count.
    package func isInside(prefix: IPAddress, bits: Int) -> Bool {
        guard family == prefix.family, bits >= 0, bits <= (family == .v4 ? 32 : 128) else { return false }
        // A shift by the full width gives 0 in Swift, which is what a prefix of no bits needs.
        if family == .v4 { return (low ^ prefix.low) >> UInt64(32 - bits) == 0 }
        let highBits = min(bits, 64)
        return (high ^ prefix.high) >> UInt64(64 - highBits) == 0
            && (low ^ prefix.low) >> UInt64(64 - (bits - highBits)) == 0
    }

    private func isV4(_ prefix: UInt64, bits: UInt64) -> Bool {
        family == .v4 && (low ^ prefix) >> (32 - bits) == 0
    }
}
