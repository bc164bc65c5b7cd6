// SPDX-License-Identifier: Apache-2.0

package import Policy
internal import RouterProbe
internal import Sockets
internal import VPNFacts
internal import Wire

/// Looks at everything a report is made of, side by side (05 B12). Blocks its caller; every look has its own end.
package struct ReachabilityGatherer: Sendable {
    /// After this a report is made of what is there; what is undecided reads as silent.
    package static let hardEnd = Duration.seconds(7)
    /// For VPNs and names, which have 2 s each.
    static let hostEnd = Duration.milliseconds(2500)
    /// For the router, which has 6 s.
    static let routerEnd = Duration.milliseconds(6500)

    /// What is looked at beside the interfaces.
    package struct Scope: Sendable, Equatable {
        /// The remote port, which firewall and mapping are about.
        package var port = 7455
        /// As stored; nil when none is set, or it is not to be looked up.
        package var addressName: String?
        /// `host:port`; nil when none is set.
        package var stunServer: String?

        package init() {}
    }

    private let witnesses: ReachabilityWitnesses

    /// Asks these.
    package init(_ witnesses: ReachabilityWitnesses) { self.witnesses = witnesses }

    /// One look for one report, at most 7 s. `took` is how long the reading of `table` had taken, which ended just now.
    package func gather(_ table: InterfaceTable, took: Duration, _ scope: Scope) -> ReachabilityEvidence {
        let start = witnesses.now()
        let question = RouterQuestion(
            table, seen: SeenGateways(),
            outsidePort: MappingPolicy.outsidePort(addressName: scope.addressName, remotePort: scope.port),
            stunServer: scope.stunServer)
        let both = SideBySide()
        let host = both.begin("reach-host") { lookAtHost(table, port: scope.port, name: scope.addressName) }
        let router = question.map { question in both.begin("reach-router") { ask(question) } }
        both.wait(until: start + Self.hardEnd)
        var facts = ReachabilityFactSet(table: table, at: start, took: took)
        facts.host = host.answer ?? HostFacts()
        facts.router = question.map { router?.answer ?? silent($0, since: start) } ?? notAsked(at: start)
        return facts.evidence
    }

    /// VPNs, the firewall, and the address name unless nil; at most 2.5 s.
    func lookAtHost(_ table: InterfaceTable, port: Int, name: String?) -> HostFacts {
        let start = witnesses.now()
        let witnesses = witnesses
        let all = SideBySide()
        let vpns = all.begin("reach-vpns") { witnesses.vpns(table) }
        let firewall = all.begin("reach-firewall") {
            witnesses.firewall(port, table)
        }
        let resolved = name.map { name in
            all.begin("reach-name") { (Self.addresses(of: name, witnesses.resolve), witnesses.now()) }
        }
        all.wait(until: start + Self.hostEnd)
        let now = witnesses.now()
        func row(_ fact: String, _ source: String, _ state: String, _ end: MonotonicTime?) -> FactSource {
            FactSource(fact: fact, source: source, state: state, at: end ?? now, took: (end ?? now) - start)
        }
        var facts = HostFacts()
        facts.vpns = vpns.answer
        if vpns.answer == nil { facts.lateVPNs = row("vpn", "VPN daemons", "silent", nil) }
        if let name, let resolved {
            let (addresses, end) = resolved.answer ?? (nil, now)
            facts.name = NameEvidence(text: name, addresses: addresses)
            // What a person typed is their own, and still one line.
            facts.nameSource = row(
                "name", "resolver, \(Label.clean(name))", addresses == nil ? "silent" : "answered", end)
        }
        switch firewall.answer {
        case let found??:
            facts.firewall = found.state
            facts.firewallSource = found.source
        case .some(nil): facts.firewallSource = row("firewall", "nftables", "notAsked", now)
        case nil: facts.firewallSource = row("firewall", "nftables", "silent", nil)
        }
        return facts
    }

    /// The router's answers, at most 6.5 s.
    func askRouter(_ question: RouterQuestion) -> RouterFacts {
        let start = witnesses.now()
        let one = SideBySide()
        let answer = one.begin("reach-router") { ask(question) }
        one.wait(until: start + Self.routerEnd)
        return answer.answer ?? silent(question, since: start)
    }

    private func ask(_ question: RouterQuestion) -> RouterFacts {
        var facts = witnesses.router(question)
        facts.evidence.isFinished = true
        return facts
    }

    /// A router that answered nothing in its time.
    private func silent(_ question: RouterQuestion, since start: MonotonicTime) -> RouterFacts {
        let now = witnesses.now()
        var evidence = RouterEvidence()
        evidence.gateway = question.gateway
        evidence.natpmp = question.gateway == nil ? nil : .silent
        evidence.isFinished = true
        let row = FactSource(
            fact: "router", source: question.gateway.map(\.description) ?? Label.clean(question.interface),
            state: "silent",
            at: now, took: now - start)
        return RouterFacts(evidence: evidence, sources: [row])
    }

    /// Where there is no router to ask (05 B6, 09.44).
    private func notAsked(at time: MonotonicTime) -> RouterFacts { .notAsked(at: time) }

    /// A literal address leads to itself; a name is looked up.
    private static func addresses(
        of text: String, _ resolve: (String) -> [IPAddress]?
    ) -> [IPAddress]? {
        guard let name = try? DialAddress.parse(text) else { return [] }
        switch name.host {
        case .ipv4(let host), .ipv6(let host): return IPAddress(host).map { [$0] } ?? []
        case .name(let host): return resolve(host)
        }
    }
}

