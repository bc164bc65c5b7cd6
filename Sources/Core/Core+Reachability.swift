// SPDX-License-Identifier: Apache-2.0

package import Policy
package import Wire

/// What is known of the ways to this host from away (05).
struct ReachabilityBook: Sendable {
    /// The facts of the last whole look; nil before the first.
    var evidence: ReachabilityEvidence?
    /// What the shell was told to watch.
    var wanted = ReachabilityWanted()
    /// Whether a look was finished since the watching began (05 A1 rule 3).
    var hasLooked = false
    /// The report of these facts under the switches of this moment.
    var report: MadeReport?
    /// How the mapping and the pinhole stand that the owner asked for.
    var requests = RouterRequests()
    /// What the shell was told to look after.
    var situation = MappingKeeper.Situation()
}

/// A report, and when it was made.
package struct MadeReport: Sendable {
    package var report: ReachabilityReport
    /// When it said this for the first time, or a look found the same again.
    package var at: WallTime

    package init(report: ReachabilityReport, at: WallTime) {
        self.report = report
        self.at = at
    }
}

/// Reachability: the facts come in, the address list and the report come out. Both are composed by `Policy`.
extension Core {
    /// A look at the networks is done, or something of it is another now.
    package mutating func reachabilityRead(_ evidence: ReachabilityEvidence, _ moment: Moment) {
        settle(moment)
        // The watcher also says when it knows nothing (any more); what was known then still makes the report.
        guard evidence.table.isComplete else { return }
        reachability.evidence = evidence
        if reachability.wanted.watches { reachability.hasLooked = true }
        serviceNames = ServiceNames(interfaces, vpns: evidence.vpns)
        refreshHostInfo()
        refreshReport(moment, isNewLook: true)
        refreshWindow(moment)
    }

    /// The report of the last facts under the switches of this moment; nil before the first look.
    package var reachabilityReport: MadeReport? { reachability.report }

    /// The report that these facts make, for who asked for a look of its own.
    package func reachabilityReport(of evidence: ReachabilityEvidence) -> ReachabilityReport {
        var evidence = evidence
        // What the firewall service does not say: that one of its pinholes is ours.
        if reachability.requests.pinhole?.code == PinholeOutcome.openCode {
            evidence.router?.igd?.firewall?.hasOurPinhole = true
        }
        var report = ReachabilityPolicy.compose(evidence, reachabilitySwitches)
        report.requests = reachability.requests
        return report
    }

    /// Whether devices are shown addresses (05 A1 rule 2).
    var showsAddresses: Bool { settings.remoteAccess || (opened?.isForRemote ?? false) }

    /// Whether they are known (05 A1 rule 3).
    var knowsAddresses: Bool { reachability.hasLooked }

    /// The remote port as devices know it.
    var knownRemotePort: Int {
        settings.remotePort == 0 ? remote.boundPort ?? SettingRange.defaultRemotePort : settings.remotePort
    }

    /// As devices are given them, in dial order.
    var addresses: [HostAddress] {
        guard showsAddresses, knowsAddresses, let evidence = reachability.evidence else { return [] }
        return ReachabilityPolicy.addresses(evidence, reachabilitySwitches)
    }

    private var reachabilitySwitches: ReachabilitySwitches {
        var switches = ReachabilitySwitches()
        switches.remoteAccess = settings.remoteAccess
        switches.internet = settings.effectiveInternet
        switches.port = knownRemotePort
        switches.addressName = settings.addressName
        switches.listsAddresses = showsAddresses
        switches.listener =
            switch remote.state {
            case .off, .starting: .closed
            case .listening(let port): .open(port: Int(port))
            case .portInUse(let port): .portInUse(port: Int(port))
            case .failed: .failed
            }
        return switches
    }

    /// Tells the shell what is to be watched, when it is another than before.
    mutating func refreshWatch() {
        var wanted = ReachabilityWanted()
        wanted.watches = isRunning && !isStopping && showsAddresses
        wanted.asksRouter = wanted.watches && settings.effectiveInternet
        wanted.port = knownRemotePort
        wanted.addressName = settings.addressName
        wanted.stunServer = settings.stunServer
        guard wanted != reachability.wanted else { return }
        if wanted.watches != reachability.wanted.watches { reachability.hasLooked = false }
        reachability.wanted = wanted
        emit(.watchReachability(wanted))
    }

    /// Composes the report again and tells of one that says something else (09.36, 09.40).
    mutating func refreshReport(_ moment: Moment, isNewLook: Bool = false) {
        guard let evidence = reachability.evidence else { return }
        let report = reachabilityReport(of: evidence)
        let old = reachability.report
        let isSame = old?.report.saysTheSame(as: report) ?? false
        let at = isSame && !isNewLook ? old?.at ?? moment.wall : moment.wall
        reachability.report = MadeReport(report: report, at: at)
        if !isSame, let made = reachability.report { emit(.event(.reachabilityChanged(made))) }
        refreshMapping()
    }
}
