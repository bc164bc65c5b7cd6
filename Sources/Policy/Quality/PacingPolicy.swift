// SPDX-License-Identifier: Apache-2.0

package import Wire

/// Which frames go to one client, so that a slow link shows a lower frame rate and never a growing delay (06 A9). For
/// the streaming process; the relay itself only applies back-pressure.
package struct PacingPolicy: Sendable {
    /// A backlog up to this never drops a frame.
    package static let budget = 256 << 10
    /// Growth above what the last keyframe left behind.
    package static let slack = 128 << 10
    /// What may wait beyond all keyframes that are still being taken.
    package static let holdCap = 512 << 10
    /// A keyframe is asked for only when at most this waits.
    package static let idle = 16 << 10
    /// Messages a client at home may have unacknowledged before a delta is dropped.
    package static let homeUnacknowledged = 2

    /// What to do with a frame.
    package enum Verdict: Sendable, Equatable {
        /// Hand it over, then call `handed`.
        case send
        /// Leave it out; `counts` when the judge is to know, `asks` when the encoder is asked for a keyframe.
        case withhold(counts: Bool, asks: Bool)
    }

    private struct Keyframe: Sendable {
        var size: Int
        /// Where its last byte lies in all that was handed over.
        var end: Int
    }

    private let isHome: Bool
    /// Bytes handed over and taken so far.
    private var handedTotal = 0
    private var takenTotal = 0
    private var keyframes: [Keyframe] = []
    /// What waited when the last keyframe was taken; follows the backlog down.
    private var floor = 0
    /// Nothing was sent since admission or a restart.
    private var isFresh = true
    /// A frame was lost: nothing until a keyframe.
    private var isSkipping = true
    private var sent = 0
    private var withheld = 0

    /// A client by its door; it waits for its first keyframe.
    package init(isHome: Bool) {
        self.isHome = isHome
    }

    /// Bytes handed over and not yet taken.
    package var pending: Int { handedTotal - takenTotal }

    /// Whether it waits for a keyframe.
    package var awaitsKeyframe: Bool { isSkipping }

    /// The frames of the judge's second so far; begins another.
    package mutating func closeSecond() -> (sent: Int, withheld: Int) {
        defer { (sent, withheld) = (0, 0) }
        return (sent, withheld)
    }

    /// Judges a frame that is ready. `unacknowledged` are the messages that a client at home has not acknowledged; `spacing`
    /// is shared by all clients of one encoder.
    package mutating func offer(
        isKeyframe: Bool, unacknowledged: Int = 0, spacing: inout KeyframeSpacing, at now: MonotonicTime
    ) -> Verdict {
        if isSkipping ? isKeyframe && mayResume : !isDropped(isKeyframe, unacknowledged) { return .send }
        let wasSkipping = isSkipping
        isSkipping = true
        if !isFresh { withheld += 1 }
        // At home it is asked for at once, and once.
        let asks = isHome ? !wasSkipping && spacing.ask(at: now, atOnce: true) : asks(&spacing, at: now)
        return .withhold(counts: !isFresh, asks: asks)
    }

    /// A frame was handed over, with the size of its whole message.
    package mutating func handed(bytes: Int, isKeyframe: Bool) {
        let bytes = max(bytes, 0)
        handedTotal += bytes
        sent += 1
        if isKeyframe {
            keyframes.append(Keyframe(size: bytes, end: handedTotal))
            isFresh = false
            isSkipping = false
        }
    }

    /// The connection took so many bytes, in whatever parts.
    package mutating func took(bytes: Int) {
        takenTotal = min(takenTotal + max(bytes, 0), handedTotal)
        var wasKeyframe = false
        while let first = keyframes.first, first.end <= takenTotal {
            keyframes.removeFirst()
            wasKeyframe = true
        }
        floor = wasKeyframe && keyframes.isEmpty ? pending : min(floor, pending)
    }

    /// Once a second: the picture may have gone still while a keyframe is due. Whether to ask the encoder.
    package mutating func sweep(spacing: inout KeyframeSpacing, at now: MonotonicTime) -> Bool {
        isSkipping && !isHome && asks(&spacing, at: now)
    }

    /// The stream began anew: the next keyframe goes at once, and what is skipped before it is nobody's fault.
    package mutating func restarted() {
        isFresh = true
        isSkipping = true
        (sent, withheld) = (0, 0)
    }

    private var mayResume: Bool { isHome || isFresh || pending <= Self.budget }

    private func isDropped(_ isKeyframe: Bool, _ unacknowledged: Int) -> Bool {
        if isHome { return !isKeyframe && unacknowledged > Self.homeUnacknowledged }
        if !keyframes.isEmpty { return pending - keyframeBytes > Self.holdCap }
        return pending > max(Self.budget, floor + Self.slack)
    }

    /// What is left to take of the keyframes.
    private var keyframeBytes: Int {
        keyframes.reduce(0) { $0 + min($1.size, $1.end - takenTotal) }
    }

    private func asks(_ spacing: inout KeyframeSpacing, at now: MonotonicTime) -> Bool {
        pending <= Self.idle && spacing.ask(at: now)
    }
}

/// How often the clients of one encoder may ask for a keyframe.
package struct KeyframeSpacing: Sendable {
    /// Since the last request.
    package static let alone: Duration = .seconds(2)
    /// Beside a client at home, who would see each: since the last request and since any keyframe.
    package static let besideHome: Duration = .seconds(4)

    /// Whether a client at home is connected.
    package var hasHomeClient = false
    private var askedAt: MonotonicTime?
    private var keyframeAt: MonotonicTime?

    package init() {}

    /// A keyframe came from the encoder, asked for or not.
    package mutating func keyframe(at now: MonotonicTime) { keyframeAt = now }

    /// Whether one may be asked for now; then it counts as asked for.
    mutating func ask(at now: MonotonicTime, atOnce: Bool = false) -> Bool {
        if !atOnce {
            let spacing = hasHomeClient ? Self.besideHome : Self.alone
            if let askedAt, now - askedAt < spacing { return false }
            if hasHomeClient, let keyframeAt, now - keyframeAt < spacing { return false }
        }
        askedAt = now
        return true
    }
}
