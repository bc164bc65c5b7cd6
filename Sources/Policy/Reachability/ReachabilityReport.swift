// SPDX-License-Identifier: Apache-2.0

package import Wire

/// The whole answer to "can a device away from home reach this host?" (05 B11). One value, whoever shows it.
package struct ReachabilityReport: Sendable, Equatable {
    package var verdict: OverallCode
    /// Whether that was seen, or follows from what was seen.
    package var basis = ReachabilityBasis.inferred
    /// What to do, in one sentence.
    package var advice: String
    /// One line for a status screen (05 A10).
    package var summary: String
    package var remoteAccess: Bool
    /// The effective internet switch.
    package var internet: Bool
    /// The remote port.
    package var port: Int
    /// What the remote door does.
    package var listener: ReachabilitySwitches.Listener
    /// As devices get them, in dial order.
    package var addresses: [HostAddress]
    /// Up ones first, then those that are down; each by name.
    package var vpns: [VPNPolicy.Line]
    package var lanAddress: IPAddress?
    package var gateway: IPAddress?
    package var router: Router
    package var ipv6: IPv6Code
    package var ipv6Address: IPAddress?
    /// The address name as it is set, and where it leads.
    package var addressName: String?
    package var nameCode: NameCode?
    package var notes: [ReachabilityNote]
    /// Where each fact came from.
    package var sources: [FactSource]
    /// What the owner has asked the router for.
    package var requests = RouterRequests()

    /// The router's part.
    package struct Router: Sendable, Equatable {
        package var code: RouterCode
        /// What it would be with internet access on; nil while that is on.
        package var ifOn: RouterCode?
        /// Its internet address; nil when no witness gave one.
        package var address: IPAddress?
        package var evidence: RouterEvidence?
        /// The mapping of the port.
        package var mapping: MappingAnswer

        /// The code that the advice is about.
        package var shown: RouterCode { ifOn ?? code }
    }

    /// Whether two reports say the same, whenever they were made (09.40).
    package func saysTheSame(as other: ReachabilityReport) -> Bool {
        var (mine, theirs) = (self, other)
        mine.sources = []
        theirs.sources = []
        Self.forgetLease(&mine)
        Self.forgetLease(&theirs)
        mine.requests = requests.lasting
        theirs.requests = other.requests.lasting
        return mine == theirs
    }

    private static func forgetLease(_ report: inout ReachabilityReport) {
        if case .entry(var entry) = report.router.mapping {
            entry.lease = entry.lease == 0 ? 0 : 1
            report.router.mapping = .entry(entry)
        }
        if case .entry(var entry) = report.router.evidence?.igd?.mapping {
            entry.lease = entry.lease == 0 ? 0 : 1
            report.router.evidence?.igd?.mapping = .entry(entry)
        }
    }
}

/// The host's own side of a report: switches and listener.
package struct ReachabilitySwitches: Sendable, Equatable {
    /// What the remote door does.
    package enum Listener: Sendable, Equatable {
        case open(port: Int)
        case closed
        case portInUse(port: Int)
        case failed
    }

    package var hasIdentity = true
    package var remoteAccess = false
    /// The effective switch.
    package var internet = false
    /// The remote port as devices know it.
    package var port = 7455
    package var listener = Listener.closed
    /// As stored.
    package var addressName: String?
    /// What the one who asks adds: `serviceNotRunning`, `settingsUnreadable`.
    package var notes: [ReachabilityNote] = []
    /// Whether addresses are shown: remote access, or a window for remote.
    package var listsAddresses = true

    package init() {}
}
