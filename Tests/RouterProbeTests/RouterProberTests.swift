// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Foundation
import Policy
import Sockets
import Synchronization
import Testing
import Wire

@testable import RouterProbe

/// Everything that talks: one test at a time, since they all speak as the same machine.
@Suite("A router in a file", .serialized)
struct RouterInAFile {}

extension RouterInAFile {
    @Suite("A probe", .serialized)
    struct Probing {
        static let address: [UInt8] = [0, 128, 0, 0, 0, 0, 0, 9, 11, 22, 33, 44]

        /// Whoever answers a search that goes on to its end has the time for it.
        static let wholeSearch = RouterTimes.igdAlone.with {
            $0.search = TrySchedule(tries: [.zero, .milliseconds(100)], end: .milliseconds(600))
        }
        static let igdAndSTUN = RouterTimes.igdAlone.with { $0.enough = .seconds(30) }

        /// Probes a scripted router; afterwards nothing of the probe may be left open.
        private func probe(
            _ script: ScriptedRouter.Script, _ times: RouterTimes = .whole,
            _ change: (inout RouterQuestion) -> Void = { _ in }
        ) throws -> (facts: RouterFacts, requests: [String]) {
            let router = try ScriptedRouter(script)
            defer { router.end() }
            var question = ScriptedRouter.question()
            change(&question)
            let facts = router.prober(times: times).ask(question)
            #expect(leftOpen() == [])
            return (facts, router.requests)
        }

        /// Sockets of the LAN address that somebody still holds.
        private func leftOpen() -> [String] {
            ["udp", "tcp"].flatMap { kind -> [String] in
                let table = (try? String(contentsOfFile: "/proc/net/\(kind)", encoding: .utf8)) ?? ""
                return table.split(separator: "\n").compactMap { line in
                    let words = line.split(separator: " ")
                    // Local address 127.0.7.2, and an inode: the kernel's own remains have none.
                    return words.count > 9 && words[1].hasPrefix("0207007F") && words[9] != "0"
                        ? "\(kind) \(line)" : nil
                }
            }
        }

        private func states(_ facts: RouterFacts) -> [String] {
            facts.sources.map { "\($0.fact) \($0.state): \($0.source)" }
        }

