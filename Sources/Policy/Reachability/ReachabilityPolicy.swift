// SPDX-License-Identifier: Apache-2.0

package import Wire

/// Composes the report from facts and switches (05 B11). Pure: the same in the service, the API and the CLI.
package enum ReachabilityPolicy {
    /// The report of this evidence under these switches.
    package static func compose(
        _ evidence: ReachabilityEvidence, _ switches: ReachabilitySwitches
    ) -> ReachabilityReport {
        let table = evidence.table
        let judged = routerVerdicts(evidence, switches)
        let stable = AddressList.stableGlobalIPv6(table)
        let firewall = evidence.router?.igd.flatMap { $0.isGateway ? $0.firewall : nil }
        let vpns = vpnLines(evidence, wan: judged.now.wan)
        let addresses = addresses(evidence, switches, vpns: vpns, router: judged.now)
        var report = ReachabilityReport(
            verdict: .awayNone, advice: "", summary: "", remoteAccess: switches.remoteAccess,
            internet: switches.internet, port: switches.port, listener: switches.listener,
            addresses: addresses, vpns: vpns, lanAddress: AddressList.lanAddress(table),
            gateway: evidence.router?.gateway ?? defaultGateway(table),
            router: ReachabilityReport.Router(
                code: judged.now.code, ifOn: switches.internet ? nil : judged.ifOn.code,
                address: judged.ifOn.wan, evidence: evidence.router, mapping: judged.ifOn.mapping),
            ipv6: IPv6Policy.judge(
                stable: stable, hasGlobal: AddressList.hasGlobalIPv6(table), firewall: firewall),
            ipv6Address: stable, addressName: switches.addressName,
            nameCode: evidence.name.flatMap {
                NamePolicy.judge($0, wan: outside(judged.ifOn, table), stable: stable)
            },
            notes: switches.notes + judged.ifOn.notes, sources: evidence.sources)
        if evidence.vpns.contains(where: { $0.tailscale?.isExitNodeBlockingLAN == true }),
            evidence.router.map({ $0.natpmp == .silent && $0.igd == nil }) ?? false
        {
            report.notes.append(.exitNodeBlocksLAN)
        }
        if evidence.firewall == .unread { report.notes.append(.firewallUnread) }
        report.verdict = overall(report, switches, evidence.firewall)
        report.basis = ReachabilityBasis.of(report)
        report.advice = ReachabilityAdvice.advice(report)
        report.summary = ReachabilityAdvice.summary(report)
        return report
    }

    /// What devices are given (05 A3), with what the daemons and the router added to the interfaces. The kind 18, the
    /// link and the report all come from here.
    package static func addresses(
        _ evidence: ReachabilityEvidence, _ switches: ReachabilitySwitches
    ) -> [HostAddress] {
        let judged = routerVerdicts(evidence, switches)
        return addresses(
            evidence, switches, vpns: vpnLines(evidence, wan: judged.now.wan), router: judged.now)
    }

    private static func addresses(
        _ evidence: ReachabilityEvidence, _ switches: ReachabilitySwitches, vpns: [VPNPolicy.Line],
        router: RouterPolicy.Verdict
    ) -> [HostAddress] {
        guard switches.listsAddresses, evidence.table.isComplete else { return [] }
        var inputs = AddressList.Inputs(
            table: evidence.table, names: ServiceNames(evidence.table, vpns: evidence.vpns),
            internet: switches.internet, addressName: switches.addressName,
            routerIPv4: router.code.listsRouter ? router.wan : nil)
        for vpn in vpns {
            if let interface = vpn.interface {
                if let name = vpn.dnsName { inputs.magicDNS[interface] = name }
                // Addresses can outlive the connection: one alone is not "up" (05 B5).
                if !vpn.code.isListed { inputs.closed.insert(interface) }
            }
            if vpn.code == .vpnUserspace {
                inputs.userspace.append(
                    AddressList.UserspaceVPN(
                        name: vpn.name, dnsName: vpn.dnsName, addresses: vpn.userspaceAddresses))
            }
        }
        inputs.remotePort = switches.port
        return AddressList.make(inputs)
    }

    /// The IPv4 address that devices away would dial, when it is public as far as anybody can tell.
    private static func outside(_ router: RouterPolicy.Verdict, _ table: InterfaceTable) -> IPAddress? {
        if router.code == .directPublic { return AddressList.lanAddress(table) }
        return router.code.isPublic ? router.wan : nil
    }

    private static func routerVerdicts(
        _ evidence: ReachabilityEvidence, _ switches: ReachabilitySwitches
    ) -> (now: RouterPolicy.Verdict, ifOn: RouterPolicy.Verdict) {
        var facts = RouterPolicy.Facts()
        facts.internet = switches.internet
        facts.lanIPv4 = AddressList.lanAddress(evidence.table)
        facts.hasCarrierLAN = AddressList.hasCarrierLAN(evidence.table)
        facts.evidence = evidence.router
        facts.port = switches.port
        return (RouterPolicy.judge(facts), RouterPolicy.judgeIfOn(facts))
    }

    /// Where nobody was asked the way out is still worth a look: a carrier's network shows itself by it.
    private static func defaultGateway(_ table: InterfaceTable) -> IPAddress? {
        table.interfaces.first { $0.link.isMainDefault }?.link.gateway
    }

    /// Up ones by name and interface, then the others by name.
    private static func vpnLines(_ evidence: ReachabilityEvidence, wan: IPAddress?) -> [VPNPolicy.Line] {
        let names = ServiceNames(evidence.table, vpns: evidence.vpns)
        let onRouter = VPNPolicy.endingOnRouter(
            evidence.vpns, table: evidence.table,
            router: [evidence.router?.gateway ?? defaultGateway(evidence.table), wan].compactMap { $0 })
        return evidence.vpns.compactMap { vpn -> VPNPolicy.Line? in
            guard let name = vpn.interface.flatMap({ names[$0] }) ?? ServiceNames.word(for: vpn) else {
                return nil
            }
            return VPNPolicy.judge(
                vpn, name: name, table: evidence.table,
                endsOnRouter: vpn.interface != nil && vpn.interface == onRouter)
        }
        .sorted { left, right in
            (left.code.isDown ? 1 : 0, left.name, left.interface ?? "")
                < (right.code.isDown ? 1 : 0, right.name, right.interface ?? "")
        }
    }

    /// First match wins, as in 05 B11 with the row of 09.39 after the third.
    private static func overall(
        _ report: ReachabilityReport, _ switches: ReachabilitySwitches, _ firewall: HostFirewall
    ) -> OverallCode {
        if !switches.hasIdentity { return .identityMissing }
        if !switches.remoteAccess { return .remoteOff }
        switch switches.listener {
        case .portInUse: return .doorPortInUse
        case .failed: return .doorFailed
        case .open, .closed: break
        }
        // Peers of a user-space VPN come by the loopback, which the rules were not asked about.
        if firewall == .drops, !report.vpns.contains(where: { $0.code == .vpnUserspace }) {
            return .firewallDrops
        }
        if report.addresses.contains(where: { $0.kind == "vpn" }) { return .awayVPN }
        guard switches.internet else { return .awayNone }
        let code = report.router.code
        if code == .directPublic || code == .publicMapped || report.ipv6 == .v6Open
            || report.ipv6 == .v6PinholeActive
        {
            return .awayInternet
        }
        if report.addresses.contains(where: { $0.via == "Address name" }) || code == .publicUnmapped
            || code == .publicMappingUnknown || report.ipv6 == .v6PinholePossible
            || report.ipv6 == .v6Unknown
        {
            return .awayMaybe
        }
        return code == .asking ? .asking : .awayBlocked
    }
}
