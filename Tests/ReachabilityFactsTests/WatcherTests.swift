// SPDX-License-Identifier: Apache-2.0

import Policy
import RouterProbe
import Sockets
import Synchronization
import Testing
import VPNFacts
import Wire

@testable import ReachabilityFacts

/// The gatherer and the watcher with real threads; every wait is for something that happens.
struct WatcherTests {
    /// A queue that a test waits at.
    final class Told<Item: Sendable>: Sendable {
        private let items = Mutex<[Item]>([])
        private let wakeUp: WakeUp

        init() throws { wakeUp = try WakeUp() }

        func put(_ item: Item) {
            items.withLock { $0.append(item) }
            wakeUp.signal()
        }

        /// The next one; nil when none comes in a minute.
        func next() -> Item? {
            while true {
                let item = items.withLock { $0.isEmpty ? nil : $0.removeFirst() }
                if let item { return item }
                guard wakeUp.wait(until: monotonicNow() + .seconds(60)) else { return nil }
                wakeUp.clear()
            }
        }
    }

    /// What is shut until a test opens it.
    final class Gate: Sendable {
        private let flag: WakeUp
        init() throws { flag = try WakeUp() }
        func open() { flag.signal() }
        func pass() { _ = flag.wait(until: monotonicNow() + .seconds(60)) }
    }

    static func witnesses(
        router: @escaping @Sendable (RouterQuestion) -> RouterFacts = { _ in answer() }
    ) -> ReachabilityWitnesses {
        ReachabilityWitnesses(
            vpns: { _ in
                var reading = VPNReading()
                reading.vpns = [VPNEvidence(product: .tailscale)]
                reading.sources = [
                    FactSource(
                        fact: "vpn.tailscale", source: "/run/tailscale/tailscaled.sock", state: "answered",
                        at: monotonicNow(), took: .milliseconds(1))
                ]
                return reading
            }, router: router, resolve: { $0 == "home.example.net" ? [ip("11.22.33.44")] : [] },
            firewall: { port, _ in rules(port == 7455 ? .passes : .drops) })
    }

    static func rules(_ state: HostFirewall) -> HostFirewallReading {
        HostFirewallReading(
            state: state,
            source: FactSource(
                fact: "firewall", source: "nftables", state: "answered", at: monotonicNow(), took: .zero))
    }

