// SPDX-License-Identifier: Apache-2.0

/// What one connection is told of the two qualities (06 A4): `settings` and `away` of kind 16.
package struct ConnectionQuality: Sendable, Equatable {
    /// The pair that this connection's controls set.
    package var settings: Quality
    /// Shared.
    package var maxFPS: Int
    /// What runs when somebody is at home.
    package var home: Quality
    /// What runs while everybody is away.
    package var away: Quality
    /// Whether this connection is away.
    package var thisConnectionAway: Bool
    /// The wanted flag, never the stream's state.
    package var awayRunning: Bool

    /// Shown to a connection that is away or not.
    package init(_ settings: Settings, isAway: Bool, wantsAway: Bool) {
        self.settings = settings[keyPath: QualityChangePolicy.pair(isAway)]
        maxFPS = settings.maxFPS
        home = settings.home
        away = settings.away
        thisConnectionAway = isAway
        awayRunning = wantsAway
    }
}
