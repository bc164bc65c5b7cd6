// SPDX-License-Identifier: Apache-2.0

/// A name of up to 16 ASCII bytes as two machine words: recognising one of a few known names then costs two
/// comparisons each, where comparing texts byte by byte is what a small request spends most of its time on.
package struct ShortName: Hashable, Sendable {
    private var high: UInt64 = 0
    private var low: UInt64 = 0
    // Tells "a" from "\0a".
    private let count: Int

    /// The name in these bytes; nil for longer ones. `ignoringCase` takes capital letters as small ones.
    package init?(_ bytes: Span<UInt8>, ignoringCase: Bool = false) {
        guard bytes.count <= 16 else { return nil }
        count = bytes.count
        for index in bytes.indices {
            let byte = ignoringCase ? bytes[index].asciiLowercased : bytes[index]
            if index < 8 { high = high << 8 | UInt64(byte) } else { low = low << 8 | UInt64(byte) }
        }
    }

    /// A known name, at most 16 bytes; of a longer one only the first 16 count.
    package init(_ known: StaticString) {
        let bytes = Array(known.description.utf8.prefix(16))
        count = bytes.count
        high = bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        low = bytes.dropFirst(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    package static func == (left: ShortName, right: ShortName) -> Bool {
        left.low == right.low && left.high == right.high && left.count == right.count
    }
}
