// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Policy
import Sockets
import Synchronization
import Testing
import Wire

@testable import RouterProbe

extension RouterInAFile {
    @Suite("Port mapping", .serialized)
    struct Mapping {
        static func wish(outside: Int = 7455, permanent: Bool = false) -> MappingWish {
            var wish = MappingWish(
                gateway: ScriptedRouter.gateway, lan: ScriptedRouter.lan, outsidePort: outside,
                insidePort: 7455)
            wish.allowsPermanent = permanent
            return wish
        }

        static func entry(
            _ client: IPAddress = ScriptedRouter.lan, port: Int = 7455, enabled: Bool = true, words: String
        ) -> MappingEntry {
            MappingEntry(client: client, port: port, isEnabled: enabled, description: words, lease: 1000)
        }

        private func map(
            _ script: ScriptedRouter.Script, _ wish: MappingWish = wish(), _ times: RouterTimes = .whole
        ) throws -> MappingOutcome {
            let router = try ScriptedRouter(script)
            defer { router.end() }
            return RouterMapper(router.prober(times: times)).map(wish, on: ScriptedRouter.link)
        }

        private func unmap(_ script: ScriptedRouter.Script, _ grant: MappingGrant) throws -> UnmappingOutcome
        {
            let router = try ScriptedRouter(script)
            defer { router.end() }
            return RouterMapper(router.prober()).unmap(grant, on: ScriptedRouter.link)
        }

        private static func grant(_ way: MappingGrant.Way = .upnp) -> MappingGrant {
            MappingGrant(wish: wish(), way: way, lease: 3600, isSeen: true)
        }

        @Test("a mapping is made, seen again, renewed and taken away")
        func whole() throws {
            let igd = FakeIGD()
            let router = try ScriptedRouter(igd.script())
            defer { router.end() }
            let mapper = RouterMapper(router.prober())
            let outcome = mapper.map(Self.wish(outside: 17_455), on: ScriptedRouter.link)
            let expected = MappingGrant(
                wish: Self.wish(outside: 17_455), way: .upnp, lease: 3600, isSeen: true)
            #expect(outcome == .active(expected))
            #expect(igd.now.added == ["17455 7455 127.0.7.2 3600 Latchkey"])
            #expect(mapper.map(Self.wish(outside: 17_455), on: ScriptedRouter.link) == .active(expected))
            #expect(igd.now.added.count == 2)
            #expect(mapper.unmap(expected, on: ScriptedRouter.link) == .removed)
            #expect(igd.now.entry == nil)
            #expect(mapper.unmap(expected, on: ScriptedRouter.link) == .wasGone)
        }

        @Test(
            "what is there already",
            arguments: [
                (entry(ip("192.168.1.20"), words: "x"), .conflict("192.168.1.20:7455")),
                (entry(ip("192.168.1.20"), words: "Latchkey"), .conflict("192.168.1.20:7455")),
                (entry(words: "by hand"), .toThisHost),
                (entry(port: 80, words: "by hand"), .conflict("127.0.7.2:80")),
                (entry(enabled: false, words: "by hand"), nil), (entry(words: ""), .toThisHost),
                (entry(words: "latchkey"), .toThisHost),
            ] as [(MappingEntry, MappingOutcome?)])
        func existing(_ entry: MappingEntry, _ expected: MappingOutcome?) throws {
            let igd = FakeIGD { $0.entry = entry }
            let outcome = try map(igd.script())
            if let expected {
                #expect(outcome == expected)
            } else {
                #expect(outcome.code == "mappingNotPossible")
            }
            #expect(igd.now.entry == entry)
            #expect(igd.now.added == [])
        }

