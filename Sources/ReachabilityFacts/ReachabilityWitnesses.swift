// SPDX-License-Identifier: Apache-2.0

package import Policy
package import RouterProbe
internal import Sockets
package import VPNFacts
package import Wire

/// Everything that is asked for a report, so that a test can be that world.
package struct ReachabilityWitnesses: Sendable {
    /// Begins to follow something and calls back at each change, from any thread; returns what ends it, nil when it cannot be
    /// followed.
    package typealias Follow =
        @Sendable (_ changed: @escaping @Sendable () -> Void) -> (@Sendable () -> Void)?

    /// The VPNs, at most 2 s.
    package var vpns: @Sendable (InterfaceTable) -> VPNReading
    /// The router, at most 6 s.
    package var router: @Sendable (RouterQuestion) -> RouterFacts
    /// A name's addresses, at most 2 s: empty when it has none, nil when no resolver answered.
    package var resolve: @Sendable (String) -> [IPAddress]?
    /// What this machine's own rules do with TCP to the port; nil when nobody can be asked.
    package var firewall: @Sendable (Int, InterfaceTable) -> HostFirewallReading?
    /// Tailscale's notifications (09.37); followed while the watcher watches.
    package var followTailscale: Follow?
    /// The gateway's announcements (05 B6); followed while the router is asked.
    package var followGateway:
        (
            @Sendable (RouterQuestion, _ changed: @escaping @Sendable () -> Void) -> (@Sendable () -> Void)?
        )?
    /// The clock.
    package var now: @Sendable () -> MonotonicTime

    /// What has no reader says nothing: no name resolves, and no rules are read.
    package init(
        vpns: @escaping @Sendable (InterfaceTable) -> VPNReading,
        router: @escaping @Sendable (RouterQuestion) -> RouterFacts,
        resolve: @escaping @Sendable (String) -> [IPAddress]? = { _ in nil },
        firewall: @escaping @Sendable (Int, InterfaceTable) -> HostFirewallReading? = { _, _ in nil },
        now: @escaping @Sendable () -> MonotonicTime = { monotonicNow() }
    ) {
        self.vpns = vpns
        self.router = router
        self.resolve = resolve
        self.firewall = firewall
        self.now = now
    }
}
