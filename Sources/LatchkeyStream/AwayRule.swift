// SPDX-License-Identifier: Apache-2.0

/// Who is connected, for the choice between the two qualities (06 A3).
public struct Presence: Sendable, Equatable {
    /// Devices that came by the remote door from a VPN or the internet.
    public var away: Int
    /// All others.
    public var home: Int

    /// Nobody, but for those named.
    public init(away: Int = 0, home: Int = 0) {
        self.away = away
        self.home = home
    }

    /// Whether anyone is connected.
    public var isEmpty: Bool { away == 0 && home == 0 }
}

/// When the away quality is wanted (06 A3).
public enum AwayRule {
    /// With somebody connected: exactly when all of them are away. With nobody: as before, the next one decides.
    public static func wantsAway(_ presence: Presence, before: Bool) -> Bool {
        presence.isEmpty ? before : presence.home == 0
    }

    /// Why this quality is wanted, in one clause for people.
    public static func reason(_ presence: Presence, wantsAway: Bool) -> String {
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
