// SPDX-License-Identifier: Apache-2.0

/// Which frames go to one client, so that a slow link shows a lower frame rate and never a growing delay (Sill's pacing;
/// docs/integrate.md says how a streaming process uses it). One for each client; a value, without a clock.
///
/// For every frame of the encoder: tell it what the connection took (``took(bytes:)`` or ``took(leaving:)``), `offer` the
/// frame, and after a ``Verdict/send`` hand the frame over and say so (``handed(bytes:isKeyframe:)``).
public struct PacingPolicy: Sendable, Equatable {
    /// A backlog up to this never drops a frame. Bytes, as all sizes here.
    public static let budget = 256 << 10
    /// Growth above what the last keyframe left behind.
    public static let slack = 128 << 10
    /// What may wait beyond all keyframes that are still being taken.
    public static let holdCap = 512 << 10
    /// A keyframe is asked for only when at most this waits.
    public static let idle = 16 << 10
    /// Messages a client at home may have unacknowledged before a delta is dropped.
    public static let homeUnacknowledged = 2

    /// What to do with a frame.
    public enum Verdict: Sendable, Equatable {
        /// Hand it over, then call ``PacingPolicy/handed(bytes:isKeyframe:)``.
        case send
        /// Leave it out. `counts`: the link's judge is to know, as one frame withheld. `asks`: ask the encoder for a
        /// keyframe now.
        case withhold(counts: Bool, asks: Bool)
    }

    private struct Keyframe: Sendable, Equatable {
        var size: Int
        /// Where its last byte lies in all that was handed over.
        var end: Int
    }

    /// What a message's 32-bit length can say, with its header: so many that no sum here ends.
    private static let longest = 1 << 33

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
    /// A client at home has asked for the keyframe that it waits for: at once, and once.
    private var hasAsked = false
    private var sent = 0
    private var withheld = 0

    /// A client by its door (`isHome`: the home door); it waits for its first keyframe.
    public init(isHome: Bool) {
        self.isHome = isHome
    }

    /// Bytes handed over and not yet taken.
    public var pending: Int { handedTotal - takenTotal }

    /// Whether it waits for a keyframe.
    public var awaitsKeyframe: Bool { isSkipping }

    /// The frames of the judge's second so far (`sent` and `withheld` of `POST /v1/sessions/{id}/seconds`); begins
    /// another.
    public mutating func closeSecond() -> (sent: Int, withheld: Int) {
        defer { (sent, withheld) = (0, 0) }
        return (sent, withheld)
    }

    /// Judges a frame that is ready. `unacknowledged` are the messages that a client at home has not acknowledged;
    /// `spacing` is shared by all clients of one encoder, and so is the start that `now` is counted from.
    public mutating func offer(
        isKeyframe: Bool, unacknowledged: Int = 0, spacing: inout KeyframeSpacing, at now: Duration
    ) -> Verdict {
        if isSkipping ? isKeyframe && mayResume(unacknowledged) : !isDropped(isKeyframe, unacknowledged) {
            return .send
        }
        if !isFresh { withheld += 1 }
        var asks = false
        if !isHome {
            asks = self.asks(&spacing, at: now)
        } else if isKeyframe {
            // The one asked for came before there was room: another when there is.
            hasAsked = false
        } else if !hasAsked, !isSkipping || isFresh || unacknowledged <= Self.homeUnacknowledged {
            asks = spacing.ask(at: now, atOnce: true)
            hasAsked = true
        }
        isSkipping = true
        return .withhold(counts: !isFresh, asks: asks)
    }

    /// A frame was handed over, with the size of its whole message.
    public mutating func handed(bytes: Int, isKeyframe: Bool) {
        let bytes = min(max(bytes, 0), Self.longest)
        handedTotal += bytes
        sent += 1
        if isKeyframe {
            keyframes.append(Keyframe(size: bytes, end: handedTotal))
            isFresh = false
            isSkipping = false
            hasAsked = false
        }
    }

    /// The connection took so many bytes, in whatever parts.
    public mutating func took(bytes: Int) {
        takenTotal += min(max(bytes, 0), pending)
        var wasKeyframe = false
        while let first = keyframes.first, first.end <= takenTotal {
            keyframes.removeFirst()
            wasKeyframe = true
        }
        floor = wasKeyframe && keyframes.isEmpty ? pending : min(floor, pending)
    }

    /// The same for who measures what waits, instead of counting what is taken: at most `waiting` bytes are pending now.
    public mutating func took(leaving waiting: Int) {
        took(bytes: pending - min(max(waiting, 0), pending))
    }

    /// Once a second: the picture may have gone still while a keyframe is due. Whether to ask the encoder for one.
    public mutating func sweep(spacing: inout KeyframeSpacing, at now: Duration) -> Bool {
        isSkipping && !isHome && asks(&spacing, at: now)
    }

    /// The stream began anew: the next keyframe goes at once, and what is skipped before it is nobody's fault.
    public mutating func restarted() {
        isFresh = true
        isSkipping = true
        hasAsked = false
        (sent, withheld) = (0, 0)
    }

    private func mayResume(_ unacknowledged: Int) -> Bool {
        isFresh || pending <= Self.budget || (isHome && unacknowledged <= Self.homeUnacknowledged)
    }

    private func isDropped(_ isKeyframe: Bool, _ unacknowledged: Int) -> Bool {
        if isHome { return !isKeyframe && unacknowledged > Self.homeUnacknowledged }
        if !keyframes.isEmpty { return pending - keyframeBytes > Self.holdCap }
        return pending > max(Self.budget, floor + Self.slack)
    }

    /// What is left to take of the keyframes.
    private var keyframeBytes: Int {
        keyframes.reduce(0) { $0 + min($1.size, $1.end - takenTotal) }
    }

    private func asks(_ spacing: inout KeyframeSpacing, at now: Duration) -> Bool {
        pending <= Self.idle && spacing.ask(at: now)
    }
}
