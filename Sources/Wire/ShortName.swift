// SPDX-License-Identifier: Apache-2.0

/// A name of up to 16 ASCII bytes as two machine words: recognising one of a few known names then costs two
/// comparisons each, where comparing texts byte by byte is what a small request spends most of its time on.
package struct ShortName: Hashable, Sendable {
    /// The first eight bytes, or all of a shorter name: the last of them lowest.
    package let high: UInt64
    /// The bytes after the eighth.
    package let low: UInt64
    /// How many bytes. Tells "a" from "\0a".
    package let count: Int

    /// The name in these bytes; nil for longer ones. `ignoringCase` takes capital letters as small ones.
    package init?(_ bytes: Span<UInt8>, ignoringCase: Bool = false) {
        let count = bytes.count
        guard count <= 16 else { return nil }
        var words: (high: UInt64, low: UInt64) = (0, 0)
        for index in 0..<min(count, 8) { words.high = words.high << 8 | UInt64(bytes[index]) }
        if count > 8 { for index in 8..<count { words.low = words.low << 8 | UInt64(bytes[index]) } }
        if ignoringCase {
            words.high = Self.lowercased(words.high)
            words.low = Self.lowercased(words.low)
        }
        high = words.high
        low = words.low
        self.count = count
    }

    /// A known name, at most 16 bytes; of a longer one only the first 16 count.
    package init(_ known: StaticString) {
        let bytes = Array(known.description.utf8.prefix(16))
        count = bytes.count
        high = bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        low = bytes.dropFirst(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// All eight letters of a word at once: a byte is a capital when its low seven bits are at least "A" and below "[",
    /// which carries into its highest bit, and that bit was not set before.
    private static func lowercased(_ word: UInt64) -> UInt64 {
        let low = word & 0x7F7F_7F7F_7F7F_7F7F
        let atLeastA = low &+ 0x3F3F_3F3F_3F3F_3F3F
        let aboveZ = low &+ 0x2525_2525_2525_2525
        let capitals = atLeastA & ~aboveZ & ~word & 0x8080_8080_8080_8080
        return word | capitals >> 2
    }

    package static func == (left: ShortName, right: ShortName) -> Bool {
        left.low == right.low && left.high == right.high && left.count == right.count
    }
}
