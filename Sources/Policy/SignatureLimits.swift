// SPDX-License-Identifier: Apache-2.0

package import Wire

/// How often a caller may do something: so many a second in the long run, and as many at once after a quiet second.
package struct RateLimit: Sendable {
    private let interval: Int64
    private let burst: Int64
    /// When the next one would be due if all so far had kept their distance.
    private var due = MonotonicTime(nanoseconds: .min)

    /// `perSecond` from 1 to a million.
    package init(perSecond: Int) {
        let rate = Int64(min(max(perSecond, 1), 1_000_000))
        interval = 1_000_000_000 / rate
        burst = rate
    }

    /// Takes one; nil, or how long to wait first, and then nothing was taken.
    package mutating func take(at now: MonotonicTime) -> Duration? {
        let earliest = max(due, now)
        let wait = earliest - now - .nanoseconds(interval * (burst - 1))
        if wait > .zero { return wait }
        due = earliest + .nanoseconds(interval)
        return nil
    }
}

/// Who had how much signed by the host's key, told once a minute at most, so that no handshake costs an audit row.
package struct SignatureTally: Sendable {
    /// One caller's count.
    package struct Line: Sendable, Equatable {
        /// As in audit rows.
        package var actor: String
        /// Signatures made for it since the last line.
        package var count: Int

        package init(actor: String, count: Int) {
            self.actor = actor
            self.count = count
        }
    }

    /// Between lines.
    package static let interval: Duration = .seconds(60)
    /// Callers told apart; there are two tokens and few users. Further ones count as one.
    package static let actorLimit = 16
    /// Stands for further ones.
    package static let others = "others"

    private var counts: [String: Int] = [:]
    /// When the running minute ends; nil while none runs.
    package private(set) var deadline: MonotonicTime?

    package init() {}

    /// Counts a signature; a line at once after a quiet minute.
    package mutating func signed(_ actor: String, at now: MonotonicTime) -> [Line] {
        let isKnown = counts[actor] != nil || counts.count < Self.actorLimit
        counts[isKnown ? actor : Self.others, default: 0] += 1
        guard deadline == nil else { return [] }
        deadline = now + Self.interval
        return take()
    }

    /// The minute ended: lines and another minute, or nothing was counted and none runs.
    package mutating func tick(at now: MonotonicTime) -> [Line] {
        guard let ended = deadline, now >= ended else { return [] }
        let lines = take()
        deadline = lines.isEmpty ? nil : ended + Self.interval
        return lines
    }

    private mutating func take() -> [Line] {
        let lines = counts.sorted { $0.key < $1.key }.map { Line(actor: $0.key, count: $0.value) }
        counts.removeAll(keepingCapacity: true)
        return lines
    }
}