    @Test func oneLookGathersEverything() {
        var scope = ReachabilityGatherer.Scope()
        scope.addressName = "home.example.net:17455"
        let asked = Mutex<RouterQuestion?>(nil)
        let gatherer = ReachabilityGatherer(
            Self.witnesses { question in
                asked.withLock { $0 = question }
                return answer()
            })
        let evidence = gatherer.gather(machine(), took: .milliseconds(2), scope)
        #expect(evidence.table == machine())
        #expect(asked.withLock { $0 } == question(port: 17455))
        #expect(evidence.router == answer().evidence)
        #expect(evidence.vpns.map(\.product) == [.tailscale])
        #expect(
            evidence.name == NameEvidence(text: "home.example.net:17455", addresses: [ip("11.22.33.44")]))
        #expect(evidence.firewall == .passes)
        #expect(
            evidence.sources.map { "\($0.fact) \($0.state)" } == [
                "interfaces answered", "vpn.tailscale answered", "router.natpmp answered",
                "router.upnp answered", "name answered", "firewall answered",
            ])
        #expect(evidence.sources.first?.took == .milliseconds(2))
    }

    @Test func witnessesAreAskedSideBySide() throws {
        // Each waits for the other: one after the other they would never end.
        let (first, second) = (try Gate(), try Gate())
        var witnesses = Self.witnesses { _ in
            first.open()
            second.pass()
            return answer()
        }
        witnesses.firewall = { _, _ in
            second.open()
            first.pass()
            return Self.rules(.passes)
        }
        let evidence = ReachabilityGatherer(witnesses).gather(
            machine(), took: .zero, ReachabilityGatherer.Scope())
        #expect(evidence.router == answer().evidence && evidence.firewall == .passes)
    }

    @Test(
        "what an address name leads to; a literal address needs no resolver, and the name goes to it without its port",
        arguments: [
            ("11.22.33.44:80", ["11.22.33.44"]), ("198.51.100.7", ["198.51.100.7"]),
            ("[2001:db8::1]", ["2001:db8::1"]), ("[2001:db8::7]:99", ["2001:db8::7"]),
            ("a.example", ["9.9.9.9"]), ("a.example:17455", ["9.9.9.9"]), ("gone.example", []),
            ("silent.example", nil), ("no name", []),
        ] as [(String, [String]?)])
    func addressName(_ text: String, _ want: [String]?) {
        var witnesses = Self.witnesses()
        witnesses.resolve = { ["a.example": [ip("9.9.9.9")], "gone.example": []][$0] }
        let facts = ReachabilityGatherer(witnesses).lookAtHost(machine(), port: 7455, name: text)
        #expect(facts.name == NameEvidence(text: text, addresses: want?.map { ip($0) }))
    }

    @Test func withoutARouterNobodyIsAsked() {
        let gatherer = ReachabilityGatherer(
            Self.witnesses { _ in
                Issue.record("asked")
                return answer()
            })
        let evidence = gatherer.gather(InterfaceTable([]), took: .zero, ReachabilityGatherer.Scope())
        #expect(evidence.router?.isFinished == true && evidence.router?.natpmp == nil)
        #expect(evidence.sources.contains { $0.fact == "router" && $0.state == "notAsked" })
    }

    @Test func theWatcherTellsTheHostThenTheRouter() throws {
        let told = try Told<ReachabilityEvidence>()
        let gate = try Gate()
        let watcher = try ReachabilityWatcher(
            Self.witnesses { _ in
                gate.pass()
                return answer()
            }
        ) { told.put($0) }
        try watcher.start(machine())
        watcher.want(wanted())
        #expect(told.next()?.router?.isFinished == false)
        gate.open()
        #expect(told.next()?.router == answer().evidence)
        watcher.stop()
    }

    @Test func askersShareOneLook() throws {
        let gate = try Gate()
        let probes = Mutex(0)
        let watcher = try ReachabilityWatcher(
            Self.witnesses { _ in
                probes.withLock { $0 += 1 }
                gate.pass()
                return answer()
            }
        ) { _ in }
        try watcher.start(machine())
        let answers = try Told<ReachabilityEvidence>()
        for _ in 0..<5 { watcher.look { answers.put($0) } }
        gate.open()
        for _ in 0..<5 { #expect(answers.next()?.router == answer().evidence) }
        watcher.stop()
        #expect(probes.withLock { $0 } == 1)
    }

    @Test func nothingIsToldAfterStopAndWhoWaitsIsAnswered() throws {
        let gate = try Gate()
        let told = Mutex(0)
        let asked = try Told<Bool>()
        let ended = try Told<Bool>()
        let answers = try Told<ReachabilityEvidence>()
        let watcher = try ReachabilityWatcher(
            Self.witnesses { _ in
                asked.put(true)
                gate.pass()
                defer { ended.put(true) }
                return answer()
            }
        ) { _ in told.withLock { $0 += 1 } }
        try watcher.start(machine())
        watcher.look { answers.put($0) }
        #expect(asked.next() == true)
        watcher.stop()
        #expect(answers.next()?.router?.natpmp == .silent)
        let count = told.withLock { $0 }
        gate.open()
        #expect(ended.next() == true)
        watcher.want(wanted())
        watcher.look { _ in Issue.record("told after the stop") }
        watcher.stop()
        #expect(told.withLock { $0 } == count)
    }

    @Test func whatIsFollowedEndsWithTheWatching() throws {
        let log = try Told<String>()
        let callBack = Mutex<(@Sendable () -> Void)?>(nil)
        var witnesses = Self.witnesses()
        witnesses.followTailscale = { changed in
            callBack.withLock { $0 = changed }
            log.put("vpn")
            return { log.put("vpn ended") }
        }
        witnesses.followGateway = { question, _ in
            log.put("gateway \(question.gateway?.description ?? "")")
            return { log.put("gateway ended") }
        }
        let told = try Told<ReachabilityEvidence>()
        let watcher = try ReachabilityWatcher(witnesses) { told.put($0) }
        try watcher.start(machine())
        watcher.want(wanted())
        #expect([log.next(), log.next()] == ["vpn", "gateway 192.168.1.1"])
        watcher.stop()
        #expect([log.next(), log.next()] == ["vpn ended", "gateway ended"])
        callBack.withLock { $0 }?()
    }
}