        @Test("our own that leads to an old port or address is replaced")
        func replaced() throws {
            let igd = FakeIGD { $0.entry = Self.entry(port: 7000, words: "Latchkey") }
            #expect(try map(igd.script()).code == "mappingActive")
            #expect(igd.now.entry?.port == 7455)
            let moved = FakeIGD { $0.entry = Self.entry(ip("127.0.7.77"), words: "Latchkey") }
            var wish = Self.wish()
            wish.formerLANs = [ip("127.0.7.77")]
            #expect(try map(moved.script(), wish).code == "mappingActive")
            #expect(moved.now.entry?.client == ScriptedRouter.lan)
            // A router that lets nobody touch it: it stays, and is in the way.
            let strict = FakeIGD {
                $0.entry = Self.entry(ip("127.0.7.77"), words: "Latchkey")
                $0.errors["DeletePortMapping"] = [606]
            }
            #expect(try map(strict.script(), wish) == .conflict("127.0.7.77:7455"))
        }

        @Test(
            "what the router answers",
            arguments: [
                ([718], false, "mappingConflict", 0), ([725], false, "mappingPermanentOnly", 0),
                ([725], true, "mappingActive", 1),
                ([725, 725], true, "mappingRefused", 0), ([724], false, "mappingActive", 1),
                ([724, 724], false, "mappingRefused", 0),
                ([501], false, "mappingRefused", 0), ([606], false, "mappingRefused", 0),
                ([728], false, "mappingRefused", 0),
                ([729], false, "mappingRefused", 0), ([402], true, "mappingRefused", 0),
            ])
        func errors(_ codes: [Int], _ permanent: Bool, _ expected: String, _ added: Int) throws {
            let igd = FakeIGD { $0.errors["AddPortMapping"] = codes }
            let outcome = try map(igd.script(), Self.wish(permanent: permanent))
            #expect(outcome.code == expected)
            #expect(igd.now.added.count == added)
            if codes == [725], case .active(let grant) = outcome { #expect(grant.lease == 0) }
        }

        @Test("724 with another port outside is not tried again")
        func otherPort() throws {
            let igd = FakeIGD { $0.errors["AddPortMapping"] = [724] }
            #expect(try map(igd.script(), Self.wish(outside: 17_455)).code == "mappingRefused")
            #expect(igd.now.added == [])
        }

        @Test("a conflict names the one who has it")
        func named() throws {
            let igd = FakeIGD()
            var script = igd.script()
            let asked = Mutex(0)
            script.http = { request in
                switch request.action {
                case "AddPortMapping": return FakeIGD.http(Replies.error(718), status: 500)
                case "GetSpecificPortMappingEntry":
                    let isFirst = asked.withLock { asked in
                        asked += 1
                        return asked == 1
                    }
                    return isFirst
                        ? FakeIGD.http(Replies.error(714), status: 500) : FakeIGD.http(Replies.entry)
                default: return igd.answer(request)
                }
            }
            #expect(try map(script) == .conflict("192.168.1.5:7455"))
        }

        @Test("a router that says yes and shows nothing, something else, or a shorter time")
        func shown() throws {
            let forgetful = FakeIGD { $0.showsMappings = false }
            #expect(
                try map(forgetful.script())
                    == .active(MappingGrant(wish: Self.wish(), way: .upnp, lease: 3600, isSeen: false)))
            let short = FakeIGD { $0.shownLease = 600 }
            #expect(
                try map(short.script())
                    == .active(MappingGrant(wish: Self.wish(), way: .upnp, lease: 600, isSeen: true)))
        }

        @Test("what is there and cannot be read is not touched")
        func unreadable() throws {
            let igd = FakeIGD()
            var script = igd.script()
            script.http = { request in
                request.action == "GetSpecificPortMappingEntry"
                    ? FakeIGD.http(
                        Replies.values("G", [("NewInternalClient", "nas"), ("NewInternalPort", "1")]))
                    : igd.answer(request)
            }
            #expect(try map(script).code == "mappingConflict")
            #expect(igd.now.added == [])
        }

