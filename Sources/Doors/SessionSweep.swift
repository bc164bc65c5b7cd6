// SPDX-License-Identifier: Apache-2.0

internal import Core
internal import Policy
internal import Wire

/// Which sessions are cut because nothing comes from the device or nothing goes to it (spec 03 section 14).
enum SessionSweep {
    /// How often a worker looks.
    static let interval: Duration = .seconds(1)

    /// A remote device that said nothing for longer than this is gone, once it was admitted that long ago.
    static let remoteSilence: Duration = .seconds(8)
    /// A remote device that took nothing for this long, while something waited.
    static let remoteDrain: Duration = .seconds(15)
    /// A home device whose oldest waiting byte is older than this.
    static let homeDrain: Duration = .seconds(4)
    /// How long after admission a home session is left alone.
    static let homeGrace: Duration = .seconds(8)

    struct Facts: Sendable {
        var door: Door
        var admittedAt: MonotonicTime
        /// When the last byte came; nil while the door itself is not reading, since the backend takes nothing.
        var lastHeard: MonotonicTime?
        /// See ``UnsentAge/oldest``.
        var oldestUnsent: MonotonicTime?
        /// See ``UnsentAge/waitingSince``.
        var waitingSince: MonotonicTime?
    }

    /// Why to cut the session now; nil to leave it.
    static func judge(_ facts: Facts, at now: MonotonicTime) -> SessionEnd? {
        let age = now - facts.admittedAt
        switch facts.door {
        case .remote:
            if let heard = facts.lastHeard, now - heard > remoteSilence, age >= remoteSilence { return .silent }
            if let since = facts.waitingSince, now - since >= remoteDrain, age >= remoteDrain {
                return .notDraining
            }
        case .home:
            if let oldest = facts.oldestUnsent, now - oldest > homeDrain, age > homeGrace { return .notDraining }
        }
        return nil
    }
}
