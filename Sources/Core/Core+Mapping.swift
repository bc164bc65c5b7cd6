// SPDX-License-Identifier: Apache-2.0

package import Policy
internal import Wire

/// The port mapping and the pinhole that the owner may ask the router for (05 B8, B9): whether they are wanted, and how
/// they stand. `MappingKeeper` says what to ask for, and the shell asks.
extension Core {
    /// How they stand now.
    package mutating func routerRequests(_ requests: RouterRequests, _ moment: Moment) {
        settle(moment)
        let old = reachability.requests
        guard requests != old else { return }
        reachability.requests = requests
        for (what, was, now) in [
            ("port mapping", old.mapping, requests.mapping), ("IPv6 pinhole", old.pinhole, requests.pinhole),
        ] where was?.code != now?.code {
            log(.info, what, [("state", now?.code ?? "off"), ("detail", now?.detail ?? "")])
        }
        refreshReport(moment)
        // The report says of forwards what the router says of them, and that was before.
        let active = MappingOutcome.activeCode
        if (old.mapping?.code == active) != (requests.mapping?.code == active) { emit(.askRouterAgain) }
    }

    /// Why no mapping can be asked for now; nil when it can (09.42).
    package var mappingObstacle: MappingOutcome? {
        guard settings.effectiveInternet else {
            let what = settings.remoteAccess ? "internet access" : "remote access and internet access"
            return .notPossible("A mapping is for devices on the internet: switch \(what) on first.")
        }
        guard let report = reachability.report?.report else { return .pending }
        return MappingPolicy.obstacle(
            report.router.shown, mapping: report.router.mapping, advice: routerAdvice(report))
    }

    /// What is to be looked after now.
    var mappingSituation: MappingKeeper.Situation {
        var situation = MappingKeeper.Situation()
        let isOn = settings.effectiveInternet && isRunning && !isStopping
        situation.isAllowed = isOn
        situation.wantsMapping = isOn && settings.portMapping == "upnp"
        situation.wantsPinhole = isOn && settings.ipv6Pinhole
        situation.allowsPermanent = settings.permanentMappings
        situation.insidePort = knownRemotePort
        situation.outsidePort = MappingPolicy.outsidePort(
            addressName: settings.addressName, remotePort: knownRemotePort)
        guard let report = reachability.report?.report else { return situation }
        situation.router = report.router.shown
        situation.mapping = report.router.mapping
        situation.advice = routerAdvice(report)
        situation.ipv6 = report.ipv6
        situation.gateway = report.gateway
        situation.lan = report.lanAddress
        situation.stableIPv6 = report.ipv6Address
        return situation
    }

    /// Tells the shell when it is another than before.
    mutating func refreshMapping() {
        let situation = mappingSituation
        guard situation != reachability.situation else { return }
        reachability.situation = situation
        emit(.lookAfterMapping(situation))
    }

    private func routerAdvice(_ report: ReachabilityReport) -> String {
        ReachabilityAdvice.router(report.router.shown, report)
    }
}