        @Test("no word in time is pending", arguments: ["GetSpecificPortMappingEntry", "AddPortMapping"])
        func pending(_ action: String) throws {
            // Long enough for the questions that are answered.
            let times = RouterTimes.whole.with { $0.question = .milliseconds(700) }
            #expect(try map(FakeIGD { $0.silent = [action] }.script(), Self.wish(), times) == .pending)
        }

        @Test(
            "what is not ours is never taken away",
            arguments: [
                (entry(words: "by hand"), .leftAlone),
                (entry(ip("127.0.7.77"), words: "Latchkey"), .leftAlone),
                (entry(words: "Latchkey"), .removed),
            ] as [(MappingEntry, UnmappingOutcome)])
        func removal(_ entry: MappingEntry, _ expected: UnmappingOutcome) throws {
            let igd = FakeIGD { $0.entry = entry }
            #expect(try unmap(igd.script(), Self.grant()) == expected)
            #expect((igd.now.entry == nil) == (expected == .removed))
        }

        @Test("another device's IGD is never asked to change anything")
        func stranger() throws {
            let igd = FakeIGD()
            var script = igd.script()
            script.search = [(ScriptedRouter.stranger, "http://ST/rootDesc.xml")]
            script.natpmp = nil
            #expect(try map(script, Self.wish(), .natpmpAlone).code == "mappingNotPossible")
            #expect(igd.now.added == [])
        }

        // MARK: NAT-PMP

        private static func granted(_ asked: [UInt8], outside: Int, lifetime: UInt8 = 100) -> [UInt8] {
            [
                0, 130, 0, 0, 0, 0, 0, 9, asked[4], asked[5], UInt8(outside >> 8), UInt8(outside & 0xFF), 0,
                0, 0, lifetime,
            ]
        }

        private static func script(_ answer: @escaping @Sendable ([UInt8]) -> [[UInt8]])
            -> ScriptedRouter.Script
        {
            var script = ScriptedRouter.Script()
            script.natpmp = { $0.count == 12 && $0[1] == 2 ? answer($0) : [] }
            return script
        }

