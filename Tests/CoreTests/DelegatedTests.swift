// SPDX-License-Identifier: Apache-2.0

import Policy
import Testing
import Wire

@testable import Core

/// The calls of a streaming process that ends TLS itself (03 §6).
struct DelegatedTests {
    static func remote(_ change: (inout Settings) -> Void = { _ in }) -> Settings {
        var settings = Settings()
        settings.remoteAccess = true
        change(&settings)
        return settings
    }

    static func query(
        _ door: Door, _ word: String?, alpn: String? = "sill/1", remote: String = "192.168.1.23:50000",
        zoneName: String? = nil
    ) -> AdmissionQuery {
        guard let address = SocketAddress(remote) else { preconditionFailure("\(remote) is no address") }
        return AdmissionQuery(
            door: door, remote: address, zoneName: zoneName,
            handshake: .init(alpn: alpn, fingerprint: word.map { Driver.key($0) }))
    }

    // MARK: - Failures

    @Test(arguments: HandshakeFailure.allCases, [false, true])
    func eachFailureCountsAsAtTheOwnDoors(_ failure: HandshakeFailure, _ wasAsked: Bool) {
        for door in Door.allCases {
            let driver = Driver(Self.remote(), devices: [Driver.record("D")])
            var before = Self.query(door, nil)
            before.handshake = nil
            for _ in 0..<5 {
                if wasAsked { #expect(driver.ask(before) == .proceed) }
                driver.input { $0.delegatedFailed(before, failure, key: nil, $1) }
                #expect(driver.core[door].pending.count == 0)
            }
            let counted = failure.counted(at: door)
            let word = RefusalWord.allCases.first { driver.core.counters.refusals(door, $0) > 0 }
            #expect(word == counted?.word)
            if let word { #expect(driver.core.counters.refusals(door, word) == 5) }
            #expect(driver.core.counters.handshakeFailures == [failure: 5])
            #expect((driver.ask(before) == .refuse(.limit)) == (counted?.isFailure ?? false))
            #expect(driver.core.connections.count == driver.core.delegated.pending.count)
        }
    }

    @Test func aConnectionThatWasAdmittedCountsNothingMore() {
        let driver = Driver(devices: [Driver.record("D")])
        for _ in 0..<6 {
            #expect(driver.ask(Self.query(.home, "D")) == .session)
            driver.input { $0.delegatedFailed(Self.query(.home, "D"), .deadline, key: nil, $1) }
        }
        #expect(driver.core.counters.refusals(.home, .unpaired) == 0)
    }

    @Test func aRemovedKeyThatFailsIsToldToTheAdmin() {
        let tombstone = Tombstone(
            fingerprint: Driver.key("R"), removedAt: WallTime(milliseconds: Driver.start), removedBy: "unix:0"
        )
        let driver = Driver(tombstones: [tombstone])
        driver.input {
            $0.delegatedFailed(Self.query(.home, nil), .untrusted, key: Driver.key("R"), $1)
        }
        #expect(driver.commits.flatMap(\.audit).map(\.action).contains("device.removedTried"))
    }

    /// Also where the process let the handshake pass and asked afterwards.
    @Test func aRemovedKeyThatIsRefusedIsToldToTheAdmin() {
        let tombstone = Tombstone(
            fingerprint: Driver.key("R"), removedAt: WallTime(milliseconds: Driver.start), removedBy: "unix:0"
        )
        let driver = Driver(tombstones: [tombstone])
        #expect(driver.ask(Self.query(.home, "R")) == .refuse(.unpaired))
        #expect(driver.ask(Self.query(.home, "U")) == .refuse(.unpaired))
        let rows = driver.commits.flatMap(\.audit).filter { $0.action == "device.removedTried" }
        #expect(rows.map(\.device) == [Driver.key("R").id.text])
    }

    // MARK: - Pending

    @Test func aFloodOfQuestionsIsForgotten() {
        let driver = Driver(limits: .shipped)
        for number in 0..<20_000 {
            let source = "192.168.\(100 + number / 250).\(1 + number % 250):\(1 + number % 60_000)"
            var before = Self.query(.home, nil, remote: source)
            before.handshake = nil
            driver.effects = []
            #expect(driver.ask(before) == .proceed)
        }
        #expect(driver.core.delegated.pending.count == 1_024)
        #expect(driver.core.connections.count == 1_024)
        #expect(driver.core[.home].pending.count == 1_024)
        driver.wait(until: 10)
        #expect(driver.core.delegated.pending.count == 0 && driver.core.connections.isEmpty)
        #expect(driver.core.nextDeadline.map { $0.nanoseconds > 10_000_000_000 } ?? true)
    }

    @Test func verdictsAreForgottenToo() {
        let driver = Driver(devices: [Driver.record("D")])
        for number in 0..<5_000 {
            #expect(driver.ask(Self.query(.home, "D", remote: "192.168.1.23:\(1 + number)")) == .session)
        }
        #expect(driver.core.delegated.judged.count == 1_024)
    }

    @Test func anotherOnesPlaceIsTakenInTheDelegatedTableToo() {
        var limits = DoorLimits.shipped
        limits.pendingPerDoor = 2
        let driver = Driver(limits: limits)
        var first = Self.query(.home, nil, remote: "192.168.1.31:1")
        first.handshake = nil
        #expect(driver.ask(first) == .proceed)
        for number in 0..<2 { #expect(driver.arrive(.home, .lan(40 + number)).verdict == .proceed(.lan)) }
        #expect(driver.core.delegated.pending.count == 0)
        #expect(driver.core[.home].pending.count == 2)
    }

    // MARK: - Pairing

    @Test func aRightProofIsAnsweredWhenItIsDurable() {
        let driver = Driver()
        driver.openWindow()
        driver.store = nil
        let query = Self.query(.home, "U", alpn: "sill-pair/1")
        #expect(driver.ask(query) == .pairing)
        let proof = driver.proof("U")
        guard case .waiting(let id) = driver.input({ $0.delegatedPairing(query, proof, $1) })
        else { return #expect(Bool(false), "not taken") }
        #expect(driver.answer(to: id) == nil)
        #expect(!driver.core.trust.isPaired(Driver.key("U")))
        for change in driver.waiting { driver.input { $0.committed(change, .committed, $1) } }
        #expect(driver.answer(to: id)?.ok == true)
        #expect(driver.core.trust.isPaired(Driver.key("U")))
        #expect(driver.core.connections.isEmpty)
        #expect(driver.delegatedSession(.home, "U") != nil)
    }

    @Test func aStoreThatFailsPromisesNothing() {
        let driver = Driver()
        driver.openWindow()
        driver.store = .failed(message: "full")
        let answer = driver.deliver(Self.query(.home, "U", alpn: "sill-pair/1"), driver.proof("U"))
        #expect(answer?.reason == "closed")
        #expect(!driver.core.trust.isPaired(Driver.key("U")))
    }

    @Test func whoeverIsNotAdmittedIsNotHeard() {
        let driver = Driver(Self.remote(), devices: [Driver.record("D")])
        driver.openWindow(remote: false)
        func deliver(_ door: Door, _ word: String?, _ remote: String) -> Core.DelegatedPairing {
            let query = Self.query(door, word, alpn: "sill-pair/1", remote: remote)
            let proof = driver.proof("U")
            return driver.input { $0.delegatedPairing(query, proof, $1) }
        }
        #expect(deliver(.home, "U", "203.0.113.9:1") == .refused(.internet))
        #expect(deliver(.home, nil, "192.168.1.24:1") == .refused(.unpaired))
        #expect(deliver(.remote, "U", "192.168.1.25:1") == .refused(.unpaired))
        for _ in 0..<5 {
            driver.input { $0.delegatedFailed(Self.query(.home, nil), .http, key: nil, $1) }
        }
        #expect(deliver(.home, "U", "192.168.1.23:1") == .refused(.limit))
        #expect(driver.core.window(driver.moment)?.triesLeft == 5)
        // Asked in time, it is heard: backoff is a question before TLS.
        #expect(driver.ask(Self.query(.home, "U", alpn: "sill-pair/1", remote: "192.168.1.60:1")) == .pairing)
        for _ in 0..<5 {
            driver.input {
                $0.delegatedFailed(
                    Self.query(.home, nil, remote: "192.168.1.60:2"), .http, key: nil, $1)
            }
        }
        #expect(deliver(.home, "U", "192.168.1.60:1") != .refused(.limit))
    }

    @Test func whatIsNoPairingMessageIsOneFailure() {
        let driver = Driver(devices: [Driver.record("D")])
        let query = Self.query(.home, "U", alpn: "sill-pair/1")
        for number in 1...5 {
            #expect(driver.input { $0.delegatedPairing(query, nil, $1) } == .badMessage)
            #expect(driver.core.counters.refusals(.home, .unpaired) == UInt64(number))
        }
        #expect(driver.input { $0.delegatedPairing(query, nil, $1) } == .refused(.limit))
    }

    @Test func anotherKeyThanTheOneThatWasAdmittedIsJudgedForItself() {
        let driver = Driver(Self.remote(), devices: [Driver.record("D")])
        driver.openWindow()
        #expect(driver.ask(Self.query(.remote, "D")) == .session)
        #expect(driver.register(Self.query(.remote, "U")) == .refused(.unpaired))
        #expect(driver.ask(Self.query(.remote, "U", alpn: "sill-pair/1")) == .pairing)
        #expect(driver.register(Self.query(.remote, "U")) == .refused(.unpaired))
    }

    /// 03 §6: a verdict is about one ALPN and one key.
    @Test func anotherALPNThanTheOneThatWasAdmittedIsJudgedForItself() {
        let driver = Driver(devices: [Driver.record("D")])
        driver.openWindow()
        let proof = driver.proof("D")
        #expect(driver.ask(Self.query(.home, "D")) == .session)
        #expect(driver.deliver(Self.query(.home, "D", alpn: "sill-pair/1"), proof)?.ok == true)
    }

    @Test func whoMayPairIsTheKeyThatWasAskedAbout() {
        let driver = Driver()
        driver.openWindow()
        let proof = driver.proof("V")
        #expect(driver.ask(Self.query(.home, "U", alpn: "sill-pair/1")) == .pairing)
        #expect(driver.deliver(Self.query(.home, "V", alpn: "sill-pair/1"), proof)?.ok == true)
        #expect(driver.core.trust.isPaired(Driver.key("V")) && !driver.core.trust.isPaired(Driver.key("U")))
    }

    // MARK: - Sessions

    @Test func registersTellsAndEnds() throws {
        let driver = Driver(Self.remote(), devices: [Driver.record("D", name: "iPad")])
        let id = try #require(driver.delegatedSession(.remote, "D", .vpn, hello: Hello(appVersion: "1")))
        let view = try #require(driver.core.session(id))
        #expect(view.mode == .delegated && view.away && view.route == "through Tailscale" && view.paired)
        #expect(view.hello?.appVersion == "1" && driver.core.quality.runsAway)
        driver.effects = []
        driver.remove("D")
        #expect(driver.closings.map(\.1) == ["removed"] && driver.goodbyes.isEmpty)
        #expect(driver.core.session(id)?.goodbye?.reason == "removed")
        #expect(driver.input { $0.deleteSession(id, $1) } == .done)
        #expect(driver.endings.map(\.1) == [.goodbye])
        #expect(driver.input { $0.deleteSession(id, $1) } == .notFound)
        #expect(driver.core.delegated.closing.isEmpty)
    }

    @Test func oneThatNobodyEndsIsDroppedAfter10s() throws {
        let driver = Driver(Self.remote(), devices: [Driver.record("D")])
        driver.wait(until: 5)
        let id = try #require(driver.delegatedSession(.remote, "D"))
        driver.set { $0.remoteAccess = false }
        driver.wait(until: 14.999)
        #expect(driver.core.session(id) != nil)
        driver.wait(until: 15)
        #expect(driver.core.session(id) == nil)
        #expect(driver.endings.map(\.1) == [.abandoned])
        #expect(driver.logs.contains { $0.level == .warning })
        driver.set { $0.remoteAccess = true }
        // One that ended in time is not dropped again.
        let next = try #require(driver.delegatedSession(.remote, "D"))
        _ = driver.input { $0.disconnect(next, message: nil, actor: .service, $1) }
        #expect(driver.input { $0.deleteSession(next, $1) } == .done)
        driver.wait(until: 100)
        #expect(driver.endings.map(\.1) == [.abandoned, .goodbye])
    }

    @Test func directTurnedOffCutsWithoutAGoodbye() throws {
        var settings = Settings()
        settings.direct = true
        let driver = Driver(settings, devices: [Driver.record("D")])
        var query = driver.query(.home, .direct, port: 4)
        query.handshake = .init(alpn: "sill/1", fingerprint: Driver.key("D"))
        guard case .session(let id) = driver.register(query) else { throw CancellationError() }
        for _ in 0..<2 {
            driver.set { $0.direct = false }
            driver.set { $0.direct = true }
        }
        #expect(driver.closings.map(\.1) == ["-"] && driver.closings.map(\.0) == [id])
        driver.wait(until: 10)
        #expect(driver.core.session(id) == nil)
    }

    /// What was judged while Direct was on, and registers when it is off.
    @Test func directTurnedOffDuringTheGate() {
        var settings = Settings()
        settings.direct = true
        let driver = Driver(settings, devices: [Driver.record("D")])
        var query = driver.query(.home, .direct, port: 4)
        query.handshake = .init(alpn: "sill/1", fingerprint: Driver.key("D"))
        #expect(driver.ask(query) == .session)
        driver.set { $0.direct = false }
        #expect(driver.register(query) == .refused(.direct))
        #expect(driver.core.sessions().isEmpty)
        #expect(driver.core.counters.refusals(.home, .direct) == 0)
    }

    @Test func theSameConnectionAgainIsAnotherSession() throws {
        let driver = Driver(Self.remote(), devices: [Driver.record("D")])
        let first = try #require(driver.delegatedSession(.remote, "D"))
        let second = try #require(driver.delegatedSession(.remote, "D"))
        #expect(driver.core.sessions().map(\.id) == [second])
        #expect(driver.endings.map(\.0) == [first] && driver.endings.map(\.1) == [.deleted])
        // Eight times the same is one session, and another door's is another connection.
        for _ in 0..<8 { #expect(driver.delegatedSession(.remote, "D") != nil) }
        #expect(driver.delegatedSession(.home, "D") != nil)
        #expect(driver.core.sessions().count == 2)
        // A relayed one is not the process's to replace.
        let (id, _) = driver.arrive(.home)
        _ = driver.input { $0.connectionReady(id, alpn: "sill/1", key: Driver.key("D"), $1) }
        guard
            case .session(let relayed) = driver.input({
                $0.register(id, hello: nil, counters: SessionCounters(), $1)
            })
        else { throw CancellationError() }
        #expect(driver.delegatedSession(.home, "D", port: relayed.remote.port) != nil)
        #expect(driver.core.session(relayed.id) != nil)
        #expect(driver.input { $0.deleteSession(relayed.id, $1) } == .relayed)
        #expect(driver.input { $0.delegatedPairingWanted(relayed.id, $1) } == .relayed)
        #expect(driver.input { $0.deleteDelegatedSessions($1) } == 3)
        #expect(driver.core.sessions().map(\.id) == [relayed.id])
    }

    @Test func theNinthIsBusyWhoeverCarriesTheOthers() {
        let driver = Driver(Self.remote(), devices: [Driver.record("D")])
        for number in 1...4 { #expect(driver.session(.remote, "D", .lan(number)) != nil) }
        for number in 5...8 {
            #expect(driver.delegatedSession(.remote, "D", port: UInt16(number)) != nil)
        }
        #expect(driver.connect(.remote, "D", .lan(60)) == .goodbye("busy"))
        #expect(driver.register(Self.query(.remote, "D", remote: "192.168.1.61:1")) == .goodbye("busy"))
        #expect(driver.summaryLines == ["remote limit 1"])
    }

    @Test func aProcessHasOnlySoManySessions() {
        let driver = Driver(devices: [Driver.record("D")])
        for number in 1...4_096 {
            driver.effects = []
            #expect(driver.delegatedSession(.home, "D", port: UInt16(number)) != nil)
        }
        let query = Self.query(.home, "D", remote: "192.168.1.23:60000")
        let answer = driver.input {
            $0.registerDelegated(query, hello: nil, counters: SessionCounters(), $1)
        }
        #expect(answer == .full)
        #expect(driver.delegatedSession(.home, "D", port: 7) != nil)
    }

    struct Gate: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let hello: Hello?
        let isAdmitted: Bool
    }

    @Test(arguments: [
        Gate(testDescription: "new enough", hello: Hello(appVersion: "1.2"), isAdmitted: true),
        Gate(testDescription: "newer", hello: Hello(appVersion: "1.3.4"), isAdmitted: true),
        Gate(testDescription: "older", hello: Hello(appVersion: "1.1"), isAdmitted: false),
        Gate(testDescription: "no version", hello: Hello(), isAdmitted: false),
        Gate(testDescription: "no hello", hello: nil, isAdmitted: false),
    ]) func theFloor(_ gate: Gate) {
        let driver = Driver(Self.remote { $0.minimumDeviceVersion = "1.2" }, devices: [Driver.record("D")])
        let outcome = driver.register(Self.query(.home, "D"), hello: gate.hello)
        if gate.isAdmitted {
            guard case .session = outcome else { return #expect(Bool(false), "\(outcome)") }
        } else {
            #expect(outcome == .goodbye("update") && driver.core.sessions().isEmpty)
            #expect(driver.core.counters.refusals(.home, .unpaired) == 0)
        }
    }

    @Test func aGateRefusalIsLateFromTheSixthOn() {
        let driver = Driver(Self.remote { $0.minimumDeviceVersion = "2" }, devices: [Driver.record("D")])
        let delays = (1...7).map { number -> Duration? in
            let registration = driver.input {
                $0.registerDelegated(
                    Self.query(.home, "D"), hello: Hello(appVersion: "1"), counters: SessionCounters(), $1)
            }
            if case .goodbye(_, let delay) = registration { return delay }
            return nil
        }
        #expect(delays == Array(repeating: .zero, count: 5) + Array(repeating: .seconds(2), count: 2))
    }

    /// What the device was when it was admitted decides what it is told (03 §5.5), also when nobody asked twice.
    @Test(arguments: [true, false]) func removedDuringTheGate(_ requirePairing: Bool) {
        let settings = Self.remote { $0.requirePairing = requirePairing }
        let driver = Driver(settings, devices: [Driver.record("D")])
        #expect(driver.ask(Self.query(.home, "D")) == .session)
        driver.remove("D")
        #expect(driver.register(Self.query(.home, "D")) == .goodbye("removed"))
        // Too long ago: judged as what it is now.
        let again = Driver(settings, devices: [Driver.record("D")])
        #expect(again.ask(Self.query(.home, "D")) == .session)
        again.remove("D")
        again.wait(until: 10)
        let now = again.register(Self.query(.home, "D"))
        if requirePairing {
            #expect(now == .refused(.unpaired))
        } else {
            guard case .session = now else { return #expect(Bool(false), "\(now)") }
        }
    }

    /// A question before TLS is about another connection of that address: nothing of the last one's verdict is left.
    @Test func anotherConnectionOfTheAddressIsJudgedAnew() {
        let driver = Driver(devices: [Driver.record("D")])
        #expect(driver.ask(Self.query(.home, "D")) == .session)
        driver.remove("D")
        var before = Self.query(.home, nil)
        before.handshake = nil
        #expect(driver.ask(before) == .proceed)
        #expect(driver.core.delegated.judged.isEmpty)
        #expect(driver.register(Self.query(.home, "D")) == .refused(.unpaired))
    }

    @Test func aHelloThatCameLater() throws {
        let driver = Driver(devices: [Driver.record("D")])
        let id = try #require(driver.delegatedSession(.home, "D"))
        #expect(driver.input { $0.delegatedHello(id, Hello(appVersion: "3"), $1) } == .done)
        #expect(driver.input { $0.delegatedHello(id, Hello(appVersion: "4"), $1) } == .done)
        #expect(driver.core.session(id)?.hello?.appVersion == "3")
        driver.set { $0.minimumDeviceVersion = "2" }
        #expect(driver.closings.isEmpty)
        driver.set { $0.minimumDeviceVersion = "4" }
        #expect(driver.closings.map(\.1) == ["update"])
    }

    @Test func kind21OpensAWindow() throws {
        let driver = Driver(Self.remote { $0.requirePairing = false })
        driver.unlock()
        let id = try #require(driver.delegatedSession(.home, "U", hello: Hello(device: "iPad")))
        #expect(driver.input { $0.delegatedPairingWanted(id, $1) } == .done)
        #expect(driver.core.window(driver.moment)?.askedBy?.name == "iPad")
        #expect(driver.core.window(driver.moment)?.remote == false)
    }

    @Test func stopping() throws {
        let driver = Driver(devices: [Driver.record("D")])
        let id = try #require(driver.delegatedSession(.home, "D"))
        var before = Self.query(.home, nil, remote: "192.168.1.23:9")
        before.handshake = nil
        #expect(driver.ask(before) == .proceed)
        driver.input { $0.stop($1) }
        #expect(driver.closings.map(\.1) == ["quit"] && driver.core.delegatedSessions == 1)
        #expect(driver.input { $0.deleteSession(id, $1) } == .done)
        #expect(driver.core.delegatedSessions == 0 && driver.core.delegated.pending.isEmpty)
        #expect(driver.register(Self.query(.home, "D")) == .refused(.limit))
    }

    // MARK: - Zones

    @Test func anInterfaceByNameIsTheOneByIndex() throws {
        let driver = Driver(devices: [Driver.record("D")])
        let named = Self.query(.home, "D", remote: "[fe80::9]:50122", zoneName: "eth0")
        let indexed = Self.query(.home, "D", remote: "[fe80::9%2]:50122")
        guard case .session(let first) = driver.register(named) else { throw CancellationError() }
        let view = try #require(driver.core.session(first))
        #expect(view.remote.ip.scope == 2 && view.arrival == "eth0")
        guard case .session(let second) = driver.register(indexed) else { throw CancellationError() }
        #expect(driver.core.sessions().map(\.id) == [second])
        func whois(_ remote: String, _ zone: String?) -> SessionID? {
            SocketAddress(remote).flatMap { driver.core.session(remote: $0, zoneName: zone)?.id }
        }
        #expect(whois("[fe80::9]:50122", "eth0") == second)
        #expect(whois("[fe80::9%2]:50122", nil) == second)
        #expect(whois("[fe80::9]:50122", nil) == second)
        #expect(whois("[fe80::9]:50122", "wg0") == nil)
        #expect(whois("[fe80::9]:50122", "usb7") == nil)
        #expect(whois("[fe80::9]:50123", nil) == nil)
        // Elsewhere a zone says where it arrived, and nothing about who it is.
        let routed = SocketAddress("[fd00::9%2]:1")
        #expect(routed.map { driver.core.resolved($0, zoneName: nil) } == SocketAddress("[fd00::9]:1"))
        #expect(routed.map { driver.core.resolved($0, zoneName: "eth0") } == SocketAddress("[fd00::9]:1"))
    }
}
