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
        case .awayMaybe: maybe(report)
        case .awayBlocked, .asking: router(report.router.shown, report)
        }
    }

    /// What is open: a forward; where none can help, IPv6 or where the address name leads.
    private static func maybe(_ report: ReachabilityReport) -> String {
        let code = report.router.code
        let isForward = code == .publicUnmapped || code == .publicMappingUnknown || code == .asking
        if !isForward, report.ipv6 == .v6PinholePossible || report.ipv6 == .v6Unknown,
            let advice = ipv6(report.ipv6), let address = report.ipv6Address
        {
            return "IPv6 (\(address)) may lead here where IPv4 does not. \(advice)"
        }
        if !isForward, let text = report.addressName, let advice = report.nameCode.flatMap({ name($0) }) {
            return "\(text): \(advice)"
        }
        return router(report.router.shown, report)
    }

    /// What a router verdict asks for.
    package static func router(_ code: RouterCode, _ report: ReachabilityReport) -> String {
        var target: String?
        if case .entry(let entry) = report.router.mapping { target = entry.target }
        return router(
            code, port: report.port, lan: report.lanAddress?.description,
            wan: report.router.address.map { shown($0) }, gateway: report.gateway.map { shown($0) },
            target: target)
    }

    /// The same from the report's texts: the LAN address, the router's internet address (a carrier's as ``shown(_:)`` shows
    /// it) and own one, and where it leads the port.
    package static func router(
        _ code: RouterCode, port: Int, lan: String?, wan: String?, gateway: String?, target: String?
    ) -> String {
        let lan = lan ?? "this machine"
        let wan = wan ?? ""
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
        case .noWAN:
            return
                "The router says it has no internet connection: look at its status page, and restart it or ask the "
                + "provider if it stays so."
        case .wanHidden:
            return
                "The router does not give its internet address. Usually that address is private or shared (a "
                + "second router, or a carrier), and then no forward can work; it may also be offline. Look at the "
                + "address in the router's settings, or use a VPN."
        case .routerMappingOff:
            return
                "Port mapping is switched off on the router: switch it on there, or look up its internet address in "
                + "its settings and forward TCP \(port) to \(lan) by hand."
        case .noAnswer:
            return
                "The router did not say its internet address: look it up in its settings. If it is a public one, "
                + "forward TCP \(port) to \(lan) there; if not, use a VPN."
        case .carrierNATDSLite:
            return
                "The provider gives IPv4 through a shared tunnel, so no IPv4 forward can work: use IPv6 or a VPN."
        case .carrierNAT:
            return
                "The provider shares one address (\(wan)) among many homes, so a forward cannot reach this "
                + "machine: use a VPN."
        case .doubleNAT:
            let first = gateway.map { "the router \($0)" } ?? "the router"
            return
                "A second router stands between \(first) (its outside address is \(wan)) and the internet: "
                + "forward TCP \(port) on both, put the second in bridge mode, or use a VPN."
        case .publicMapped: return "Ready: a device away can dial \(wan)."
        case .publicMappedElsewhere:
            let target = target.map { " (\($0))" } ?? ""
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
        case .v6TemporaryOnly:
            "This machine has only temporary IPv6 addresses: turn on a stable one on this link."
        case .v6Open: "Reachable over IPv6 unless this machine's own firewall blocks it."
        case .v6PinholePossible:
            "The router filters inbound IPv6 but takes requests: latchkey set ipv6-pinhole on, or make the rule by hand."
        case .v6PinholeActive: "Ready over IPv6 until the pinhole expires; it is renewed."
        case .v6Blocked: "The router blocks inbound IPv6 and takes no requests: make the rule by hand."
        case .v6Unknown:
            "IPv6 works only if the router lets it in; most do not: allow TCP to this address in its firewall."
        }
    }

    /// What one VPN asks for; nil when nothing.
    package static func vpn(_ code: VPNCode, name: String) -> String? {
        switch code {
        case .vpnUp: nil
        case .vpnUserspace:
            "\(name) runs without a network interface: its devices reach this host, but seem to come from it."
        case .vpnOffline:
            "\(name) has no connection to its control server: devices already in it may still connect."
        case .vpnShieldsUp:
            "\(name) accepts nothing from outside (Shields Up): tailscale set --shields-up=false."
        case .vpnDown: "\(name) is not connected: devices cannot use it until it connects."
        case .vpnNeedsLogin: "\(name) is not logged in: log in, and devices can use it."
        case .vpnDaemonDown: "\(name) is set up, but its service does not run: start it."
        }
    }

    /// What the address name asks for; nil when nothing.
    package static func name(_ code: NameCode) -> String? {
        switch code {
        case .nameMatches: nil
        case .nameUnresolved: "It leads nowhere now: look at it at its provider, or at this machine's DNS."
        case .nameStale:
            "It leads to another address than the router's: have the dynamic DNS client update it."
        case .namePrivate:
            "It leads to a private address, which no device away can dial: enter the router's internet address there."
        }
    }

    /// What a note says, and what to do about it where something is to be done.
    package static func note(_ note: ReachabilityNote) -> String {
        switch note {
        case .serviceNotRunning: "The service is not running: start it with systemctl start latchkeyd."
        case .settingsUnreadable:
            "No settings were read, so the defaults are assumed. Before the first start there are none; else run this as root "
                + "or the service's user."
        case .wanWitnessesDiffer:
            "NAT-PMP and UPnP tell different internet addresses; NAT-PMP's is taken. Restart the router if it stays so."
        case .wanFromSTUN: "Only the STUN server told an internet address; it says nothing about a forward."
        case .igdDisconnected: "UPnP says that the router is not connected, NAT-PMP that it is."
        case .igdNotGateway:
            "A device that is not the gateway answers as a router: a second router, or an access point that should be "
                + "set to bridge mode."
        case .igdNotRouting:
            "The router's UPnP connection is of a kind that does not route: look at its mode."
        case .pcpPresent: "The router also speaks PCP."
        case .hairpin:
            "Do not test this from the home network: many routers do not lead a connection back in. Use mobile data."
        case .exitNodeBlocksLAN:
            "Tailscale's exit node cuts this machine off its own network: "
                + "tailscale set --exit-node-allow-lan-access=true."
        case .firewallUnread: "This machine's firewall rules were not read: see nft list ruleset as root."
        case .vpnUnproven: "It is up, but nothing shows whether a peer answers: look at wg show."
        case .vpnDetailsUnreadable: "Its daemon may not be asked: run this as root for more."
        case .vpnDaemonSilent: "Its daemon does not answer: look at its service."
        case .vpnNameMismatch: "Its name leads to another machine, so it is not given to devices."
        case .vpnNameUnchecked: "Its name could not be looked up here; devices get it all the same."
        case .subnetNeeded:
            "It ends on the router: add this home network to the device's AllowedIPs, and use the LAN address."
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

    /// A text from elsewhere, each carrier's address in it as ``shown(_:)`` shows it.
    package static func masked(_ text: String) -> String {
        var shown = ""
        var word = ""
        func flush() {
            // A full stop at the end of a sentence is no part of an address.
            let dots = word.reversed().prefix { $0 == "." }.count
            let bare = String(word.dropLast(dots))
            let ip = bare.isEmpty ? nil : IPAddress(bare)
            shown += (ip.map { $0.isCarrier } ?? false ? ip.map { Self.shown($0) } ?? bare : bare)
            shown += String(repeating: ".", count: dots)
            word = ""
        }
        for character in text {
            if character == "." || ("0"..."9").contains(character) {
                word.append(character)
            } else {
                flush()
                shown.append(character)
            }
        }
        flush()
        return shown
    }

    private static func vpn(_ report: ReachabilityReport) -> String {
        var ways: [String] = []
        for address in report.addresses where address.kind == "vpn" && !ways.contains(address.via) {
            ways.append(address.via)
        }
        return "Ready: a device in the same VPN (\(joined(ways))) can dial this host."
    }

    private static func down(_ report: ReachabilityReport) -> String? {
        report.vpns.first { !$0.code.isListed }.flatMap { vpn($0.code, name: $0.name) }
    }

    /// "A", "A and B", "A, B and C".
    private static func joined(_ words: [String]) -> String {
        guard let last = words.last, words.count > 1 else { return words.first ?? "" }
        return words.dropLast().joined(separator: ", ") + " and " + last
    }
}
