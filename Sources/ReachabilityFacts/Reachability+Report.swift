// SPDX-License-Identifier: Apache-2.0

package import APITypes
package import Policy
package import Wire

extension Reachability {
    /// The report as the API and the command line show it (09.40). `at` is the moment of `now` on the wall; `took` is how
    /// long the making took. No carrier's address is in it but by its first two octets.
    package init(_ report: ReachabilityReport, at: WallTime, now: MonotonicTime, took: Duration) {
        self.init(
            at: at, tookMs: took.milliseconds, verdict: report.verdict.rawValue,
            severity: report.verdict.severity.rawValue, basis: report.basis.rawValue,
            advice: report.advice, summary: report.summary,
            remoteAccess: report.remoteAccess, internet: report.internet, port: report.port,
            listener: Listener(report.listener, port: report.port), addresses: report.addresses,
            vpns: report.vpns.map { VPN($0) }, lanAddress: report.lanAddress?.description,
            gateway: report.gateway.map { ReachabilityAdvice.shown($0) },
            router: Router(report, at: at, now: now),
            ipv6: IPv6(
                code: report.ipv6.rawValue, address: report.ipv6Address?.description,
                request: report.requests.pinhole.map { Request($0) }),
            addressName: report.addressName.map { Name(text: $0, code: report.nameCode?.rawValue) },
            notes: report.notes.map(\.rawValue),
            facts: report.sources.map { source in
                Fact(
                    fact: source.fact, source: ReachabilityAdvice.masked(source.source), state: source.state,
                    ageMs: max(.zero, now - source.at).milliseconds, tookMs: source.took.milliseconds)
            })
    }
}

extension Reachability.Listener {
    fileprivate init(_ listener: ReachabilitySwitches.Listener, port asked: Int) {
        switch listener {
        case .open(let port): self.init(state: "open", port: port)
        case .closed: self.init(state: "closed", port: asked)
        case .portInUse(let port): self.init(state: "failed", port: port)
        case .failed: self.init(state: "failed", port: asked)
        }
    }
}

extension Reachability.VPN {
    fileprivate init(_ line: VPNPolicy.Line) {
        self.init(
            name: line.name, product: line.product.rawValue,
            interface: line.interface.map { Label.clean($0) },
            code: line.code.rawValue, notes: line.notes.map(\.rawValue))
    }
}

extension Reachability.Router {
    fileprivate init(_ report: ReachabilityReport, at: WallTime, now: MonotonicTime) {
        let router = report.router
        let upnp = report.sources.first { $0.fact == "router.upnp" }
        let age = upnp.map { max(.zero, now - $0.at) } ?? .zero
        self.init(
            code: router.code.rawValue,
            mapping: Reachability.Mapping(
                report, readAt: WallTime(milliseconds: at.milliseconds - Int64(age.milliseconds))))
        request = report.requests.mapping.map { Reachability.Request($0) }
        // Nobody asked: what it would be is not known.
        ifOn = router.ifOn == .asking && router.evidence == nil ? nil : router.ifOn?.rawValue
        if let wan = router.address {
            if wan.isCarrier { masked = ReachabilityAdvice.shown(wan) } else { address = wan.description }
        }
        let isNotAsked = report.sources.contains { $0.fact == "router" && $0.state == "notAsked" }
        guard let evidence = router.evidence, !isNotAsked else { return }
        natpmp = evidence.natpmp.map { Reachability.Witness($0) }
        if let found = evidence.igd {
            igd = Reachability.Witness(found)
        } else if evidence.isFinished {
            igd = Reachability.Witness(state: "none")
        }
        stun = evidence.stun.map { ReachabilityAdvice.shown($0) }
    }
}

extension Reachability.Request {
    fileprivate init(_ standing: RouterRequests.Standing) {
        self.init(
            code: standing.code, detail: standing.detail.map { ReachabilityAdvice.masked($0) },
            isSeen: standing.isSeen, expiresAt: standing.expiresAt)
    }
}

extension Reachability.Witness {
    fileprivate init(_ answer: NATPMPAnswer) {
        switch answer {
        case .answered(let ip): self.init(state: "answered", address: ReachabilityAdvice.shown(ip))
        case .withheld: self.init(state: "withheld")
        case .refused: self.init(state: "refused")
        case .unsupported: self.init(state: "unsupported")
        case .silent: self.init(state: "silent")
        }
    }

    fileprivate init(_ igd: IGDEvidence) {
        var address: String?
        if case .address(let ip) = igd.address { address = ReachabilityAdvice.shown(ip) }
        let state =
            switch (igd.status, igd.address) {
            case (.disconnected, _): "disconnected"
            case (_, .withheld): "withheld"
            case (.connected, _), (_, .address): "connected"
            case (.unknown, .unknown): "error"
            }
        self.init(
            state: state, type: igd.connectionType.map { ReachabilityAdvice.masked($0) }, address: address)
    }
}

extension Reachability.Mapping {
    fileprivate init(_ report: ReachabilityReport, readAt: WallTime) {
        switch report.router.mapping {
        case .none: self.init(state: "none")
        case .unreadable: self.init(state: "unreadable")
        case .entry(let entry):
            let isHere = entry.client == report.lanAddress && entry.port == report.port
            let isOurs = entry.description == MappingPolicy.description
            let state = !isHere ? "elsewhere" : !entry.isEnabled ? "disabled" : isOurs ? "ours" : "toThisHost"
            self.init(
                state: state, target: entry.target,
                expiresAt: entry.lease > 0
                    ? WallTime(milliseconds: readAt.milliseconds + Int64(entry.lease) * 1000) : nil)
        }
    }
}

extension Duration {
    /// Whole milliseconds, rounded down.
    fileprivate var milliseconds: Int { Int(clamping: wholeNanoseconds / 1_000_000) }
}