extension RouterFacts {
    /// Nobody was asked, because there is nobody.
    static func notAsked(at time: MonotonicTime) -> RouterFacts {
        var evidence = RouterEvidence()
        evidence.isFinished = true
        return RouterFacts(
            evidence: evidence,
            sources: [
                FactSource(
                    fact: "router", source: "no home router on this network", state: "notAsked", at: time,
                    took: .zero)
            ])
    }
}

/// What one look at this host brought, beside its interfaces.
struct HostFacts: Sendable, Equatable {
    /// Nil when they took too long.
    var vpns: VPNReading?
    var lateVPNs: FactSource?
    /// Nil when no name was looked up.
    var name: NameEvidence?
    var nameSource: FactSource?
    var firewall = HostFirewall.unread
    var firewallSource: FactSource?

    /// This look, with what an earlier one knew where this one did not ask or got no answer.
    func after(_ earlier: HostFacts?) -> HostFacts {
        var facts = self
        if facts.vpns == nil { facts.vpns = earlier?.vpns }
        if facts.name == nil { (facts.name, facts.nameSource) = (earlier?.name, earlier?.nameSource) }
        return facts
    }
}

/// The parts of a report's evidence, each of its own age.
struct ReachabilityFactSet: Sendable, Equatable {
    var table: InterfaceTable
    /// When the table was read, and how long that took.
    var at: MonotonicTime
    var took: Duration
    var host = HostFacts()
    /// Nil while nobody asked.
    var router: RouterFacts?

    init(table: InterfaceTable, at: MonotonicTime, took: Duration) {
        self.table = table
        self.at = at
        self.took = took
    }

    /// All of it, the sources in the order of the report.
    var evidence: ReachabilityEvidence {
        var evidence = ReachabilityEvidence()
        evidence.table = table
        evidence.vpns = host.vpns?.vpns ?? []
        evidence.name = host.name
        evidence.firewall = host.firewall
        evidence.router = router?.evidence
        let interfaces = FactSource(
            fact: "interfaces", source: "rtnetlink", state: table.isComplete ? "answered" : "unreadable",
            at: at, took: took)
        let vpns = host.lateVPNs.map { [$0] } ?? host.vpns?.sources ?? []
        evidence.sources =
            [interfaces] + vpns + (router?.sources ?? [])
            + [host.nameSource, host.firewallSource].compactMap { $0 }
        return evidence
    }
}
