// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import Wire

/// Times of signing, each later than the one before: a device takes a kind 18 only when its `issuedAt` is strictly
/// greater than the last one's (spec 01 section 6.3), and two changes may fall into one millisecond.
final class IssueClock: Sendable {
    /// How far it goes on ahead of a clock that was set back. Beyond this the clock's word counts: a host must not sign
    /// a wrong time for as long as it runs.
    private static let ahead: Int64 = 1_000

    private let wall: @Sendable () -> WallTime
    private let last = Mutex(WallTime(milliseconds: .min))

    init(_ wall: @escaping @Sendable () -> WallTime) { self.wall = wall }

    /// The time to sign with.
    func stamp() -> WallTime {
        last.withLock { last in
            let now = wall()
            let isBehind = now <= last && now.milliseconds > last.milliseconds - Self.ahead
            last = isBehind ? WallTime(milliseconds: last.milliseconds + 1) : now
            return last
        }
    }
}
