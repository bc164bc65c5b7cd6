// SPDX-License-Identifier: Apache-2.0

package import Policy
package import RouterProbe
package import Sockets
package import VPNFacts

/// Keeps what a report is made of current while it is wanted, and looks anew for whoever asks (05 A5, B6, B12; 09.36).
package final class ReachabilityWatcher: Sendable {
    /// What the service wants watched, from its switches.
    package struct Wanted: Sendable, Equatable {
        /// Whether anything is watched (05 A5).
        package var watches = false
        /// The effective internet switch: whether the router is asked.
        package var asksRouter = false
        /// The remote port, which firewall and mapping are about.
        package var port = 7455
        /// As stored; nil when none is set.
        package var addressName: String?
        /// `host:port`; nil when none is set.
        package var stunServer: String?

        package init() {}
    }

    private let publish: @Sendable (ReachabilityEvidence) -> Void

    /// `publish` is told each time the facts changed, from threads of this watcher, in order; the first time when the
    /// first whole look at this host is done (05 A1 rule 3), the router's answer then still being nil or unfinished.
    package init(
        prober: RouterProber, vpns: VPNReader, hostName: String,
        publish: @escaping @Sendable (ReachabilityEvidence) -> Void
    ) throws(SocketError) {
        self.publish = publish
    }

    /// Begins, with the table of this moment. Once.
    package func start(_ table: InterfaceTable) throws(SocketError) {}

    /// The switches are these now. Takes effect at once; does nothing when they are as before.
    package func want(_ wanted: Wanted) {}

    /// The interfaces are these now; looked at 0.5 s later, with what came in between.
    package func networkChanged(_ table: InterfaceTable) {}

    /// Looks at everything, the router included whatever the switch says, and tells `done` within 7 s; ``publish`` comes
    /// first. Whoever asks while one is being made shares it.
    package func look(_ done: @escaping @Sendable (ReachabilityEvidence) -> Void) {}

    /// Ends its threads; nothing is told after this returns.
    package func stop() {}
}
