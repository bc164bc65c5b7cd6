// SPDX-License-Identifier: Apache-2.0

package import Wire

/// When a session that says or takes nothing is cut, without a goodbye (03 §14). Looked at every second.
package enum SessionSweep {
    /// Between looks.
    package static let interval: Duration = .seconds(1)

    /// What is known of one session.
    package struct Facts: Sendable, Equatable {
        /// Which door it came by.
        package var door: Door
        /// When it was registered.
        package var admittedAt: MonotonicTime
        /// When the last byte came from the device.
        package var heardAt: MonotonicTime
        /// Since when the oldest byte waits for the device; nil when none waits.
        package var waitingSince: MonotonicTime?
        /// When the device last took a byte.
        package var tookAt: MonotonicTime

        package init(
            door: Door, admittedAt: MonotonicTime, heardAt: MonotonicTime, waitingSince: MonotonicTime?,
            tookAt: MonotonicTime
        ) {
            self.door = door
            self.admittedAt = admittedAt
            self.heardAt = heardAt
            self.waitingSince = waitingSince
            self.tookAt = tookAt
        }
    }

    /// Why a session is cut.
    package enum Cut: Sendable, Equatable {
        /// Remote: nothing heard for more than 8 s, at least 8 s after admission.
        case silent
        /// Home: the oldest byte waits more than 4 s, more than 8 s after it connected. Remote: nothing taken for 15 s
        /// while something waits, 15 s after admission.
        case notDraining
    }

    /// Nil keeps it.
    package static func cut(_ facts: Facts, at now: MonotonicTime) -> Cut? {
        let age = now - facts.admittedAt
        switch facts.door {
        case .remote:
            if age >= .seconds(8) && now - facts.heardAt > .seconds(8) { return .silent }
            guard let waitingSince = facts.waitingSince, age >= .seconds(15) else { return nil }
            return now - max(waitingSince, facts.tookAt) >= .seconds(15) ? .notDraining : nil
        case .home:
            guard let waitingSince = facts.waitingSince, age > .seconds(8) else { return nil }
            return now - waitingSince > .seconds(4) ? .notDraining : nil
        }
    }
}
