// SPDX-License-Identifier: Apache-2.0

package import Wire

/// What an ask gets (03 §12.2).
package enum AskPolicy {
    /// All that a decision depends on.
    package struct Facts: Sendable, Equatable {
        /// The lock's verdict; unknown is not unlocked.
        package var isUnlocked = false
        /// The host's own rule says it is the cable.
        package var cableSeen = false
        /// The device says so too.
        package var cableClaimed = false
        /// Another key of the same device is on the list.
        package var hasOtherKey = false
        /// Any window is open.
        package var windowOpen = false
        /// It comes from the host machine itself.
        package var isFromThisHost = false
        /// Its key or source is quiet.
        package var isQuiet = false
        /// Windows that asks opened within 600 s.
        package var recentWindows = 0

        package init() {}
    }

    /// The decision, and by which row.
    package enum Decision: Sendable, Equatable {
        /// Answered `locked`.
        case locked
        /// Paired without a proof.
        case pairNow
        /// Answered `shown`; whatever is open stays as it is.
        case shownNotOpened
        /// Answered `openOnMac`.
        case openOnHost(Reason)
        /// Answered `shown`; a window for home opens.
        case shownOpened
    }

    /// Why no window opens by itself; the device is not told.
    package enum Reason: String, Sendable, Hashable {
        /// From the host machine.
        case thisHost
        /// Cancelled or stopped not long ago.
        case quiet
        /// Three windows in ten minutes.
        case often
    }

    /// Windows that asks may open in 600 s.
    package static let windows = 3

    /// First match wins: locked; the cable seen, claimed and without another key, pair now; a window is open, shown;
    /// from this host; quiet; three windows lately; else a window opens. `allowsCable` is false for kind 21.
    package static func decide(_ facts: Facts, allowsCable: Bool = true) -> Decision {
        if !facts.isUnlocked { return .locked }
        if allowsCable && facts.cableSeen && facts.cableClaimed && !facts.hasOtherKey { return .pairNow }
        if facts.windowOpen { return .shownNotOpened }
        if facts.isFromThisHost { return .openOnHost(.thisHost) }
        if facts.isQuiet { return .openOnHost(.quiet) }
        if facts.recentWindows >= windows { return .openOnHost(.often) }
        return .shownOpened
    }

    /// Loopback, or any address of the host whatever its interface's kind or state (03 §12.3).
    package static func isFromThisHost(_ source: IPAddress, table: InterfaceTable) -> Bool {
        source.isLoopback || table.owns(source)
    }

    /// What the host's menu keeps of an ask (03 §12.8); nil keeps nothing and leaves an older one.
    package static func request(for decision: Decision) -> PairingRequest.State? {
        switch decision {
        case .shownOpened: .showing
        case .locked: .locked
        case .openOnHost(.quiet), .openOnHost(.often): .limit
        case .openOnHost(.thisHost), .pairNow, .shownNotOpened: nil
        }
    }
}
