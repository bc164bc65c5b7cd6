// SPDX-License-Identifier: Apache-2.0

import Policy
import RouterProbe
import Testing
import Wire

@testable import ReachabilityFacts

/// When the watcher looks, asks and tells (05 A1, A5, B6; 09.36), without threads or a clock.
struct WatchStateTests {
    /// The machine, and what it did.
    struct World {
        var state = WatchState(machine(), now: at(0))
        var done: [WatchState.Effect] = []

        /// Something happens; what is done because of it.
        @discardableResult
        mutating func when(_ seconds: Double, _ events: WatchState.Event...) -> [String] {
            let now = MonotonicTime.seconds(seconds)
            var effects: [WatchState.Effect] = []
            for event in events { effects += state.take(event, now: now) }
            effects += state.step(now: now)
            done = effects
            return effects.map(Self.word)
        }

        static func word(_ effect: WatchState.Effect) -> String {
            switch effect {
            case .lookAtHost(_, let port, let name): "look \(port)\(name.map { " \($0)" } ?? "")"
            case .askRouter(let question):
                "ask \(question.gateway?.description ?? "?"):\(question.outsidePort)"
                    + (question.isPatient ? " patiently" : "") + (!question.asksUPnP ? " NAT-PMP" : "")
            case .publish(let evidence): "publish \(kind(evidence))"
            case .answer(let id, let evidence): "answer \(id) \(kind(evidence))"
            case .followVPN(let isOn): "follow VPN \(isOn)"
            case .followGateway(let question): "follow \(question?.gateway?.description ?? "none")"
            }
        }

        private static func kind(_ evidence: ReachabilityEvidence) -> String {
            guard evidence.table.isComplete else { return "nothing" }
            guard let router = evidence.router else { return "host" }
            return router.isFinished ? router.natpmp.map { "\($0)" } ?? "nobody asked" : "asking"
        }

        /// Switched on at 0, looked at by 1, the router answered by 2.
        static func settled() -> World {
            var world = World()
            world.when(0, .want(wanted()))
            world.when(1, .hostEnded(looked()))
            world.when(2, .routerEnded(question(), answer()))
            return world
        }
    }

    static let answered = "answered(11.22.33.44)"

