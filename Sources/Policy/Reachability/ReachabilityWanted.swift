// SPDX-License-Identifier: Apache-2.0

/// What the service wants known about its networks at this moment (05 A5, B6); from its switches and its window.
package struct ReachabilityWanted: Sendable, Equatable {
    /// Whether anything is watched: remote access is on, or a window for remote is open.
    package var watches = false
    /// Whether the router is asked unasked: the effective internet switch.
    package var asksRouter = false
    /// The remote port, which the firewall and the mapping are about.
    package var port = SettingRange.defaultRemotePort
    /// As stored; nil when none is set.
    package var addressName: String?
    /// The owner's STUN server, `host:port`; nil when none is set.
    package var stunServer: String?

    package init() {}
}
