// SPDX-License-Identifier: Apache-2.0

/// Where frames (kind 1) end in the plaintext on its way to a device, for as long as they are not taken.
///
/// Positions count the stream's bytes from its beginning. Bounded: beyond ``limit`` entries a frame joins the one before
/// it and counts with the later end, so that nothing is counted too early.
struct FrameEnds: Sendable, Equatable {
    /// Frames that end at one place, as far as is told apart.
    struct Entry: Sendable, Equatable {
        /// The position behind the last byte.
        var end: UInt64
        var frames: Int
        /// Whether a keyframe is among them.
        var hasKeyframe: Bool
    }

    /// Entries that wait at most. At 256 KiB held, frames are told apart from 4 KiB on, or 2 Mbps at 60 a second.
    static let limit = 64

    /// Room for so many stays with a quiet session.
    private static let kept = 16

    private var waiting: [Entry] = []
    // Entries before this one are taken; they go all at once, so that taking one does not move the others.
    private var first = 0

    /// Whether every frame that ended was taken.
    var isEmpty: Bool { first == waiting.count }

    /// A frame ends here, behind those before it.
    mutating func add(end: UInt64, isKeyframe: Bool) {
        guard waiting.count - first < Self.limit else {
            let last = waiting.count - 1
            waiting[last].end = end
            waiting[last].frames += 1
            if isKeyframe { waiting[last].hasKeyframe = true }
            return
        }
        if first >= Self.limit { compact() }
        waiting.append(Entry(end: end, frames: 1, hasKeyframe: isKeyframe))
    }

    /// The next frames that end in what has been taken; nil when there are none.
    mutating func take(upTo taken: UInt64) -> Entry? {
        guard first < waiting.count, waiting[first].end <= taken else { return nil }
        let entry = waiting[first]
        first += 1
        if isEmpty { compact() }
        return entry
    }

    /// Gives back the memory of an empty list that was long.
    mutating func releaseIdleMemory() {
        if isEmpty, waiting.capacity > Self.kept { waiting = [] }
    }

    private mutating func compact() {
        waiting.removeFirst(first)
        first = 0
    }
}
