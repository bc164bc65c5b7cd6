// SPDX-License-Identifier: Apache-2.0

/// How much of a session's plaintext TLS and the kernel have taken, told from how much ciphertext the kernel has (06 C2).
///
/// Both streams are positions, counted from their beginning. What one write gave to TLS is a stretch of both; what TLS
/// adds counts as the front of its stretch, so a byte never counts before the kernel has it, at most a stretch's
/// overhead too late (22 bytes for each 16 KiB), and the last one exactly when the kernel has everything.
struct TakenPlaintext: Sendable, Equatable {
    private struct Mark: Equatable {
        /// Where the stretch ends in the plaintext.
        var plain: UInt64
        /// Where it ends in the ciphertext.
        var cipher: UInt64
    }

    /// Stretches that together hold at most this much plaintext are one, so that a hold full of tiny messages has few
    /// marks: for 256 KiB at most 130, and 64 that are done with.
    static let smallest = 4_096

    /// Room for so many marks stays with a quiet session.
    private static let kept = 16
    /// Marks that are done with go when there are so many, all at once.
    private static let compactAt = 64

    // Of the stretches that are not wholly taken, in order, from `first` on.
    private var marks: [Mark] = []
    private var first = 0

    /// Plaintext given to TLS.
    private(set) var written: UInt64 = 0
    /// Plaintext taken.
    private(set) var taken: UInt64 = 0
    // Where the first mark's stretch begins.
    private var start: UInt64 = 0

    /// Plaintext held in user space.
    var waiting: Int { Int(written - taken) }

    /// Marks in memory: what this costs.
    var markCount: Int { marks.count }

    /// So much plaintext went through TLS, and its ciphertext ends here.
    mutating func wrote(_ count: Int, cipherEnd: UInt64) {
        guard count > 0 else { return }
        written += UInt64(count)
        let last = marks.count - 1
        if last >= first {
            let lastStart = last == first ? start : marks[last - 1].plain
            if written - lastStart <= UInt64(Self.smallest) {
                marks[last] = Mark(plain: written, cipher: cipherEnd)
                return
            }
        }
        marks.append(Mark(plain: written, cipher: cipherEnd))
    }

    /// The kernel has taken so much ciphertext in all; how much more plaintext that means.
    mutating func took(cipher: UInt64) -> Int {
        let before = taken
        while first < marks.count, marks[first].cipher <= cipher {
            start = marks[first].plain
            taken = start
            first += 1
        }
        if first == marks.count {
            marks.removeAll(keepingCapacity: true)
            first = 0
        } else {
            let mark = marks[first]
            let held = min(mark.plain - start, mark.cipher - cipher)
            // A stretch that grew may seem to hold more than before.
            taken = max(taken, mark.plain - held)
            if first >= Self.compactAt { compact() }
        }
        return Int(taken - before)
    }

    /// Gives back the memory of an empty list that was long.
    mutating func releaseIdleMemory() {
        if marks.isEmpty, marks.capacity > Self.kept { marks = [] }
    }

    private mutating func compact() {
        marks.removeFirst(first)
        first = 0
    }
}
