// SPDX-License-Identifier: Apache-2.0

/// Whether a link keeps up.
package enum LinkState: String, Sendable, CaseIterable {
    /// It does.
    case fine
    /// It carries less than the stream.
    case behind
    /// Nothing gets through.
    case stalled
}

/// Judges one session's link from its seconds (06 A6): a window of five seconds, two run counters, and what was last
/// reported. Judging changes nothing that is sent.
package struct LinkJudge: Sendable, Equatable {
    /// What there is to say after a second, or after a reset.
    package struct Report: Sendable, Equatable {
        /// The state now.
        package var state: LinkState
        /// Of this second.
        package var withheld: Int
        /// Of this second: sent and withheld.
        package var offered: Int
        /// Kilobits a second; nil when too few seconds measured it.
        package var carriedKbps: Int?
        /// Bytes, at this second's end.
        package var waiting: Int
        /// The stream is another, which says nothing about the link.
        package var isReset: Bool

        package init(
            state: LinkState, withheld: Int, offered: Int, carriedKbps: Int?, waiting: Int,
            isReset: Bool = false
        ) {
            self.state = state
            self.withheld = withheld
            self.offered = offered
            self.carriedKbps = carriedKbps
            self.waiting = waiting
            self.isReset = isReset
        }
    }

    /// Seconds looked at.
    package static let window = 5
    /// Short seconds in the window for *behind*.
    package static let shortSeconds = 3
    /// Seconds in a row that were not short, for *fine*.
    package static let cleanSeconds = 5
    /// Dead seconds in a row for *stalled*.
    package static let deadSeconds = 3
    /// Measured seconds in the window for a carried rate.
    package static let measuredSeconds = 3

    /// The verdict now.
    package private(set) var state = LinkState.fine

    // The window: a bit for each of the last seconds, the newest lowest, and what the measured ones took.
    private var shorts: UInt8 = 0
    private var measured: UInt8 = 0
    private var taken = TakenRing()
    // They only have to reach their thresholds.
    private var cleanRun = 0
    private var deadRun = 0
    private var lastReported: Int?

    package init() {}

    /// The mean of what the measured seconds in the window took, in kilobits a second.
    package var carriedKbps: Int? {
        let seconds = measured.nonzeroBitCount
        guard seconds >= Self.measuredSeconds else { return nil }
        // Halves away from zero, and nothing here is below it.
        return (taken.sum * 16 + seconds * 1000) / (seconds * 2000)
    }

    /// A second ended.
    package mutating func close(_ second: LinkSecond) -> Report? {
        let kept = UInt8(1) << Self.window - 1
        shorts = (shorts << 1 | (second.isShort ? 1 : 0)) & kept
        measured = (measured << 1 | (second.isMeasured ? 1 : 0)) & kept
        taken.push(second.isMeasured ? second.taken : 0)
        cleanRun = second.isShort ? 0 : min(cleanRun + 1, Self.cleanSeconds)
        deadRun = second.isDead ? min(deadRun + 1, Self.deadSeconds) : 0
        let next = next(after: second)
        guard next != state || speaksAgain else { return nil }
        state = next
        lastReported = next == .fine ? nil : carriedKbps
        return Report(
            state: next, withheld: second.withheld, offered: second.offered, carriedKbps: carriedKbps,
            waiting: second.waiting)
    }

    /// The stream is another, or none: judged afresh. A report only when there is something to take back.
    package mutating func reset() -> Report? {
        let wasFine = state == .fine
        self = LinkJudge()
        guard !wasFine else { return nil }
        return Report(state: .fine, withheld: 0, offered: 0, carriedKbps: nil, waiting: 0, isReset: true)
    }

    private func next(after second: LinkSecond) -> LinkState {
        let isBehind = shorts.nonzeroBitCount >= Self.shortSeconds
        switch state {
        case .fine:
            if deadRun >= Self.deadSeconds { return .stalled }
            return isBehind ? .behind : .fine
        case .behind:
            if deadRun >= Self.deadSeconds { return .stalled }
            return cleanRun >= Self.cleanSeconds ? .fine : .behind
        case .stalled:
            if second.isDead { return .stalled }
            return isBehind ? .behind : .fine
        }
    }

    /// In a state that goes on: a carried rate that is new, or moved by a quarter.
    private var speaksAgain: Bool {
        guard state != .fine, let carried = carriedKbps else { return false }
        guard let last = lastReported else { return true }
        return abs(carried - last) * 4 >= last
    }
}

/// What the last five seconds took.
private struct TakenRing: Sendable, Equatable {
    private var values = (0, 0, 0, 0, 0)

    mutating func push(_ value: Int) {
        values = (value, values.0, values.1, values.2, values.3)
    }

    var sum: Int { values.0 + values.1 + values.2 + values.3 + values.4 }

    static func == (left: TakenRing, right: TakenRing) -> Bool { left.values == right.values }
}