        @Test("without an IGD NAT-PMP is asked")
        func natpmp() throws {
            let outcome = try map(
                Self.script { [Self.granted($0, outside: 7455)] }, Self.wish(), .natpmpAlone)
            #expect(
                outcome == .active(MappingGrant(wish: Self.wish(), way: .natpmp, lease: 100, isSeen: false)))
            #expect(
                try unmap(Self.script { [Self.granted($0, outside: 0, lifetime: 0)] }, Self.grant(.natpmp))
                    == .removed)
        }

        @Test("another port outside is given back, and never everything")
        func differs() throws {
            let router = try ScriptedRouter(
                Self.script { asked in
                    let isEnd = asked[8..<12] == [0, 0, 0, 0]
                    return [Self.granted(asked, outside: isEnd ? 0 : 40_000, lifetime: isEnd ? 0 : 100)]
                })
            defer { router.end() }
            #expect(
                RouterMapper(router.prober(times: .natpmpAlone)).map(Self.wish(), on: ScriptedRouter.link)
                    == .portDiffers(40_000))
            let requests = router.datagrams.filter { $0.count == 12 }
            // 7455 inside each time: first for 3600 s, then its end.
            #expect(
                requests == [
                    [0, 2, 0, 0, 0x1D, 0x1F, 0x1D, 0x1F, 0, 0, 0x0E, 0x10],
                    [0, 2, 0, 0, 0x1D, 0x1F, 0, 0, 0, 0, 0, 0],
                ])
        }

        @Test(
            "what NAT-PMP answers",
            arguments: [
                (2, "mappingRefused"), (3, "mappingRefused"), (4, "mappingRefused"),
                (5, "mappingNotPossible"),
            ])
        func results(_ code: UInt8, _ expected: String) throws {
            let outcome = try map(
                Self.script { [[0, 130, 0, code, 0, 0, 0, 9] + $0[4...7] + [0, 0, 0, 0]] }, Self.wish(),
                .natpmpAlone)
            #expect(outcome.code == expected)
        }

        @Test("nobody at all")
        func nobody() throws {
            #expect(try map(ScriptedRouter.Script(), Self.wish(), .nobody) == .pending)
        }

        @Test("a gateway that a probe has just found without an IGD is not searched again")
        func searchedOnce() throws {
            let igd = FakeIGD()
            let isThere = Mutex(false)
            let router = try ScriptedRouter(
                igd.script { script in
                    script.natpmp = Self.script { [Self.granted($0, outside: 7455)] }.natpmp
                    script.http = { request in
                        isThere.withLock { $0 } ? igd.answer(request) : [.send(ScriptedRouter.notFound)]
                    }
                })
            defer { router.end() }
            let prober = router.prober(times: .nobody.with { $0.patientNATPMP = RouterTimes.long })
            #expect(prober.ask(ScriptedRouter.question()).evidence.igd == nil)
            // A search would find one now.
            isThere.withLock { $0 = true }
            let grant = MappingGrant(wish: Self.wish(), way: .natpmp, lease: 100, isSeen: false)
            #expect(RouterMapper(prober).map(Self.wish(), on: ScriptedRouter.link) == .active(grant))
            #expect(igd.now.added == [])
        }

        @Test("what a probe found holds for 30 s, for that gateway, until it answers")
        func memory() throws {
            let memory = DescriptionMemory()
            let (gateway, lan, now) = (ScriptedRouter.gateway, ScriptedRouter.lan, MonotonicTime.seconds(100))
            #expect(!memory.hasNone(at: gateway, from: lan, now))
            memory.rememberNone(at: gateway, from: lan, now)
            #expect(memory.hasNone(at: gateway, from: lan, now + .milliseconds(29_999)))
            #expect(!memory.hasNone(at: gateway, from: lan, now + .seconds(30)))
            #expect(!memory.hasNone(at: ScriptedRouter.stranger, from: lan, now))
            #expect(!memory.hasNone(at: gateway, from: ip("127.0.7.3"), now))
            memory.remember(try #require(WebLocation("http://127.0.7.9/x")))
            #expect(memory.hasNone(at: gateway, from: lan, now))
            memory.remember(try #require(WebLocation("http://127.0.7.1/x")))
            #expect(!memory.hasNone(at: gateway, from: lan, now))
            // One search that misses it is not believed.
            memory.rememberNone(at: gateway, from: lan, now)
            #expect(!memory.hasNone(at: gateway, from: lan, now))
        }

        @Test("a probe that asks NAT-PMP alone, or finds the IGD, says nothing against it")
        func notForgotten() throws {
            let igd = FakeIGD()
            let router = try ScriptedRouter(
                igd.script { $0.natpmp = { _ in [RouterInAFile.Probing.address] } })
            defer { router.end() }
            let prober = router.prober()
            var question = ScriptedRouter.question()
            question.asksUPnP = false
            _ = prober.ask(question)
            #expect(RouterMapper(prober).map(Self.wish(), on: ScriptedRouter.link).code == "mappingActive")
            #expect(igd.now.added.count == 1)
            _ = prober.ask(ScriptedRouter.question())
            _ = RouterMapper(prober).map(Self.wish(), on: ScriptedRouter.link)
            #expect(igd.now.added.count == 2)
        }

        // MARK: Pinholes

        private static let pinholeWish = PinholeWish(
            gateway: ScriptedRouter.gateway, lan: ScriptedRouter.lan, address: ip("2001:db8::20"), port: 7455)

        private static func firewalled(_ change: (inout FakeIGD.State) -> Void = { _ in }) -> FakeIGD {
            FakeIGD {
                $0.description = Descriptions.igd(services: [
                    Descriptions.service(Descriptions.connection, "/ip"), Descriptions.firewall,
                ])
                change(&$0)
            }
        }

        @Test("a pinhole is made, renewed, made again and closed")
        func pinholes() throws {
            let igd = Self.firewalled { $0.errors["UpdatePinhole"] = [] }
            let router = try ScriptedRouter(igd.script())
            defer { router.end() }
            let mapper = RouterMapper(router.prober())
            let grant = PinholeGrant(wish: Self.pinholeWish, id: "42", lease: 3600, isWorking: true)
            #expect(mapper.pinhole(Self.pinholeWish, on: ScriptedRouter.link) == .open(grant))
            #expect(igd.now.pinholes == ["2001:db8::20 7455 6 3600"])
            #expect(mapper.renewPinhole(grant, on: ScriptedRouter.link) == .open(grant))
            #expect(mapper.closePinhole(grant, on: ScriptedRouter.link) == .removed)
        }

        @Test("a lost pinhole is made again")
        func lost() throws {
            let igd = Self.firewalled {
                $0.errors["UpdatePinhole"] = [704]
                $0.errors["CheckPinholeWorking"] = [709]
            }
            let router = try ScriptedRouter(igd.script())
            defer { router.end() }
            let old = PinholeGrant(wish: Self.pinholeWish, id: "7", lease: 3600, isWorking: true)
            let outcome = RouterMapper(router.prober()).renewPinhole(old, on: ScriptedRouter.link)
            #expect(
                outcome == .open(PinholeGrant(wish: Self.pinholeWish, id: "42", lease: 3600, isWorking: nil)))
        }

        @Test(
            "pinholes that are refused or not known",
            arguments: [
                (701, true, "pinholeRefused"), (703, true, "pinholeRefused"),
                (0, false, "pinholeNotPossible"),
            ])
        func refusedPinhole(_ code: Int, _ hasService: Bool, _ expected: String) throws {
            let igd = hasService ? Self.firewalled { $0.errors["AddPinhole"] = [code] } : FakeIGD()
            let router = try ScriptedRouter(igd.script())
            defer { router.end() }
            #expect(
                RouterMapper(router.prober()).pinhole(Self.pinholeWish, on: ScriptedRouter.link).code
                    == expected)
        }

        // MARK: Pinholes that are not given to IPv4

        private static let wish6 = PinholeWish(
            gateway: ScriptedRouter.gateway, lan: ScriptedRouter.lan, address: ScriptedRouter.gateway6,
            port: 7455)

        private func pinhole(
            _ igd: FakeIGD, _ wish: PinholeWish = wish6, on link: LANLink = ScriptedRouter.link6,
            _ times: RouterTimes = .whole, _ change: (inout ScriptedRouter.Script) -> Void = { _ in }
        ) throws -> (outcome: PinholeOutcome, requests: [ScriptedRouter.Request]) {
            let router = try ScriptedRouter(
                igd.script {
                    $0.hearsIPv6 = true
                    change(&$0)
                })
            defer { router.end() }
            let outcome = RouterMapper(router.prober(times: times)).pinhole(wish, on: link)
            return (outcome, router.asked.filter { $0.action != nil })
        }

        @Test("what is refused over IPv4 is asked again over IPv6, word for word")
        func overIPv6() throws {
            let igd = Self.firewalled {
                $0.demandsIPv6 = true
                // Not proven yet: no packet has come through.
                $0.errors["CheckPinholeWorking"] = [709]
            }
            let router = try ScriptedRouter(igd.script { $0.hearsIPv6 = true })
            defer { router.end() }
            let mapper = RouterMapper(router.prober())
            let grant = PinholeGrant(wish: Self.wish6, id: "42", lease: 3600, isWorking: nil)
            #expect(mapper.pinhole(Self.wish6, on: ScriptedRouter.link6) == .open(grant))
            #expect(igd.now.pinholes == ["::1 7455 6 3600"])
            guard case .open(let renewed) = mapper.renewPinhole(grant, on: ScriptedRouter.link6) else {
                return #expect(Bool(false), "it is not renewed")
            }
            #expect(renewed.id == "42" && renewed.isWorking == true)
            #expect(mapper.closePinhole(renewed, on: ScriptedRouter.link6) == .removed)
            let asked = router.asked.filter { $0.action != nil }
            let actions = [
                "AddPinhole", "CheckPinholeWorking", "UpdatePinhole", "CheckPinholeWorking", "DeletePinhole",
            ]
            #expect(asked.filter { $0.host.family == .v4 }.map(\.action) == actions)
            #expect(asked.filter { $0.host.family == .v6 }.map(\.action) == actions)
            for (first, second) in zip(asked, asked.dropFirst()) where second.host.family == .v6 {
                #expect(
                    first.action == second.action && first.body == second.body && first.path == second.path)
                #expect(second.name == first.name.replacing("127.0.7.1", with: "[::1]"))
            }
        }

        @Test(
            "IPv6 is asked only after a 606",
            arguments: [([], "pinholeOpen"), ([701], "pinholeRefused"), ([402], "pinholeRefused")])
        func notOverIPv6(_ errors: [Int], _ expected: String) throws {
            let (outcome, requests) = try pinhole(Self.firewalled { $0.errors["AddPinhole"] = errors })
            #expect(outcome.code == expected)
            #expect(requests.allSatisfy { $0.host == ScriptedRouter.gateway })
        }

        @Test("what the gateway answers over IPv6", arguments: [606, 701, 703])
        func refusedOverIPv6(_ code: Int) throws {
            let (outcome, requests) = try pinhole(
                Self.firewalled {
                    $0.demandsIPv6 = true
                    $0.errors["AddPinhole"] = [code]
                })
            #expect(outcome == .refused(MappingPolicy.words(code)))
            #expect(requests.map(\.host) == [ScriptedRouter.gateway, ScriptedRouter.gateway6])
        }

        @Test("without an IPv6 of the gateway, and from an address that is not ours, nobody else is asked")
        func noIPv6() throws {
            let refused = PinholeOutcome.refused(MappingPolicy.words(606))
            for (wish, gateway) in [
                (Self.wish6, nil), (Self.wish6, ip("127.0.7.9")), (Self.pinholeWish, ScriptedRouter.gateway6),
            ] {
                var link = ScriptedRouter.link
                link.gateway6 = gateway
                let (outcome, requests) = try pinhole(
                    Self.firewalled { $0.demandsIPv6 = true }, wish, on: link)
                #expect(outcome == refused)
                #expect(requests.map(\.host) == [ScriptedRouter.gateway])
            }
            // Nobody listens there.
            let deaf = try pinhole(Self.firewalled { $0.demandsIPv6 = true }) { $0.hearsIPv6 = false }
            #expect(deaf.outcome == refused)
        }

        @Test(
            "a neighbour that only claims to be the gateway gains nothing",
            arguments: [
                [.hold], [.trickle], [.send("HTTP/1.1 200 OK\r\n\r\n"), .repeating("<x>")],
                [.send("HTTP/1.1 302 Found\r\nLocation: http://ST/x\r\nContent-Length: 0\r\n\r\n")],
                FakeIGD.http(Replies.values("AddPinhole", [("UniqueID", "1; rm")])),
                FakeIGD.http("<garbage"), [],
            ] as [[ScriptedRouter.Step]])
        func claims(_ steps: [ScriptedRouter.Step]) throws {
            let igd = Self.firewalled { $0.demandsIPv6 = true }
            let times = RouterTimes.whole.with { $0.question = .milliseconds(500) }
            let (outcome, requests) = try pinhole(igd, Self.wish6, on: ScriptedRouter.link6, times) {
                script in
                script.http = { $0.host.family == .v6 ? steps : igd.answer($0) }
            }
            #expect(outcome.code == "pinholeRefused")
            #expect(requests.map(\.host) == [ScriptedRouter.gateway, ScriptedRouter.gateway6])
            #expect(igd.now.pinholes == [])
        }
    }
}
