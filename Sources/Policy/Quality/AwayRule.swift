// SPDX-License-Identifier: Apache-2.0

/// Who is connected, for the choice between the two qualities (06 A3).
package struct Presence: Sendable, Equatable {
    /// Devices that came by the remote door from a VPN or the internet.
    package var away: Int
    /// All others.
    package var home: Int

    package init(away: Int = 0, home: Int = 0) {
        self.away = away
        self.home = home
    }

    /// Whether anyone is connected.
    package var isEmpty: Bool { away == 0 && home == 0 }
}

/// When the away quality is wanted (06 A3).
package enum AwayRule {
    /// With somebody connected: exactly when all of them are away. With nobody: as before, the next one decides.
    package static func wantsAway(_ presence: Presence, before: Bool) -> Bool {
        presence.isEmpty ? before : presence.home == 0
    }

    /// Why this quality runs, in one clause.
    package static func reason(_ presence: Presence, wantsAway: Bool) -> String {
        func devices(_ count: Int) -> String { count == 1 ? "1 device" : "\(count) devices" }
        if presence.isEmpty {
            return wantsAway
                ? "nobody is connected, the last one was away" : "nobody is connected"
        }
        if presence.home == 0 { return "\(devices(presence.away)) away, none at home" }
        if presence.away == 0 { return "\(devices(presence.home)) at home" }
        return "\(devices(presence.home)) at home, \(presence.away) away"
    }
}