        @Test("a good router answers everything")
        func good() throws {
            let (facts, requests) = try probe(FakeIGD().script { $0.natpmp = { _ in [Self.address] } })
            var igd = IGDEvidence(host: ScriptedRouter.gateway, isGateway: true)
            igd.status = .connected
            igd.connectionType = "IP_Routed"
            igd.address = .address(ip("11.22.33.44"))
            igd.mapping = .none
            igd.name = "A router"
            var expected = RouterEvidence()
            expected.gateway = ScriptedRouter.gateway
            expected.natpmp = .answered(ip("11.22.33.44"))
            expected.igd = igd
            expected.isFinished = true
            #expect(facts.evidence == expected)
            #expect(
                states(facts) == [
                    "router.upnp answered: UPnP at 127.0.7.1 (A router)",
                    "router.natpmp answered: NAT-PMP at 127.0.7.1",
                ])
            #expect(
                Set(requests) == [
                    "/rootDesc.xml", "GetStatusInfo", "GetExternalIPAddress", "GetSpecificPortMappingEntry",
                    "GetConnectionTypeInfo",
                ])
        }

        @Test("the budgets are those of the specification (05 B6, B12)")
        func budgets() {
            let times = RouterTimes()
            func seconds(_ schedule: TrySchedule) -> [Duration] { schedule.tries + [schedule.end] }
            func milliseconds(_ numbers: Int...) -> [Duration] { numbers.map { .milliseconds($0) } }
            #expect(times.hardEnd == .seconds(6) && times.enough == .milliseconds(300))
            #expect(seconds(times.search) == milliseconds(0, 500, 1500))
            #expect(seconds(times.patientSearch) == milliseconds(0, 500, 3000))
            #expect(seconds(times.natpmp) == milliseconds(0, 250, 750, 1750))
            #expect(seconds(times.patientNATPMP) == milliseconds(0, 250, 750, 1750, 3500))
            #expect(seconds(times.stun) == milliseconds(0, 500, 1500))
            #expect(times.question == .seconds(2))
            #expect(RouterProber().times == times)
        }

        @Test("nobody answers, and the budgets are waited out")
        func silent() throws {
            let begin = monotonicNow()
            let (facts, requests) = try probe(ScriptedRouter.Script(), RouterTimes())
            // Whoever might answer had the whole time for it.
            #expect(monotonicNow() - begin >= .milliseconds(1750))
            #expect(facts.evidence.natpmp == .silent)
            #expect(facts.evidence.igd == nil)
            #expect(facts.evidence.isFinished)
            #expect(
                states(facts) == [
                    "router.upnp silent: UPnP search on lo", "router.natpmp silent: NAT-PMP at 127.0.7.1",
                    "router.pcp silent: PCP at 127.0.7.1",
                ])
            #expect(requests == [])
        }

        @Test("a lost question is asked again")
        func retries() throws {
            let count = Mutex(0)
            var script = ScriptedRouter.Script()
            script.natpmp = { asked in
                guard asked == [0, 0] else { return [] }
                return count.withLock { count in
                    count += 1
                    return count == 3 ? [Self.address] : []
                }
            }
            #expect(
                try probe(script, .natpmpAlone).facts.evidence.natpmp == .answered(ip("11.22.33.44")))
        }

        @Test(
            "what NAT-PMP says",
            arguments: [
                ([[0, 128, 0, 3, 0, 0, 0, 9]], .withheld), ([[0, 128, 0, 2, 0, 0, 0, 9]], .refused),
                ([[0, 128, 0, 3, 0, 0, 0, 9, 192, 168, 0, 2]], .answered(ip("192.168.0.2"))),
                ([[0, 128, 0, 1, 0, 0, 0, 9]], .unsupported),
                // Noise before the answer is passed over.
                (
                    [[], [0], [0, 128, 0, 0], [9], Array(address.prefix(10)), address],
                    .answered(ip("11.22.33.44"))
                ),
                (
                    [[0, 130, 0, 0, 0, 0, 0, 9, 1, 1, 1, 1, 0, 0, 0, 9], address],
                    .answered(ip("11.22.33.44"))
                ),
            ] as [([[UInt8]], NATPMPAnswer)])
        func natpmp(_ answers: [[UInt8]], _ expected: NATPMPAnswer) throws {
            let (facts, _) = try probe(FakeIGD().script { $0.natpmp = { _ in answers } })
            #expect(facts.evidence.natpmp == expected)
        }

        @Test("nobody listens at NAT-PMP's port")
        func closed() throws {
            let (facts, _) = try probe(FakeIGD().script { $0.natpmp = nil })
            #expect(facts.evidence.natpmp == .unsupported)
            #expect(!facts.evidence.speaksPCP)
            #expect(states(facts).contains("router.natpmp refused: NAT-PMP at 127.0.7.1"))
        }

        @Test("PCP is asked once NAT-PMP has no use, and only announces")
        func pcp() throws {
            let router = try ScriptedRouter(
                {
                    var script = ScriptedRouter.Script()
                    script.natpmp = { asked in
                        asked.first == 2
                            ? [[2, 0x80] + [UInt8](repeating: 0, count: 22)]
                            : [[2, 0x80, 0, 1] + [UInt8](repeating: 0, count: 20)]
                    }
                    return script
                }())
            defer { router.end() }
            // PCP's answer keeps no probe going: it must come before the search's end.
            let times = RouterTimes.natpmpAlone.with { $0.search = Self.wholeSearch.search }
            let facts = router.prober(times: times).ask(ScriptedRouter.question())
            #expect(facts.evidence.natpmp == .unsupported)
            #expect(facts.evidence.speaksPCP)
            let pcp = router.datagrams.filter { $0.first == 2 }
            #expect(pcp == [PCPAnnounce.request(from: ScriptedRouter.lan)])
        }

        @Test(
            "descriptions that are none",
            arguments: [
                [.send("HTTP/1.1 302 Found\r\nLocation: http://ST/x\r\nContent-Length: 0\r\n\r\n")],
                [.send("HTTP/1.1 200 OK\r\n\r\n"), .repeating("<device>")],
                [.send("HTTP/1.1 200 OK\r\n\r\n<root>"), .trickle],
                [.hold],
                [
                    .send(
                        "HTTP/1.1 200 OK\r\nContent-Length: 1048576\r\n\r\n"
                            + String(repeating: "x", count: 1 << 20))
                ],
                FakeIGD.http("<root><device><not xml"), FakeIGD.http(Descriptions.mediaServer),
                FakeIGD.http(
                    Descriptions.igd(services: [
                        Descriptions.service(Descriptions.connection, "http://ST/ctl")
                    ])),
                [.send("not http at all\r\n\r\n")], [],
            ] as [[ScriptedRouter.Step]])
        func noDescription(_ steps: [ScriptedRouter.Step]) throws {
            var script = FakeIGD().script()
            script.http = { _ in steps }
            let (facts, requests) = try probe(script, .nobody)
            #expect(facts.evidence.igd == nil)
            #expect(facts.evidence.isFinished)
            // A place on another machine is never visited.
            #expect(requests.allSatisfy { $0 == "/rootDesc.xml" })
        }

        @Test("a chunked description is read")
        func chunked() throws {
            let igd = FakeIGD()
            var script = igd.script()
            let text = Descriptions.igd()
            let chunk = "\(String(text.utf8.count, radix: 16))\r\n\(text)\r\n0\r\n\r\n"
            script.http = { request in
                request.action == nil
                    ? [.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk)]
                    : igd.answer(request)
            }
            #expect(try probe(script, .igdAlone).facts.evidence.igd?.status == .connected)
        }

        @Test("a router that is deaf to the group is found by itself")
        func unicast() throws {
            let (facts, _) = try probe(FakeIGD().script { $0.isDeafToGroup = true }, .igdAlone)
            #expect(facts.evidence.igd?.isGateway == true)
        }

        @Test("another of the gateway's devices ends nothing")
        func mediaServerFirst() throws {
            let igd = FakeIGD()
            var script = igd.script()
            script.search = [
                (ScriptedRouter.gateway, "http://GW/media.xml"),
                (ScriptedRouter.gateway, "http://GW/rootDesc.xml"),
            ]
            script.http = { request in
                request.path == "/media.xml" ? FakeIGD.http(Descriptions.mediaServer) : igd.answer(request)
            }
            #expect(try probe(script, .igdAlone).facts.evidence.igd?.isGateway == true)
        }

        @Test("strangers that point elsewhere are not followed")
        func strangers() throws {
            var script = FakeIGD().script()
            // The stranger names the gateway, the gateway's name is used for the stranger, and for another network.
            script.search = [
                (ScriptedRouter.stranger, "http://GW/evil.xml"),
                (ScriptedRouter.gateway, "http://ST/evil.xml"),
                (ScriptedRouter.stranger, "http://10.1.2.3/evil.xml"),
                (ScriptedRouter.stranger, "http://localhost/evil.xml"),
            ]
            let (facts, requests) = try probe(script, .nobody)
            #expect(facts.evidence.igd == nil)
            #expect(requests == [])
        }

        @Test("an IGD that is not the gateway says so")
        func notGateway() throws {
            var script = FakeIGD().script()
            script.search = [(ScriptedRouter.stranger, "http://ST/rootDesc.xml")]
            let (facts, _) = try probe(script, Self.wholeSearch)
            #expect(facts.evidence.igd?.host == ScriptedRouter.stranger)
            #expect(facts.evidence.igd?.isGateway == false)
            #expect(facts.evidence.igd?.address == .address(ip("11.22.33.44")))
        }

        @Test("of two the gateway's counts")
        func two() throws {
            var script = FakeIGD().script()
            script.search = [
                (ScriptedRouter.stranger, "http://ST/rootDesc.xml"),
                (ScriptedRouter.gateway, "http://GW/rootDesc.xml"),
            ]
            let (facts, requests) = try probe(script, .igdAlone)
            #expect(facts.evidence.igd?.host == ScriptedRouter.gateway)
            #expect(facts.evidence.igd?.isGateway == true)
            #expect(!requests.contains("\(ScriptedRouter.stranger) GetStatusInfo"))
        }

        @Test("without a known gateway a single IGD counts as its; of two none does", arguments: [1, 2])
        func noGateway(_ count: Int) throws {
            var script = FakeIGD().script { $0.natpmp = { _ in [Self.address] } }
            if count == 2 { script.search.append((ScriptedRouter.stranger, "http://ST/rootDesc.xml")) }
            let (facts, _) = try probe(script, Self.wholeSearch) { $0.gateway = nil }
            #expect(facts.evidence.igd?.isGateway == (count == 1))
            #expect(facts.evidence.otherIGDs.count == count - 1)
            #expect(facts.evidence.natpmp == nil)
        }

        @Test(
            "the connected one of two WAN connections",
            arguments: [
                ("Disconnected", "Connected", "/ip"), ("Connected", "Connected", "/ppp"),
                ("Disconnected", "Disconnected", "/ppp"),
            ])
        func second(_ first: String, _ other: String, _ expected: String) throws {
            let igd = FakeIGD {
                $0.description = Descriptions.igd(services: [
                    Descriptions.service(Descriptions.ppp, "/ppp"),
                    Descriptions.service(Descriptions.connection, "/ip"),
                ])
            }
            var script = igd.script()
            script.http = { request in
                switch request.action {
                case "GetStatusInfo":
                    FakeIGD.http(
                        Replies.values("G", [("NewConnectionStatus", request.path == "/ppp" ? first : other)])
                    )
                case "GetExternalIPAddress":
                    FakeIGD.http(
                        Replies.values(
                            "G", [("NewExternalIPAddress", request.path == "/ppp" ? "1.1.1.1" : "2.2.2.2")]))
                default: igd.answer(request)
                }
            }
            let evidence = try #require(try probe(script, .igdAlone).facts.evidence.igd)
            #expect(evidence.address == .address(ip(expected == "/ppp" ? "1.1.1.1" : "2.2.2.2")))
            #expect(
                evidence.status
                    == ((expected == "/ppp" ? first : other) == "Connected" ? .connected : .disconnected))
            #expect(evidence.mapping == .none)
        }

        @Test("questions that get no answer")
        func unanswered() throws {
            let igd = FakeIGD { $0.silent = ["GetStatusInfo", "GetSpecificPortMappingEntry"] }
            // Long enough for the questions that are answered.
            let times = RouterTimes.igdAlone.with { $0.question = .milliseconds(700) }
            let evidence = try #require(try probe(igd.script(), times).facts.evidence.igd)
            #expect(evidence.status == .unknown)
            #expect(evidence.mapping == .unreadable)
            #expect(evidence.address == .address(ip("11.22.33.44")))
        }

        @Test("a router that takes one connection at a time still answers everything")
        func oneAtATime() throws {
            let igd = FakeIGD()
            let dropped = Mutex<Set<String>>([])
            var script = igd.script()
            script.http = { request in
                // The first try of each question but one is dropped.
                guard let action = request.action, action != "GetStatusInfo",
                    dropped.withLock({ $0.insert(action).inserted })
                else { return igd.answer(request) }
                return []
            }
            let evidence = try #require(try probe(script, .igdAlone).facts.evidence.igd)
            #expect(evidence.address == .address(ip("11.22.33.44")))
            #expect(evidence.mapping == .none)
            #expect(evidence.connectionType == "IP_Routed")
        }

        @Test("the IPv6 firewall is asked where there is one")
        func firewall() throws {
            let igd = FakeIGD {
                $0.description = Descriptions.igd(services: [
                    Descriptions.service(Descriptions.connection, "/ip"), Descriptions.firewall,
                ])
            }
            #expect(
                try probe(igd.script(), .igdAlone).facts.evidence.igd?.firewall
                    == IPv6Firewall(isOn: true, allowsPinholes: true))
        }

        @Test("the description's place is remembered")
        func remembered() throws {
            let igd = FakeIGD()
            var script = igd.script()
            script.natpmp = { _ in [Self.address] }
            let router = try ScriptedRouter(script)
            defer { router.end() }
            let prober = router.prober()
            _ = prober.ask(ScriptedRouter.question())
            #expect(prober.memory.place(of: ScriptedRouter.gateway)?.target == "/rootDesc.xml")
            // The same router, but nobody hears a search.
            var deaf = router.ports
            deaf.search = 1
            deaf.searchGroup.port = 1
            let times = RouterTimes.natpmpAlone.with { $0.question = .seconds(30) }
            let second = RouterProber(ports: deaf, lookups: NameLookups(), times: times)
            #expect(second.ask(ScriptedRouter.question()).evidence.igd == nil)
            if let place = prober.memory.place(of: ScriptedRouter.gateway) { second.memory.remember(place) }
            #expect(second.ask(ScriptedRouter.question()).evidence.igd?.isGateway == true)
        }

        @Test("who comes while a probe runs gets its result")
        func shared() throws {
            let began = try WakeUp()
            let goOn = try WakeUp()
            let igd = FakeIGD()
            var script = igd.script()
            script.http = { request in
                if request.action == nil {
                    began.signal()
                    _ = goOn.wait(until: monotonicNow() + .seconds(20))
                }
                return igd.answer(request)
            }
            let router = try ScriptedRouter(script)
            defer { router.end() }
            let prober = router.prober(times: .igdAlone)
            let results = Mutex<[RouterFacts]>([])
            let first = try runThread(name: "first") {
                let facts = prober.ask(ScriptedRouter.question())
                results.withLock { $0.append(facts) }
            }
            #expect(began.wait(until: monotonicNow() + .seconds(30)))
            let asked = try WakeUp()
            let others = try (0..<3).map { _ in
                try runThread(name: "other") {
                    asked.signal()
                    let facts = prober.ask(ScriptedRouter.question())
                    results.withLock { $0.append(facts) }
                }
            }
            _ = asked.wait(until: monotonicNow() + .seconds(30))
            goOn.signal()
            first.join()
            others.forEach { $0.join() }
            let all = results.withLock { $0 }
            #expect(all.count == 4)
            #expect(all.allSatisfy { $0.evidence.igd?.address == .address(ip("11.22.33.44")) })
        }

        @Test("STUN is asked from the LAN address, and only by its own answer believed")
        func stun() throws {
            let server = try Socket.datagram(from: LocalEnd(ip: ip("127.0.7.5")))
            let port = server.localAddress()?.port ?? 0
            let holder = Holder(server)
            let peers = Mutex<[IPAddress]>([])
            let stop = try WakeUp()
            let thread = try runThread(name: "stun") {
                while let ready = try? waitReadable([holder.socket.descriptor, stop.descriptor], until: nil),
                    !ready[1]
                {
                    guard let asked = try? holder.socket.receiveDatagram(max: 100) else { continue }
                    peers.withLock { $0.append(asked.from.ip) }
                    let transaction = Array(asked.bytes[8..<20])
                    let wrong = DatagramTests.stun(
                        transaction: [UInt8](repeating: 9, count: 12), attributes: DatagramTests.mapped)
                    let right = DatagramTests.stun(
                        transaction: transaction, attributes: DatagramTests.software + DatagramTests.mapped)
                    for bytes in [wrong, [1, 2, 3], right] {
                        try? holder.socket.sendDatagram(bytes, to: asked.from)
                    }
                }
            }
            defer {
                stop.signal()
                thread.join()
            }
            let router = try ScriptedRouter(FakeIGD().script())
            defer { router.end() }
            var question = ScriptedRouter.question()
            question.stunServer = "stun.example.net:\(port)"
            let prober = router.prober(
                lookups: NameLookups { _ in [ip("::1"), ip("127.0.7.5")] }, times: Self.igdAndSTUN)
            let facts = prober.ask(question)
            #expect(facts.evidence.stun == ip("203.0.113.9"))
            #expect(peers.withLock { $0.allSatisfy { $0 == ScriptedRouter.lan } })
            #expect(states(facts).last == "router.stun answered: STUN server stun.example.net:\(port)")
        }

        @Test(
            "a STUN server that leads nowhere",
            arguments: [
                ("nowhere.example:3478", "unreadable"), ("no server", "unreadable"),
                ("127.0.7.5:1", "refused"),
            ])
        func noSTUN(_ text: String, _ state: String) throws {
            let router = try ScriptedRouter(FakeIGD().script())
            defer { router.end() }
            var question = ScriptedRouter.question()
            question.stunServer = text
            let facts = router.prober(lookups: NameLookups { _ in [] }, times: Self.igdAndSTUN).ask(question)
            #expect(facts.evidence.stun == nil)
            #expect(facts.sources.last?.state == state)
        }

        @Test("a resolver that hangs is left behind, once")
        func hungResolver() throws {
            let goOn = try WakeUp()
            let calls = Mutex(0)
            let lookups = NameLookups { _ in
                calls.withLock { $0 += 1 }
                _ = goOn.wait(until: monotonicNow() + .seconds(60))
                return []
            }
            let router = try ScriptedRouter(FakeIGD().script { $0.natpmp = { _ in [Self.address] } })
            defer { router.end() }
            var question = ScriptedRouter.question()
            question.stunServer = "hangs.example:3478"
            // NAT-PMP answers at once; the resolver never does.
            let times = RouterTimes.whole.with { $0.enough = .milliseconds(50) }
            let prober = router.prober(lookups: lookups, times: times)
            for _ in 0..<3 {
                let facts = prober.ask(question)
                #expect(facts.evidence.stun == nil)
                #expect(facts.evidence.igd?.status == .connected)
                #expect(facts.sources.last?.state == "silent")
            }
            #expect(calls.withLock { $0 } == 1)
            goOn.signal()
        }

        @Test("UPnP is left out when only NAT-PMP is asked")
        func natpmpOnly() throws {
            let (facts, requests) = try probe(
                FakeIGD().script { $0.natpmp = { _ in [Self.address] } }
            ) {
                $0.asksUPnP = false
            }
            #expect(facts.evidence.natpmp == .answered(ip("11.22.33.44")))
            #expect(requests == [])
            #expect(states(facts) == ["router.natpmp answered: NAT-PMP at 127.0.7.1"])
        }

        @Test("there is nothing to ask over IPv6 alone")
        func noIPv4() {
            var question = ScriptedRouter.question()
            question.lan = ip("fe80::1")
            let facts = RouterProber().ask(question)
            #expect(facts.evidence.isFinished)
            #expect(facts.sources.isEmpty)
        }

        private final class Holder: Sendable {
            let socket: Socket
            init(_ socket: consuming Socket) { self.socket = socket }
        }
    }

    @Suite("Announcements", .serialized)
    struct Announcing {
        @Test("only the gateway's announcements are heard")
        func heard() throws {
            let index = interfaceIndex("lo") ?? 1
            let group = SocketAddress(ip: ip("239.255.77.1"), port: 45_350)
            let heard = try WakeUp()
            let listener = try GatewayAnnouncements(
                gateway: ScriptedRouter.gateway, interfaceIndex: index, group: group
            ) { heard.signal() }
            let stranger = try Socket.datagram(from: LocalEnd(ip: ScriptedRouter.stranger))
            try stranger.sendMulticast(from: ScriptedRouter.stranger, interfaceIndex: index, hops: 1)
            let gateway = try Socket.datagram(from: LocalEnd(ip: ScriptedRouter.gateway))
            try gateway.sendMulticast(from: ScriptedRouter.gateway, interfaceIndex: index, hops: 1)
            try stranger.sendDatagram(Probing.address, to: group)
            try gateway.sendDatagram([1, 2, 3], to: group)
            #expect(!heard.wait(until: monotonicNow() + .milliseconds(200)))
            try gateway.sendDatagram(Probing.address, to: group)
            #expect(heard.wait(until: monotonicNow() + .seconds(30)))
            withExtendedLifetime(listener) {}
        }
    }
}
