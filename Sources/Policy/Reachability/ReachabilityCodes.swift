// SPDX-License-Identifier: Apache-2.0

/// Whether a device away from home can reach this host (05 B11).
package enum OverallCode: String, Sendable, CaseIterable, Hashable {
    case identityMissing
    case remoteOff
    case doorPortInUse
    case doorFailed
    /// The host's own rules surely drop the port (09.39).
    case firewallDrops
    case awayVPN
    case awayInternet
    case awayMaybe
    case asking
    case awayBlocked
    case awayNone

    /// How bad it is.
    package var severity: Severity {
        switch self {
        case .awayVPN, .awayInternet: .ok
        case .awayMaybe, .asking: .maybe
        case .identityMissing, .remoteOff, .doorPortInUse, .doorFailed, .firewallDrops, .awayBlocked,
            .awayNone:
            .blocked
        }
    }
}

/// How bad a verdict is; data, not an exit code.
package enum Severity: String, Sendable, CaseIterable, Hashable {
    case ok
    case maybe
    case blocked
}

/// What the router and the machine's own address say about IPv4 from the internet (05 B7).
package enum RouterCode: String, Sendable, CaseIterable, Hashable {
    case off
    case asking
    case directCarrier
    case noLAN
    case natAboveRouter
    case directPublic
    case noWAN
    case wanHidden
    case routerMappingOff
    case noAnswer
    case carrierNATDSLite
    case carrierNAT
    case doubleNAT
    case publicMapped
    case publicMappedElsewhere
    case publicMappingDisabled
    case publicUnmapped
    case publicMappingUnknown

    /// Whether the router's address goes into the address list: it is public as far as anybody can tell.
    package var listsRouter: Bool { isPublic }

    /// Rows 16 to 20.
    package var isPublic: Bool {
        switch self {
        case .publicMapped, .publicMappedElsewhere, .publicMappingDisabled, .publicUnmapped,
            .publicMappingUnknown:
            true
        default: false
        }
    }
}

/// What IPv6 from the internet finds (05 B9).
package enum IPv6Code: String, Sendable, CaseIterable, Hashable {
    case v6TemporaryOnly
    case v6None
    case v6Open
    case v6PinholePossible
    case v6PinholeActive
    case v6Blocked
    case v6Unknown
}

/// What one VPN is good for (05 B4, B5).
package enum VPNCode: String, Sendable, CaseIterable, Hashable {
    case vpnUp
    case vpnUserspace
    case vpnShieldsUp
    case vpnDown
    case vpnNeedsLogin
    case vpnDaemonDown
    case vpnOffline

    /// Whether its addresses are listed.
    package var isListed: Bool {
        switch self {
        case .vpnUp, .vpnUserspace, .vpnOffline: true
        case .vpnShieldsUp, .vpnDown, .vpnNeedsLogin, .vpnDaemonDown: false
        }
    }

    /// Whether it is set up but not usable: A7's down list.
    package var isDown: Bool {
        self == .vpnDown || self == .vpnNeedsLogin || self == .vpnDaemonDown
    }
}

/// What the user's address name leads to (05 B10).
package enum NameCode: String, Sendable, CaseIterable, Hashable {
    case nameUnresolved
    case nameMatches
    case nameStale
    case namePrivate
}

/// Things worth a line beside the verdicts (05 B4 to B10, 09.39).
package enum ReachabilityNote: String, Sendable, CaseIterable, Hashable {
    case serviceNotRunning
    case settingsUnreadable
    case wanWitnessesDiffer
    case wanFromSTUN
    case igdDisconnected
    case igdNotGateway
    case igdNotRouting
    case pcpPresent
    case hairpin
    case exitNodeBlocksLAN
    case firewallUnread
    /// Of one VPN.
    case vpnUnproven
    case vpnDetailsUnreadable
    case vpnDaemonSilent
    case vpnNameMismatch
    case vpnNameUnchecked
    case subnetNeeded
}
