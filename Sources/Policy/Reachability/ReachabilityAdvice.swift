// SPDX-License-Identifier: Apache-2.0

package import Wire

/// What to do about a report, in words a person can act on (05 B7, B9, B11).
package enum ReachabilityAdvice {
    /// One sentence or two for the whole report.
    package static func advice(_ report: ReachabilityReport) -> String {
        switch report.verdict {
        case .identityMissing:
            "This host has no identity yet: start latchkeyd once, which makes it."
        case .remoteOff: "Remote access is off: latchkey set remote-access on."
        case .doorPortInUse:
            "Another program holds port \(report.port): stop it, or choose another with latchkey set remote-port."
        case .doorFailed: "The remote door cannot listen; it is tried again every 30 s. See latchkey status."
        case .firewallDrops:
            "This machine's own firewall drops TCP port \(report.port): add a rule that accepts it."
        case .awayVPN: vpn(report)
        case .awayInternet: "Ready: a device away from home can dial this host over the internet."
        case .awayNone:
            down(report)
                ?? "No VPN runs on this host and internet access is off: set up a VPN such as Tailscale or "
                + "WireGuard, or: latchkey set internet-access on."
        case .awayMaybe, .awayBlocked, .asking: router(report.router.shown, report)
        }
    }

    /// What a router verdict asks for.
    package static func router(_ code: RouterCode, _ report: ReachabilityReport) -> String {
        let port = report.port
        let lan = report.lanAddress?.description ?? "this machine"
        let wan = report.router.address.map { shown($0) } ?? ""
        switch code {
        case .off: return "Internet access is off; a VPN is the simpler way."
        case .asking: return "The router is being asked."
        case .directCarrier:
            return
                "This network is already inside a carrier's shared range, so nothing can be forwarded: use a VPN."
        case .noLAN: return "Connect this machine to a network first."
        case .natAboveRouter:
            return
                "Something above the router translates addresses (the internet sees another one), so a forward "
                + "cannot work: use a VPN."
        case .directPublic:
            return "There is no router in between: open TCP port \(port) in this machine's own firewall."
        case .noWAN: return "The router says it has no internet connection: look at the router."
        case .wanHidden:
            return
                "The router does not give its internet address. Usually that address is private or shared (a "
                + "second router, or a carrier), and then no forward can work; it may also be offline. Look at the "
                + "address in the router's settings, or use a VPN."
        case .routerMappingOff:
            return
                "Port mapping is switched off on the router: look its address up in its settings, or switch it on."
        case .noAnswer: return "The router did not say its address: its settings show it."
        case .carrierNATDSLite:
            return
                "The provider gives IPv4 through a shared tunnel, so no IPv4 forward can work: use IPv6 or a VPN."
        case .carrierNAT:
            return
                "The provider shares one address (\(wan)) among many homes, so a forward cannot reach this "
                + "machine: use a VPN."
        case .doubleNAT:
            let first = report.gateway.map { "the router \($0)" } ?? "the router"
            return
                "A second router stands between \(first) (its outside address is \(wan)) and the internet: "
                + "forward TCP \(port) on both, put the second in bridge mode, or use a VPN."
        case .publicMapped: return "Ready: a device away can dial \(wan)."
        case .publicMappedElsewhere:
            var target = ""
            if case .entry(let entry) = report.router.mapping { target = " (\(entry.client):\(entry.port))" }
            return
                "The router already sends port \(port) to another place\(target): change that rule, or use "
                + "another outside port."
        case .publicMappingDisabled:
            return "The router has the rule for port \(port), but disabled: enable it there."
        case .publicUnmapped:
            return
                "No mapping is visible; one made by hand in the router's own pages often does not show here. "
                + "Forward TCP \(port) to \(lan) on the router and reserve that address for this machine."
        case .publicMappingUnknown:
            return "Forward TCP \(port) to \(lan) on the router; whether it is already there cannot be read."
        }
    }

    /// What an IPv6 verdict asks for; nil when nothing.
    package static func ipv6(_ code: IPv6Code) -> String? {
        switch code {
        case .v6None: nil
        case .v6TemporaryOnly: "Turn on a stable IPv6 address on this link."
        case .v6Open: "Reachable over IPv6 unless this machine's own firewall blocks it."
        case .v6PinholePossible:
            "The router filters inbound IPv6 but takes requests: latchkey set ipv6-pinhole on, or make the rule by hand."
        case .v6PinholeActive: "Ready over IPv6 until the pinhole expires; it is renewed."
        case .v6Blocked: "The router blocks inbound IPv6 and takes no requests: make the rule by hand."
        case .v6Unknown: "IPv6 works only if the router lets it through inbound; most do not."
        }
    }

    /// One line for a status screen (05 A10).
    package static func summary(_ report: ReachabilityReport) -> String {
        switch report.verdict {
        case .identityMissing: return "unavailable"
        case .remoteOff: return "off"
        case .doorPortInUse: return "port \(report.port) is in use"
        case .doorFailed: return "could not start, trying again"
        default: break
        }
        var ways: [String] = []
        for address in report.addresses where address.kind == "vpn" && !ways.contains(address.via) {
            ways.append(address.via)
        }
        if report.internet { ways.append("the internet") }
        return ways.isEmpty ? "on, no VPN" : "on: \(joined(ways))"
    }

    /// An address as a report may show it: a carrier's only by its first two octets (05 A8).
    package static func shown(_ ip: IPAddress) -> String {
        ip.isCarrier ? "\(ip.bytes[0]).\(ip.bytes[1]).x.x" : ip.description
    }

    private static func vpn(_ report: ReachabilityReport) -> String {
        var ways: [String] = []
        for address in report.addresses where address.kind == "vpn" && !ways.contains(address.via) {
            ways.append(address.via)
        }
        return "Ready: a device in the same VPN (\(joined(ways))) can dial this host."
    }

    private static func down(_ report: ReachabilityReport) -> String? {
        let down = report.vpns.filter { $0.code.isDown || $0.code == .vpnShieldsUp }
        guard let first = down.first else { return nil }
        return switch first.code {
        case .vpnNeedsLogin: "\(first.name) is not logged in: log in, and devices can use it."
        case .vpnShieldsUp:
            "\(first.name) accepts nothing from outside (Shields Up): tailscale set --shields-up=false."
        case .vpnDaemonDown: "\(first.name) is set up, but its service does not run: start it."
        default: "\(first.name) is not connected: devices cannot use it until it connects."
        }
    }

    /// "A", "A and B", "A, B and C".
    private static func joined(_ words: [String]) -> String {
        guard let last = words.last, words.count > 1 else { return words.first ?? "" }
        return words.dropLast().joined(separator: ", ") + " and " + last
    }
}