    @Test func nothingRunsWhileNotWanted() {
        var world = World()
        #expect(world.when(0) == [])
        #expect(
            world.when(1, .network(machine(lan: "192.168.1.6")), .vpnChanged, .announced, .forwardsChanged)
                == [])
        #expect(world.state.nextDeadline == nil)
    }

    @Test func theFirstTellingIsAfterTheFirstWholeLook() {
        var world = World()
        #expect(
            world.when(0, .want(wanted()))
                == ["look 7455", "ask 192.168.1.1:7455", "follow VPN true", "follow 192.168.1.1"])
        #expect(world.when(0.1, .routerEnded(question(), answer())) == [], "the router was faster")
        #expect(world.when(1, .hostEnded(looked())) == ["publish \(Self.answered)"])
    }

    @Test func theRoutersAnswerFollows() {
        var world = World()
        world.when(0, .want(wanted()))
        #expect(world.when(1, .hostEnded(looked())) == ["publish asking"])
        #expect(world.when(2, .routerEnded(question(), answer())) == ["publish \(Self.answered)"])
    }

    @Test func withInternetOffNoRouterIsAsked() {
        var world = World()
        #expect(world.when(0, .want(wanted(router: false))) == ["look 7455", "follow VPN true"])
        #expect(world.when(1, .hostEnded(looked())) == ["publish host"])
        #expect(world.state.nextDeadline == nil)
        #expect(world.when(5, .want(wanted())).contains("ask 192.168.1.1:7455"))
    }

    @Test func changesAreLookedAtHalfASecondLaterTogether() {
        var world = World.settled()
        #expect(world.when(10, .network(machine(lan: "192.168.1.6"))) == [])
        #expect(world.when(10.3, .network(machine(lan: "192.168.1.7")), .vpnChanged) == [])
        #expect(world.state.nextDeadline == at(10.5))
        #expect(world.when(10.5) == ["look 7455", "follow 192.168.1.1"])
        #expect(
            world.when(10.6, .hostEnded(looked())) == ["publish asking"],
            "the old answer was of another address")
        #expect(world.state.nextDeadline == at(30), "30 s after the last probe began")
        #expect(world.when(30) == ["ask 192.168.1.1:7455"])
    }

    @Test func anotherGatewayIsAskedAtOnce() {
        var world = World.settled()
        world.when(10, .network(machine(lan: "10.0.0.5", gateway: "10.0.0.1")))
        #expect(world.when(10.5) == ["look 7455", "ask 10.0.0.1:7455", "follow 10.0.0.1"])
    }

    @Test func whatChangesDuringALookIsLookedAtAfterIt() {
        var world = World()
        world.when(0, .want(wanted(router: false)))
        #expect(world.when(0.1, .vpnChanged) == [])
        #expect(world.when(1) == [] && world.state.nextDeadline == nil)
        #expect(world.when(2, .hostEnded(looked())) == ["publish host", "look 7455"])
    }

    @Test func aSilentRouterIsAskedOnceMorePatiently() {
        var world = World()
        world.when(0, .want(wanted()))
        world.when(1, .hostEnded(looked()))
        #expect(world.when(2, .routerEnded(question(), silence())) == ["publish silent"])
        #expect(world.when(12) == ["ask 192.168.1.1:7455 patiently"])
        var patient = question()
        patient.isPatient = true
        #expect(world.when(16, .routerEnded(patient, silence())) == ["publish silent"])
        #expect(world.state.nextDeadline == at(916))
    }

    @Test func aLightProbeKeepsWhatItConfirmsAndLooksAtTheHostToo() {
        var world = World.settled()
        #expect(world.when(902) == ["ask 192.168.1.1:7455 NAT-PMP", "look 7455"])
        var light = question()
        light.asksUPnP = false
        var same = answer()
        same.evidence.igd = nil
        same.sources = [same.sources[0]]
        same.sources[0].at = at(903)
        #expect(world.when(903, .routerEnded(light, same)) == ["publish \(Self.answered)"])
        guard case .publish(let evidence) = world.done.first else { return #expect(Bool(false)) }
        #expect(evidence.router?.igd != nil, "what UPnP said stands")
        #expect(evidence.sources.filter { $0.fact.hasPrefix("router") }.map(\.at) == [at(903), at(1)])
    }

    @Test func anotherNATPMPAnswerAsksEverything() {
        var world = World.settled()
        world.when(902)
        var light = question()
        light.asksUPnP = false
        #expect(
            world.when(903, .routerEnded(light, answer("11.22.33.55"))) == ["ask 192.168.1.1:7455"])
    }

    @Test func anAnnouncementAsksAgain() {
        var world = World.settled()
        #expect(world.when(100, .announced) == ["ask 192.168.1.1:7455"])
    }

    @Test func whatTheServiceHadTheRouterDoIsLookedAt() {
        var world = World.settled()
        #expect(world.when(3, .forwardsChanged) == ["ask 192.168.1.1:7455"])
    }

    @Test func anAnswerAboutAnotherPortIsDropped() {
        var world = World()
        world.when(0, .want(wanted()))
        world.when(1, .hostEnded(looked()))
        #expect(world.when(1.5, .want(wanted(port: 7500))) == ["look 7500", "follow 192.168.1.1"])
        #expect(world.when(2, .routerEnded(question(), answer())) == ["ask 192.168.1.1:7500"])
        #expect(
            world.when(3, .routerEnded(question(port: 7500), answer())) == ["publish \(Self.answered)"])
    }

    @Test func whoeverAsksGetsAWholeLookAndSharesIt() {
        var world = World()
        #expect(world.when(0, .look(1)) == ["look 7455", "ask 192.168.1.1:7455"])
        #expect(world.when(0.5, .look(2)) == [])
        #expect(world.when(1, .hostEnded(looked())) == ["publish asking"])
        #expect(
            world.when(2, .routerEnded(question(), answer()))
                == ["publish \(Self.answered)", "answer 1 \(Self.answered)", "answer 2 \(Self.answered)"])
        #expect(world.state.nextDeadline == nil, "nothing follows while nobody watches")
    }

    @Test func afterSevenSecondsWhatIsUndecidedIsSilent() {
        var world = World()
        world.when(0, .look(1))
        world.when(1, .hostEnded(looked()))
        #expect(world.state.nextDeadline == at(7))
        #expect(world.when(7) == ["answer 1 silent"])
    }

    @Test func withoutARouterToAskNobodyWaitsForOne() {
        var world = World()
        world.state = WatchState(InterfaceTable([]), now: at(0))
        #expect(world.when(0, .look(1)) == ["look 7455"])
        #expect(world.when(1, .hostEnded(looked())) == ["publish nobody asked", "answer 1 nobody asked"])
    }

    @Test func theNameIsLookedUpWhileTheInternetMayComeIn() {
        var world = World()
        #expect(world.when(0, .want(wanted(router: false, name: "a.example"))).first == "look 7455")
        world.when(1, .hostEnded(looked()))
        #expect(world.when(2, .want(wanted(name: "a.example"))).first == "look 7455 a.example")
        world.when(
            3, .hostEnded(looked(name: NameEvidence(text: "a.example", addresses: [ip("11.22.33.44")]))))
        world.when(4, .vpnChanged)
        #expect(world.when(4.5) == ["look 7455"], "not within 5 min")
        world.when(5, .hostEnded(looked()))
        guard case .publish(let evidence) = world.done.first else { return #expect(Bool(false)) }
        #expect(evidence.name?.addresses == [ip("11.22.33.44")], "what is known stays")
        #expect(world.when(6, .want(wanted(name: "b.example"))).first == "look 7455 b.example")
        world.when(7, .vpnChanged, .hostEnded(looked()))
        guard case .publish(let other) = world.done.first else { return #expect(Bool(false)) }
        #expect(other.name == nil, "what is known of another name does not count")
    }

    @Test func switchingOffForgetsAndSwitchingOnLooksAnew() {
        var world = World.settled()
        #expect(
            world.when(10, .want(ReachabilityWanted()))
                == ["publish nothing", "follow VPN false", "follow none"])
        #expect(world.state.nextDeadline == nil)
        #expect(
            world.when(20, .want(wanted()))
                == ["look 7455", "ask 192.168.1.1:7455", "follow VPN true", "follow 192.168.1.1"])
        #expect(world.when(21, .hostEnded(looked())) == ["publish asking"])
    }

    @Test func aLateLookTellsNothingAfterSwitchingOff() {
        var world = World()
        world.when(0, .want(wanted()))
        world.when(0.5, .want(ReachabilityWanted()))
        #expect(world.when(1, .hostEnded(looked()), .routerEnded(question(), answer())) == [])
    }

    @Test func vpnsThatTookTooLongStayAsTheyWere() {
        var world = World.settled()
        var vpn = VPNEvidence(product: .tailscale)
        vpn.hasSocket = true
        world.when(5, .vpnChanged)
        world.when(5.5)
        world.when(6, .hostEnded(looked([vpn])))
        world.when(7, .vpnChanged)
        world.when(7.5)
        var late = HostFacts()
        late.lateVPNs = FactSource(
            fact: "vpn", source: "VPN daemons", state: "silent", at: at(8), took: .seconds(2))
        world.when(8, .hostEnded(late))
        guard case .publish(let evidence) = world.done.first else { return #expect(Bool(false)) }
        #expect(
            evidence.vpns == [vpn] && evidence.sources.contains { $0.fact == "vpn" && $0.state == "silent" })
    }

    @Test func stoppingAnswersWhoWaits() {
        var world = World()
        world.when(0, .want(wanted()), .look(1))
        world.when(1, .hostEnded(looked()))
        #expect(
            world.state.stop().map(World.word) == ["answer 1 silent", "follow VPN false", "follow none"])
    }
}
