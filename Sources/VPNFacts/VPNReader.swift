// SPDX-License-Identifier: Apache-2.0

package import Policy
internal import Sockets
internal import Wire

/// What the machine's VPNs say of themselves, beside the link table (05 B4, B5).
package struct VPNReading: Sendable, Equatable {
    package var vpns: [VPNEvidence] = []
    package var sources: [FactSource] = []

    package init() {}
}

/// Asks all VPN daemons, the service manager and NetworkManager side by side, each at most 1 s.
package final class VPNReader: Sendable {
    /// For each daemon (05 B12).
    package static let limit = Duration.seconds(1)
    /// For a name after that: less than its whole 2 s when a daemon took most of its own, so that what the daemons said is
    /// not lost with the report's time.
    private static let rest = Duration.milliseconds(1400)

    private let places: Places
    private let limit: Duration
    private let resolver: NameResolver
    private let tailscale = Errand<Timed<TailscaleDaemon.Reading>>("vpn-tailscale")
    private let zeroTier = Errand<Timed<ZeroTierDaemon.Reading>>("vpn-zerotier")
    private let bus = Errand<Timed<BusFacts>>("vpn-bus")
    private let owners = Errand<[String: Processes.Owner]>("vpn-owners")
    private let domains = Errand<[String]>("vpn-domains")

    package convenience init() { self.init(.system) }

    /// Elsewhere, with another resolver for MagicDNS names, and more time for a test that is not about it.
    package init(_ places: Places, resolver: NameResolver = NameResolver(), limit: Duration = limit) {
        self.places = places
        self.limit = limit
        self.resolver = resolver
    }

    /// Reads, on the calling thread and threads of its own, within 1 s, and until 2.4 s at most for a MagicDNS name.
    /// `hostName` serves the guess of 05 A6.
    package func read(_ table: InterfaceTable, hostName: String) -> VPNReading {
        let begun = monotonicNow()
        let deadline = begun + limit
        let places = places
        let processes = Processes(root: places.processes)
        let asked = (
            tailscale: tailscale.start {
                timed { TailscaleDaemon(sockets: places.tailscale).read(until: deadline) }
            },
            zeroTier: zeroTier.start {
                timed {
                    ZeroTierDaemon(
                        place: places.zeroTier, tokenFile: places.zeroTierToken, processes: processes
                    ).read(until: deadline)
                }
            },
            bus: bus.start { timed { BusReading.read(places.bus, by: deadline) } },
            owners: Self.hasTun(table) ? owners.start { processes.tunOwners(until: deadline) } : nil
        )
        var facts = VPNComposer.Facts()
        var reading = VPNReading()
        let said = asked.tailscale?.answer(by: deadline)
        // Not even begun: whoever was asked before still has not come back.
        facts.tailscale = said?.value ?? TailscaleDaemon.Reading(state: hasSocket ? .silent : .absent)
        reading.sources += source(of: facts.tailscale, said?.took ?? limit)
        // The name is looked up while the others are still asked.
        let lookUp = startLookUp(facts.tailscale, by: deadline + Self.rest)

        let zeroTierSaid = asked.zeroTier?.answer(by: deadline)
        facts.zeroTier = zeroTierSaid?.value ?? (asked.zeroTier == nil ? .absent : .silent)
        reading.sources += source(of: facts.zeroTier, zeroTierSaid?.took ?? limit)
        let busSaid = asked.bus?.answer(by: deadline)
        facts.bus = busSaid?.value ?? BusFacts()
        reading.sources += Self.sources(of: facts.bus, busSaid?.took ?? limit)
        facts.owners = asked.owners?.answer(by: deadline) ?? [:]
        reading.vpns = VPNComposer.compose(table, facts)
        guard let index = reading.vpns.firstIndex(where: { $0.product == .tailscale }) else { return reading }
        if let lookUp {
            let resolved = lookUp.late.flatMap { $0.answer(by: lookUp.deadline) }.flatMap { $0 }
            reading.vpns[index].tailscale?.resolved = resolved
            reading.sources.append(nameSource(lookUp.name, lookUp.begun, resolved))
        } else if reading.vpns[index].tailscale == nil, let link = reading.vpns[index].interface {
            let guess = guess(hostName, facts.bus.domains, by: deadline)
            let own = table.interface(named: link)?.addresses.map(\.ip.unscoped) ?? []
            if let guess {
                let begun = monotonicNow()
                let end = min(begun + NameResolver.limit, deadline + Self.rest)
                let found = resolver.addresses(of: guess + ".", by: end)
                reading.sources.append(nameSource(guess, begun, found))
                // The strict rule: a guess needs proof.
                if found?.contains(where: { own.contains($0.unscoped) }) == true {
                    reading.vpns[index].guessedName = guess
                }
            }
        }
        return reading
    }

    // MARK: MagicDNS

    private var hasSocket: Bool { TailscaleDaemon(sockets: places.tailscale).socket != nil }

    private struct LookUp {
        let name: String
        let begun: MonotonicTime
        let deadline: MonotonicTime
        let late: Late<[IPAddress]?>?
    }

    private func startLookUp(_ reading: TailscaleDaemon.Reading, by end: MonotonicTime) -> LookUp? {
        guard let evidence = reading.evidence, evidence.hasMagicDNS, let name = evidence.dnsName,
            evidence.backendState == "Running"
        else { return nil }
        let begun = monotonicNow()
        // Whole as it is: no search domain is to be tried on it.
        return LookUp(
            name: name, begun: begun, deadline: min(begun + NameResolver.limit, end),
            late: resolver.start(name + "."))
    }

    private func guess(_ hostName: String, _ busDomains: [String], by deadline: MonotonicTime) -> String? {
        let file = places.resolver
        let domains = domains.start { ResolverFile.read(file) }?.answer(by: deadline) ?? []
        return MagicDNSGuess.name(hostName, domains: domains + busDomains)
    }

    // MARK: Where facts came from

    private func source(of reading: TailscaleDaemon.Reading, _ took: Duration) -> [FactSource] {
        let state: String
        switch reading.state {
        case .absent: return []
        case .down: state = "refused"
        case .answered: state = "answered"
        case .silent: state = "silent"
        case .unreadable: state = "unreadable"
        }
        let path = TailscaleDaemon(sockets: places.tailscale).socket ?? places.tailscale.first ?? ""
        return [Self.source("vpn.tailscale", path, state, took)]
    }

    private func source(of reading: ZeroTierDaemon.Reading, _ took: Duration) -> [FactSource] {
        let state: String
        switch reading {
        case .absent: return []
        case .down: state = "refused"
        case .answered: state = "answered"
        case .silent: state = "silent"
        case .unreadable: state = "unreadable"
        }
        return [Self.source("vpn.zerotier", places.zeroTier.description, state, took)]
    }

    private static func sources(of bus: BusFacts, _ took: Duration) -> [FactSource] {
        [
            ("vpn.units", "systemd", bus.unitState), ("vpn.profiles", "NetworkManager", bus.profileState),
        ].compactMap { fact, source, state in
            switch state {
            case .absent: nil
            case .asked: Self.source(fact, source, "silent", took)
            case .answered: Self.source(fact, source, "answered", took)
            case .refused: Self.source(fact, source, "unreadable", took)
            }
        }
    }

    private func nameSource(_ name: String, _ begun: MonotonicTime, _ found: [IPAddress]?) -> FactSource {
        // NXDOMAIN counts as no answer (09.44).
        let state = found.map { $0.isEmpty ? "silent" : "answered" } ?? "silent"
        return Self.source("vpn.magicDNS", name, state, monotonicNow() - begun)
    }

    private static func source(
        _ fact: String, _ source: String, _ state: String, _ took: Duration
    ) -> FactSource {
        FactSource(fact: fact, source: source, state: state, at: monotonicNow(), took: took)
    }

    private static func hasTun(_ table: InterfaceTable) -> Bool {
        table.interfaces.contains {
            $0.kind == .tunnel && !$0.name.hasPrefix("tailscale")
                && ($0.link.infoKind == nil || $0.link.infoKind == "tun")
        }
    }
}

/// What a reading gave, and how long it took.
struct Timed<Value: Sendable>: Sendable {
    var value: Value
    var took: Duration
}

private func timed<Value>(_ body: () -> Value) -> Timed<Value> {
    let begun = monotonicNow()
    let value = body()
    return Timed(value: value, took: monotonicNow() - begun)
}

/// The name that a tailnet most likely gave this host (05 A6), for who may not ask the daemon.
enum MagicDNSGuess {
    /// The short host name and the first search domain below `ts.net`.
    static func name(_ hostName: String, domains: [String]) -> String? {
        let short = hostName.split(separator: ".", omittingEmptySubsequences: false).first ?? ""
        let suffix = domains.lazy.map { domain in
            let lower = domain.lowercased()
            return lower.hasSuffix(".") ? String(lower.dropLast()) : lower
        }.first { $0.hasSuffix(".ts.net") && $0.utf8.count > ".ts.net".utf8.count }
        guard !short.isEmpty, let suffix else { return nil }
        return TailscaleAnswers.hostName("\(short).\(suffix)")
    }
}
