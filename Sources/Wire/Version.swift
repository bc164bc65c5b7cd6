// SPDX-License-Identifier: Apache-2.0

/// The version of a device app (file 01 §8.2). Trailing zero parts do not count: `v0.4.0` is `0.4`.
package struct Version: Comparable, Hashable, Sendable {
    // Without trailing zeros, so that equal versions are equal arrays.
    private let parts: [UInt32]

    /// Older than every version a device can have.
    package static let zero = Version(parts: [])

    private init(parts: [UInt32]) {
        self.parts = parts
    }

    /// Reads a version text: white space around it, one leading `v`, and whatever follows the numbers are ignored.
    /// Nil when it holds no version.
    package init?(_ text: String) {
        var units = text.trimmed.utf8[...]
        if let first = units.first, first.asciiLowercased == UInt8(ascii: "v") { units.removeFirst() }
        units = units.prefix { $0.isASCIIDigit || $0 == UInt8(ascii: ".") }
        while units.last == UInt8(ascii: ".") { units.removeLast() }
        // Nine parts and the rest in one are enough to see that there are too many.
        let texts = units.split(separator: UInt8(ascii: "."), maxSplits: 8, omittingEmptySubsequences: false)
        guard texts.count <= 8 else { return nil }
        var parts: [UInt32] = []
        for text in texts {
            guard (1...9).contains(text.count) else { return nil }
            parts.append(text.reduce(0) { $0 * 10 + UInt32($1 - UInt8(ascii: "0")) })
        }
        guard !parts.isEmpty else { return nil }
        while parts.last == 0 { parts.removeLast() }
        self.parts = parts
    }

    /// At least two parts, no trailing zero parts beyond the second: `1.0`, `0.4`, `1.2.3`.
    package var shown: String {
        (parts + repeatElement(0, count: max(0, 2 - parts.count))).map(String.init).joined(separator: ".")
    }

    /// Whether this is ``zero``: as a floor, it refuses nobody.
    package var isZero: Bool { parts.isEmpty }

    package static func < (left: Version, right: Version) -> Bool {
        // A missing part counts as zero, and no array ends in zeros: the shorter of two equal beginnings is less.
        left.parts.lexicographicallyPrecedes(right.parts)
    }
}
