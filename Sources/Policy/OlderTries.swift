// SPDX-License-Identifier: Apache-2.0

package import Wire

/// Whether an older Sill keeps trying at the home door (03 §8). Three tries of one source within 60 s are shown for
/// 600 s from the last of them.
package struct OlderTries: Sendable {
    /// How long a try counts.
    package static let window: Duration = .seconds(60)
    /// How long the notice stands.
    package static let shownFor: Duration = .seconds(600)
    private static let enough = 3
    private static let sources = 1_024

    private var tries = LinkedTable<IPAddress, [MonotonicTime]>()
    /// When the notice is taken down; nil when none stands.
    package private(set) var shownUntil: MonotonicTime?

    package init() {}

    /// One more try; whether it is shown.
    package mutating func tried(_ source: IPAddress, at now: MonotonicTime) -> Bool {
        var kept = (tries[source] ?? []).filter { now - $0 < Self.window }
        kept.append(now)
        // Only the last few decide, so a flood of tries needs no more room.
        tries[source] = kept.suffix(Self.enough)
        tries.touch(source)
        if tries.count > Self.sources, let oldest = tries.first { tries.remove(oldest.key) }
        guard kept.count >= Self.enough else { return false }
        shownUntil = now + Self.shownFor
        return true
    }

    /// Whether the notice stands.
    package func isShown(at now: MonotonicTime) -> Bool { shownUntil.map { now < $0 } ?? false }
}
