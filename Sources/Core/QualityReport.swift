// SPDX-License-Identifier: Apache-2.0

package import LatchkeyStream
package import Policy

/// Both pairs and which of them is wanted (06 A3).
package struct QualityView: Sendable, Equatable {
    /// While anybody at home is connected.
    package var home: Quality
    /// While everybody who is connected is away.
    package var away: Quality
    /// Frames a second.
    package var maxFPS: Int
    /// Whether the away pair is wanted.
    package var runsAway: Bool

    init(_ settings: Settings, runsAway: Bool) {
        home = settings.home
        away = settings.away
        maxFPS = settings.maxFPS
        self.runsAway = runsAway
    }

    /// The pair that is wanted.
    package var pair: Quality { runsAway ? away : home }
}

/// One session's part: what its kind 16 says of the two qualities and of its link (06 A4).
package struct SessionQuality: Sendable, Equatable {
    /// Whose.
    package var session: SessionID
    /// What it is told.
    package var quality: ConnectionQuality
    /// Nil while its link keeps up, or the report speaks of another stream.
    package var link: LinkReport?
}

/// `GET /v1/quality`, and `quality.changed`.
package struct QualityReport: Sendable, Equatable {
    /// Both pairs and which is wanted.
    package var quality: QualityView
    /// Why: who is connected.
    package var presence: Presence
    /// The same in one clause.
    package var reason: String
    /// What the stream runs with as far as is known; nil when it has stopped.
    package var running: StreamTarget?
    /// Those that were not told to go, in the order they came; nil in an event when there are more than
    /// `Core.sessionsInEvent`.
    package var sessions: [SessionQuality]?
}

/// What `link.changed` says (06 C1).
package struct LinkChange: Sendable, Equatable {
    /// Whose link.
    package var session: SessionID
    /// Its paired device.
    package var device: DeviceRef?
    /// Nil: it keeps up.
    package var report: LinkReport?
    /// The encoder's target now, in bits a second.
    package var bitrate: Int
}

/// A session's link as lists show it (09.22).
package struct SessionLinkView: Sendable, Equatable {
    /// The verdict.
    package var state = LinkState.fine
    /// Kilobits a second, of the last report.
    package var carriedKbps: Int?
    /// What would fit the link.
    package var suggestion: LinkSuggestion?
}
