// SPDX-License-Identifier: Apache-2.0

package import Wire

/// One door's refusals, told once a minute at most (03 §9). It never knows an address, a key or a name.
package struct RefusalSummary: Sendable {
    /// One line: how many under each word, in the words' order.
    package struct Line: Sendable, Equatable {
        /// Only words that were counted.
        package var counts: [(word: RefusalWord, count: Int)]

        /// `unpaired 3, limit 1`.
        package var text: String { counts.map { "\($0.word.rawValue) \($0.count)" }.joined(separator: ", ") }

        package static func == (left: Line, right: Line) -> Bool { left.text == right.text }
    }

    /// Between lines.
    package static let interval: Duration = .seconds(60)

    private var counts: [RefusalWord: Int] = [:]
    /// When the running timer ends; nil while none runs.
    package private(set) var deadline: MonotonicTime?

    package init() {}

    /// Counts a refusal; a line at once after a quiet minute.
    package mutating func refused(_ word: RefusalWord, at now: MonotonicTime) -> Line? {
        counts[word, default: 0] += 1
        guard deadline == nil else { return nil }
        deadline = now + Self.interval
        return take()
    }

    /// The timer ended: a line and the timer goes on, or nothing was counted and it stops.
    package mutating func tick(at now: MonotonicTime) -> Line? {
        guard let ended = deadline, now >= ended else { return nil }
        guard let line = take() else {
            deadline = nil
            return nil
        }
        deadline = ended + Self.interval
        return line
    }

    private mutating func take() -> Line? {
        let line = RefusalWord.counted.compactMap { word in counts[word].map { (word: word, count: $0) } }
        counts.removeAll(keepingCapacity: true)
        return line.isEmpty ? nil : Line(counts: line)
    }
}
