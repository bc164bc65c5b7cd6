// SPDX-License-Identifier: Apache-2.0

/// What a verdict rests on.
package enum ReachabilityBasis: String, Sendable, CaseIterable, Hashable {
    /// Whoever knows says so: this machine, a VPN's daemon, the router, or what the internet sees.
    case verified
    /// It follows from what was seen, and something that nobody here can see may be otherwise.
    case inferred

    /// Of a report whose verdict is made.
    package static func of(_ report: ReachabilityReport) -> ReachabilityBasis {
        // Under switches that are only assumed nothing is certain.
        if report.notes.contains(.settingsUnreadable) { return .inferred }
        return switch report.verdict {
        case .identityMissing, .remoteOff, .doorPortInUse, .doorFailed, .firewallDrops, .awayNone: .verified
        case .awayVPN: report.vpns.contains { $0.code.isListed && $0.isProven } ? .verified : .inferred
        case .awayInternet: internet(report)
        case .awayMaybe, .asking: .inferred
        case .awayBlocked: isTold(report.router.code) ? .verified : .inferred
        }
    }

    /// A rule or a firewall that the router showed; of an own public address only the internet's word counts.
    private static func internet(_ report: ReachabilityReport) -> ReachabilityBasis {
        let isShown =
            report.router.code == .publicMapped || report.ipv6 == .v6Open || report.ipv6 == .v6PinholeActive
        return isShown || report.router.evidence?.stun != nil ? .verified : .inferred
    }

    /// Whether somebody said what is in the way. A router that says little leaves it open.
    private static func isTold(_ code: RouterCode) -> Bool {
        switch code {
        case .directCarrier, .noLAN, .natAboveRouter, .noWAN, .carrierNATDSLite, .carrierNAT, .doubleNAT,
            .publicMappedElsewhere, .publicMappingDisabled:
            true
        default: false
        }
    }
}
