// SPDX-License-Identifier: Apache-2.0

/// The numbers of 03 §7 and §18 as one value, so that a table of the reference and what ships run the same code.
package struct DoorLimits: Sendable, Equatable {
    /// Pending connections of one door.
    package var pendingPerDoor = 1_024
    /// Pending connections of one source at one door.
    package var pendingPerSource = 2
    /// Whether a full door closes its oldest silent connection rather than the newcomer.
    package var makesRoom = true
    /// From accept to admission or the complete kind 19.
    package var pendingDeadline: Duration = .seconds(10)
    /// The failure that starts a backoff.
    package var failures = 5
    /// How long a failure counts.
    package var failureWindow: Duration = .seconds(60)
    /// How long a source is closed at once.
    package var backoff: Duration = .seconds(300)
    /// Sources remembered per door.
    package var sources = 65_536
    /// Registered remote sessions.
    package var remoteSessions = 8
    /// Between tries to listen again.
    package var listenRetry: Duration = .seconds(30)

    package init() {}

    /// What ships (03 §7.1 [L], 09.2).
    package static let shipped = DoorLimits()

    /// The reference's numbers, which the tables of 03 use.
    package static let reference: DoorLimits = {
        var limits = DoorLimits()
        limits.pendingPerDoor = 8
        limits.makesRoom = false
        return limits
    }()
}
