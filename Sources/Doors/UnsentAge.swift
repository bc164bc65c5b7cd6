// SPDX-License-Identifier: Apache-2.0

internal import Wire

/// How long the bytes a door holds for a slow device have waited (spec 03 section 14 [L]).
///
/// Times are kept in steps of a tenth of a second, so that a session costs a few dozen marks at most whatever the size
/// of its messages; a rule that speaks of seconds does not see the difference.
struct UnsentAge: Sendable {
    private struct Mark {
        /// Where, counted from the beginning of the stream, the bytes that were added from `since` on end.
        var end: UInt64
        let since: MonotonicTime
    }

    private static let step: Duration = .milliseconds(100)

    private var marks: [Mark] = []
    private var taken: UInt64 = 0

    /// When the device last took something, or began to have something to take; nil while nothing waits.
    private(set) var waitingSince: MonotonicTime?

    /// When the oldest byte that still waits was added; nil while nothing waits.
    var oldest: MonotonicTime? { marks.first?.since }

    /// Notes how much the device has taken in all, and how much waits behind that.
    mutating func note(taken total: UInt64, waiting: Int, at now: MonotonicTime) {
        guard waiting > 0 else {
            marks.removeAll()
            waitingSince = nil
            taken = total
            return
        }
        if waitingSince == nil || total > taken { waitingSince = now }
        taken = total
        let end = total + UInt64(waiting)
        while let first = marks.first, first.end <= total { marks.removeFirst() }
        guard let last = marks.last else {
            marks.append(Mark(end: end, since: now))
            return
        }
        guard end > last.end else { return }
        if now - last.since < Self.step {
            marks[marks.count - 1].end = end
        } else {
            marks.append(Mark(end: end, since: now))
        }
    }
}
