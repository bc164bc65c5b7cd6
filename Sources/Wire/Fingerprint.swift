// SPDX-License-Identifier: Apache-2.0

/// SHA-256 of a key's SubjectPublicKeyInfo: what every pin and every trust list compares (file 01 §5.2).
///
/// Four words instead of an array, so that a look-up on the trust list hashes 32 bytes without touching the heap.
package struct Fingerprint: Hashable, Sendable {
    private let words: (UInt64, UInt64, UInt64, UInt64)

    /// The bytes on the wire; nil unless there are exactly 32.
    package init?(bytes: [UInt8]) { self.init(bytes: bytes.span) }

    /// The same from bytes that are somewhere already: a start reads one for each device.
    package init?(bytes: Span<UInt8>) {
        guard bytes.count == 32 else { return nil }
        func word(_ start: Int) -> UInt64 {
            var word: UInt64 = 0
            for index in start..<start + 8 { word = word << 8 | UInt64(bytes[index]) }
            return word
        }
        words = (word(0), word(8), word(16), word(24))
    }

    /// The wire's text form: 43 characters of canonical base64url. Nil for any other text.
    package init?(base64url text: String) { self.init(base64url: Array(text.utf8).span) }

    /// The same from ASCII bytes, straight into words: the API's hot call reads one each time.
    package init?(base64url text: Span<UInt8>) {
        guard text.count == 43 else { return nil }
        var filled = InlineArray<4, UInt64>(repeating: 0)
        var next = 0
        var word: UInt64 = 0
        var free: UInt64 = 64
        for index in text.indices {
            guard let digit = Base64URL.digit(text[index]) else { return nil }
            if free >= 6 {
                word = word << 6 | digit
                free -= 6
            } else {
                // The word ends inside this digit, whose lower bits begin the next one.
                let rest = 6 - free
                filled[next] = word << free | digit >> rest
                next += 1
                word = digit & (1 << rest - 1)
                free = 64 - rest
            }
        }
        // 43 digits are 258 bits: the fourth word has been filled, and the last two bits belong to nothing.
        guard next == 4, word == 0 else { return nil }
        words = (filled[0], filled[1], filled[2], filled[3])
    }

    /// The 32 bytes.
    package var bytes: [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(32)
        for word in [words.0, words.1, words.2, words.3] {
            for shift in stride(from: UInt64(56), through: 0, by: -8) {
                out.append(UInt8(truncatingIfNeeded: word >> shift))
            }
        }
        return out
    }

    /// The 43 characters of the wire and of records.
    package var base64url: String { Base64URL.encode(bytes) }

    /// The index form of the first 80 bits: a host's ID or a device's (file 01 §5.3).
    package var id: SillID { SillID(firstWord: words.0, secondWord: words.1) }

    /// The first six characters of ``id``, for logs and lists.
    package var shortName: String { String(id.text.prefix(6)) }

    /// Its first 64 bits, most significant first: already uniform, so indexes need no further hash.
    package var leadingBits: UInt64 { words.0 }

    package static func == (left: Fingerprint, right: Fingerprint) -> Bool {
        left.words == right.words
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(words.0)
        hasher.combine(words.1)
        hasher.combine(words.2)
        hasher.combine(words.3)
    }
}
