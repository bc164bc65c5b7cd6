// SPDX-License-Identifier: Apache-2.0

import Policy
import Testing
import Wire

@testable import Core

/// Steps A to E of 03 §5 against the state machine, with what they count.
struct ConnectionTests {
    static func remote(internet: Bool = false) -> Settings {
        var settings = Settings()
        settings.remoteAccess = true
        settings.internetAccess = internet
        return settings
    }

    static func open() -> Settings {
        var settings = Settings()
        settings.requirePairing = false
        return settings
    }

    @Test func theNinthRemoteSessionIsBusyAndNoneIsAdmittedBetween() {
        let driver = Driver(Self.remote(), devices: [Driver.record("D")])
        for number in 1...8 { #expect(driver.session(.remote, "D", .lan(number)) != nil) }
        #expect(driver.connect(.remote, "D", .lan(50)) == .goodbye("busy"))
        #expect(driver.summaryLines == ["remote limit 1"])
        // Home has no limit.
        for number in 1...30 { #expect(driver.session(.home, "D", .lan(number)) != nil) }
        // Two that were judged while one place was left: the second is told at registering.
        let gone = driver.core.sessions()[0]
        driver.input { $0.sessionEnded(gone.id, .peerClosed, $1) }
        let first = driver.arrive(.remote, .lan(60)).id
        let second = driver.arrive(.remote, .lan(61)).id
        for id in [first, second] {
            let verdict = driver.input {
                $0.connectionReady(id, alpn: "sill/1", key: Driver.key("D"), $1)
            }
            #expect(verdict == .session(floor: nil))
        }
        let verdicts = [first, second].map { id in
            driver.input { $0.register(id, hello: nil, counters: SessionCounters(), $1) }
        }
        #expect(verdicts[1] == .goodbye(.busy))
        if case .session = verdicts[0] {} else { Issue.record("the first had room") }
        #expect(driver.core.counters.refusals(.remote, .limit) == 2)
    }

    @Test func fiveFailuresStartABackoffAtThisDoorOnly() {
        let driver = Driver(Self.remote(), devices: [Driver.record("D")])
        for time in [0.0, 10, 20, 30, 59.9] {
            driver.wait(until: time)
            #expect(driver.connect(.home, "X") == .refusedInHandshake)
        }
        #expect(driver.connect(.home, "D") == .refusedAtStart(.limit))
        #expect(driver.session(.remote, "D") != nil)
        driver.wait(until: 359.8)
        #expect(driver.connect(.home, "D") == .refusedAtStart(.limit))
        driver.wait(until: 359.9)
        #expect(driver.session(.home, "D") != nil)
    }

    @Test func aPairedKeyClearsItsSourceAnUnpairedOneDoesNot() {
        let driver = Driver(Self.open(), devices: [Driver.record("D")])
        func fail(_ times: Int) {
            for _ in 0..<times {
                let id = driver.arrive(.home).id
                driver.input { $0.connectionFailed(id, .http, $1) }
            }
        }
        fail(4)
        #expect(driver.session(.home, "U") != nil)
        fail(1)
        #expect(driver.connect(.home, "D") == .refusedAtStart(.limit))
        driver.wait(until: 400)
        fail(4)
        #expect(driver.session(.home, "D") != nil)
        fail(4)
        #expect(driver.session(.home, "D") != nil)
    }

    @Test(arguments: HandshakeFailure.allCases) func eachFailureIsCountedOnce(_ failure: HandshakeFailure) {
        for door in Door.allCases {
            let driver = Driver(Self.remote(), devices: [Driver.record("D")])
            for _ in 0..<5 {
                let id = driver.arrive(door).id
                driver.input { $0.connectionFailed(id, failure, $1) }
                driver.input { $0.connectionFailed(id, failure, $1) }
                driver.input { $0.connectionLeft(id, $1) }
            }
            let counted = failure.counted(at: door)
            let word = RefusalWord.allCases.first { driver.core.counters.refusals(door, $0) > 0 }
            #expect(word == counted?.word)
            if let word { #expect(driver.core.counters.refusals(door, word) == 5) }
            let next = driver.connect(door, "D")
            #expect((next == .refusedAtStart(.limit)) == (counted?.isFailure ?? false))
        }
    }

    @Test func anOriginThatIsNotAdmittedNeverReachesTLS() {
        var settings = Self.remote()
        settings.direct = true
        let driver = Driver(settings, devices: [Driver.record("D")])
        #expect(driver.connect(.home, "D", .vpn) == .refusedAtStart(.vpn))
        #expect(driver.connect(.home, "D", .internet) == .refusedAtStart(.internet))
        #expect(driver.connect(.remote, "D", .internet) == .refusedAtStart(.internet))
        #expect(driver.connect(.remote, "D", .direct) == .refusedAtStart(.internet))
        #expect(driver.session(.home, "D", .direct) != nil)
        #expect(driver.session(.home, "D", .host) != nil)
        #expect(driver.session(.remote, "D", .vpn) != nil)
    }

    @Test func theOriginIsAskedAgainAtReady() {
        let driver = Driver(Self.remote(internet: true), devices: [Driver.record("D")])
        let id = driver.arrive(.remote, .internet).id
        driver.set { $0.internetAccess = false }
        let verdict = driver.input {
            $0.connectionReady(id, alpn: "sill/1", key: Driver.key("D"), $1)
        }
        #expect(verdict == .refuse(.internet))
        #expect(driver.input { $0.register(id, hello: nil, counters: SessionCounters(), $1) } == .refuse)
    }

    /// The first peer of a tunnel that just came up is not one of the home network (03 §3.3 step 2).
    @Test func anInterfaceOfWhichNobodyHasToldYet() {
        let driver = Driver(Self.remote(), devices: [Driver.record("D")])
        var arrival = Arrival(
            id: driver.nextID(), door: .home, peer: SocketAddress(ip: Driver.ip("10.98.0.7"), port: 5),
            local: SocketAddress(ip: Driver.ip("192.168.1.20"), port: 7455), receivedOn: 9)
        #expect(driver.input { $0.connectionArrived(arrival, $1) } == .lookAgain)
        #expect(driver.core.counters.refusals(.home, .vpn) == 0)
        arrival.hasLookedAgain = true
        let links = Driver.table.interfaces.map(\.link) + [LinkFacts(index: 9, name: "wg1")]
        let newer = InterfaceTable.make(links: links, addresses: [], primary: 2)
        driver.input { $0.interfacesChanged(newer, $1) }
        #expect(driver.input { $0.connectionArrived(arrival, $1) } == .refuse(.vpn))
        // One that is gone again: what owns the local address decides.
        arrival.receivedOn = 10
        #expect(driver.input { $0.connectionArrived(arrival, $1) } == .proceed(.lan))
    }

    /// 03 §1, §7.5: peer-to-peer Wi-Fi counts nothing while Direct is off, and does not get in.
    @Test func withDirectOffNobodyComesThatWay() {
        let driver = Driver(Self.remote(), devices: [Driver.record("D")])
        for _ in 0..<9 { #expect(driver.connect(.home, "D", .direct) == .refusedAtStart(.direct)) }
        #expect(driver.summaryLines.isEmpty)
        for word in RefusalWord.allCases { #expect(driver.core.counters.refusals(.home, word) == 0) }
        // The remote door never takes it, so that is a refusal like any other.
        for direct in [false, true] {
            driver.set { $0.direct = direct }
            #expect(driver.connect(.remote, "D", .direct) == .refusedAtStart(.internet))
        }
        // And no failure was kept.
        #expect(driver.session(.home, "D", .direct) != nil)
    }

    /// Switched off while a connection waits: closed, whatever it waits for, and not counted; what it does later meets
    /// nobody.
    @Test(arguments: ["handshake", "gate", "pairing"]) func directGoesOffMeanwhile(_ stage: String) {
        var settings = Self.remote()
        settings.direct = true
        settings.minimumDeviceVersion = "1.2"
        let driver = Driver(settings, devices: [Driver.record("D")])
        driver.openWindow()
        let id = driver.arrive(.home, .direct).id
        let other = driver.arrive(.home).id
        let alpn = stage == "pairing" ? "sill-pair/1" : "sill/1"
        if stage != "handshake" {
            _ = driver.input { $0.connectionReady(id, alpn: alpn, key: Driver.key("D"), $1) }
        }
        driver.effects = []
        driver.set { $0.direct = false }
        let closed = driver.effects.compactMap { effect -> ConnectionID? in
            if case .closeConnection(let id) = effect { id } else { nil }
        }
        #expect(closed == [id])
        switch stage {
        case "handshake":
            let ready = driver.input { $0.connectionReady(id, alpn: alpn, key: Driver.key("D"), $1) }
            #expect(ready == .refuse(.unpaired))
        case "gate":
            let hello = Hello(appVersion: "1.2")
            #expect(
                driver.input { $0.register(id, hello: hello, counters: SessionCounters(), $1) } == .refuse)
        default:
            let proof = driver.proof("D")
            driver.input { $0.pairingMessage(id, proof, $1) }
            #expect(driver.answer(to: id) == nil)
            #expect(driver.core.window(driver.moment)?.triesLeft == 5)
        }
        for word in RefusalWord.allCases { #expect(driver.core.counters.refusals(.home, word) == 0) }
        #expect(driver.core.sessions().isEmpty)
        let rest = driver.input { $0.connectionReady(other, alpn: "sill/1", key: Driver.key("D"), $1) }
        #expect(rest == .session(floor: Version("1.2")))
    }

    @Test func theWindowClosedSinceVerify() {
        let driver = Driver()
        driver.openWindow()
        let id = driver.arrive(.remote).id
        #expect(driver.core.trust.verify(door: .remote, alpn: "sill-pair/1", key: Driver.key("U")))
        _ = driver.input { $0.closeWindow(actor: .service, $1) }
        let verdict = driver.input {
            $0.connectionReady(id, alpn: "sill-pair/1", key: Driver.key("U"), $1)
        }
        #expect(verdict == .refuse(.unpaired))
    }

    /// 03 §5.5 with changes while the gate waits.
    @Test(arguments: [
        ("remove", Door.home, "removed"), ("remove", .remote, "removed"), ("remoteOff", .remote, "remoteOff"),
        ("nothing", .home, "session"), ("nothing", .remote, "session"), ("require", .home, "session"),
        ("floor", .home, "update"), ("floor", .remote, "update"), ("floorToItsVersion", .home, "session"),
        ("floorAndRemoteOff", .remote, "remoteOff"),
    ])
    func changesDuringTheGate(_ change: String, _ door: Door, _ outcome: String) {
        var settings = Self.remote()
        settings.requirePairing = change != "remove" && change != "require"
        settings.minimumDeviceVersion = "1.2"
        let driver = Driver(settings, devices: [Driver.record("D")])
        let id = driver.arrive(door).id
        let verdict = driver.input {
            $0.connectionReady(id, alpn: "sill/1", key: Driver.key("D"), $1)
        }
        #expect(verdict == .session(floor: Version("1.2")))
        #expect(driver.core.sessions().isEmpty)
        switch change {
        case "remove": driver.remove("D")
        case "remoteOff": driver.set { $0.remoteAccess = false }
        case "require": driver.set { $0.requirePairing = true }
        case "floor": driver.set { $0.minimumDeviceVersion = "1.2.1" }
        case "floorToItsVersion": driver.set { $0.minimumDeviceVersion = "1.2.0" }
        case "floorAndRemoteOff":
            driver.set {
                $0.minimumDeviceVersion = "1.3"
                $0.remoteAccess = false
            }
        default: break
        }
        let registered = driver.input {
            $0.register(id, hello: Hello(appVersion: "1.2"), counters: SessionCounters(), $1)
        }
        switch registered {
        case .session: #expect(outcome == "session")
        case .goodbye(let goodbye): #expect(goodbye.reason == outcome)
        case .refuse: Issue.record("refused")
        }
        #expect(driver.core.sessions().count == (outcome == "session" ? 1 : 0))
    }

    @Test func anUnpairedOneInTheGateWhenPairingBecomesRequired() {
        var settings = Self.open()
        settings.minimumDeviceVersion = "1.2"
        let driver = Driver(settings)
        let id = driver.arrive(.home).id
        _ = driver.input { $0.connectionReady(id, alpn: "sill/1", key: Driver.key("U"), $1) }
        driver.set { $0.requirePairing = true }
        let verdict = driver.input { $0.register(id, hello: nil, counters: SessionCounters(), $1) }
        #expect(verdict == .goodbye(.pairingRequired))
    }

    @Test func aGateRefusalIsLateFromTheSixthOn() {
        var settings = Settings()
        settings.minimumDeviceVersion = "2"
        let driver = Driver(settings, devices: [Driver.record("D")])
        let delays = (0..<7).map { _ in
            let id = driver.arrive(.home).id
            _ = driver.input { $0.connectionReady(id, alpn: "sill/1", key: Driver.key("D"), $1) }
            return driver.input { $0.gateRefused(id, $1) }
        }
        #expect(delays == Array(repeating: .zero, count: 5) + Array(repeating: .seconds(2), count: 2))
        let goodbye = driver.core.updateGoodbye(Hello(device: "iPad (iPad14,1)"))
        #expect(goodbye.reason == "update" && goodbye.minimumVersion == "2.0" && goodbye.reconnect == false)
        #expect(driver.core.counters.refusals(.home, .unpaired) == 0)
    }

    @Test func aFullDoorClosesTheOldestSilentOne() {
        var limits = DoorLimits.shipped
        limits.pendingPerDoor = 2
        let driver = Driver(limits: limits)
        let first = driver.arrive(.home, .lan(1)).id
        let second = driver.arrive(.home, .lan(2)).id
        driver.core.connectionSentClientHello(first)
        let third = driver.arrive(.home, .lan(3))
        #expect(third.verdict == .proceed(.lan))
        let closed = driver.effects.compactMap { effect -> ConnectionID? in
            if case .closeConnection(let id) = effect { id } else { nil }
        }
        #expect(closed == [second])
        #expect(driver.core.counters.refusals(.home, .limit) == 1)
    }

    @Test func aRemovedKeyThatComesBackIsToldToTheAdminOnceAMinute() {
        let tombstone = Tombstone(
            fingerprint: Driver.key("R"), removedAt: WallTime(milliseconds: Driver.start), removedBy: "unix:0"
        )
        let driver = Driver(tombstones: [tombstone])
        func rows() -> [AuditRow] {
            driver.commits.flatMap(\.audit).filter { $0.action == "device.removedTried" }
        }
        #expect(driver.connect(.home, "R") == .refusedInHandshake)
        #expect(driver.connect(.home, "R") == .refusedInHandshake)
        #expect(driver.connect(.home, "X") == .refusedInHandshake)
        #expect(rows().count == 1)
        #expect(rows()[0].device == Driver.key("R").id.text)
        #expect(rows()[0].detail?.hasPrefix("removed on ") == true)
        driver.wait(until: 60)
        #expect(driver.connect(.home, "R") == .refusedInHandshake)
        #expect(rows().count == 2)
        // Paired again by a proof, it is a device like others.
        driver.openWindow()
        #expect(driver.pair(.home, "R", driver.proof("R"))?.ok == true)
        #expect(driver.core.tombstone(Driver.key("R")) == nil)
        #expect(driver.session(.home, "R") != nil)
    }

    @Test func anOlderSillGetsANotice() {
        let driver = Driver()
        for time in [100.0, 102, 106] {
            driver.wait(until: time)
            let id = driver.arrive(.home).id
            driver.input { $0.connectionFailed(id, .notTLS13, $1) }
        }
        let notice = driver.core.status(driver.moment).olderDevice
        #expect(notice?.place == "on this network")
        #expect(notice?.until == WallTime(milliseconds: Driver.start + 706_000))
        driver.wait(until: 706)
        #expect(driver.core.status(driver.moment).olderDevice == nil)
    }
}
