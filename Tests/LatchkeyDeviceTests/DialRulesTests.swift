// SPDX-License-Identifier: Apache-2.0

import Policy
import Testing
import Wire

@testable import LatchkeyDevice

/// 06 B1 to B3: which addresses, in which order, at which time, and why a dial failed.
@Suite("Dial rules")
struct DialRulesTests {
    static func at(_ seconds: Double) -> MonotonicTime { .seconds(seconds) }

    static func address(_ host: String, _ kind: String) -> SavedAddress {
        SavedAddress(host: host, port: nil, kind: kind, via: "")
    }

    // MARK: The race

    @Test("attempts start a second apart, and the first one ready wins")
    func race() {
        var race = DialRace(count: 3, at: Self.at(0))
        #expect(race.advance(at: Self.at(0)) == [.start(0)])
        #expect(race.deadline == Self.at(1))
        #expect(race.advance(at: Self.at(0.999)) == [])
        #expect(race.advance(at: Self.at(1)) == [.start(1)])
        // The newest ended: its successor begins at once.
        #expect(race.ended(1, at: Self.at(1.2)) == [.start(2)])
        #expect(race.deadline == Self.at(10))
        #expect(race.ready(0) == [.cancel(2)])
        #expect(race.outcome == .won(0))
        #expect(race.deadline == nil)
        // What comes later is nothing.
        #expect(race.ended(2, at: Self.at(2)) == [])
        #expect(race.ready(2) == [])
        #expect(race.advance(at: Self.at(30)) == [])
    }

    @Test("an older attempt that ends hurries nobody")
    func olderEnds() {
        var race = DialRace(count: 3, at: Self.at(0))
        _ = race.advance(at: Self.at(0))
        _ = race.advance(at: Self.at(1))
        #expect(race.ended(0, at: Self.at(1.1)) == [])
        #expect(race.deadline == Self.at(2))
        #expect(race.advance(at: Self.at(2)) == [.start(2)])
    }

    @Test("ten seconds for one connect, twenty for all")
    func limits() {
        var race = DialRace(count: 2, at: Self.at(0))
        _ = race.advance(at: Self.at(0))
        _ = race.advance(at: Self.at(1))
        #expect(race.deadline == Self.at(10))
        #expect(race.advance(at: Self.at(10)) == [.cancel(0)])
        #expect(race.outcome == .running)
        #expect(race.advance(at: Self.at(11)) == [.cancel(1)])
        #expect(race.outcome == .failed)

        var long = DialRace(count: 30, at: Self.at(0))
        for second in 0..<20 { _ = long.advance(at: Self.at(Double(second))) }
        #expect(long.advance(at: Self.at(19.999)) == [])
        // Those of the last ten seconds are still under way.
        #expect(long.advance(at: Self.at(20)) == (10..<20).map { .cancel($0) })
        #expect(long.outcome == .failed)
    }

    @Test("all ended: failed at once; nothing to dial: failed")
    func allEnded() {
        var race = DialRace(count: 2, at: Self.at(0))
        _ = race.advance(at: Self.at(0))
        #expect(race.ended(0, at: Self.at(0.1)) == [.start(1)])
        #expect(race.ended(1, at: Self.at(0.2)) == [])
        #expect(race.outcome == .failed)
        var none = DialRace(count: 0, at: Self.at(0))
        #expect(none.advance(at: Self.at(0)) == [])
        #expect(none.outcome == .failed)
    }

    @Test("pairing dials strictly one at a time")
    func sequential() {
        var race = DialRace(count: 2, isSequential: true, at: Self.at(0))
        #expect(race.advance(at: Self.at(0)) == [.start(0)])
        #expect(race.advance(at: Self.at(5)) == [])
        #expect(race.deadline == Self.at(10))
        #expect(race.advance(at: Self.at(10)) == [.cancel(0), .start(1)])
        #expect(race.ready(1) == [])
        #expect(race.outcome == .won(1))
    }

    // MARK: Failures

    static let failures: [(AttemptEnd, String, String, Bool?, DialFailure?)] = [
        (.pinMismatch, "203.0.113.9", "internet", nil, .wrongHost),
        (.pinMismatch, "192.168.1.20", "lan", nil, nil), (.pinMismatch, "100.64.1.1", "lan", nil, .wrongHost),
        (.pinMismatch, "10.8.0.1", "vpn", nil, .wrongHost),
        (.keyRefused, "a.example", "internet", nil, .revoked),
        (.goodbye("removed"), "a.example", "internet", nil, .revoked),
        (.goodbye("remoteOff"), "a.example", "internet", nil, .remoteOff),
        (.goodbye("busy"), "a.example", "internet", nil, .busy),
        (.goodbye("internetOff"), "a.example", "internet", nil, .refused),
        (.goodbye("quit"), "a.example", "internet", nil, .refused),
        (.goodbye(""), "a.example", "internet", nil, .refused), (.closed, "a.example", "lan", nil, .refused),
        (.noSuchName, "a.tail1.ts.net", "vpn", nil, .vpnOff),
        (.noSuchName, "a.ts.net.", "internet", nil, .vpnOff),
        (.noSuchName, "a.example", "vpn", nil, .nameNotFound),
        (.nameDenied, "mac.local", "lan", nil, .localNetwork),
        (.nameDenied, "a.example", "internet", nil, .noAnswer),
        (.nameFailed, "a.ts.net", "vpn", nil, .nameNotFound),
        (.notTLS, "a.example", "internet", nil, .notSill),
        (.silent, "100.64.1.1", "vpn", false, .vpnOff), (.silent, "100.64.1.1", "vpn", true, .noAnswer),
        (.silent, "100.64.1.1", "vpn", nil, .noAnswer), (.silent, "100.64.1.1", "lan", false, .vpnOff),
        (.silent, "10.8.0.1", "vpn", false, .vpnOff), (.silent, "203.0.113.9", "internet", false, .noAnswer),
        (.other, "10.8.0.1", "vpn", false, .noAnswer),
    ]

    @Test("what an end means", arguments: failures)
    func failure(
        _ end: AttemptEnd, _ host: String, _ kind: String, _ usedTunnel: Bool?, _ want: DialFailure?
    ) {
        #expect(DialFailure(end, at: Self.address(host, kind), usedTunnel: usedTunnel) == want)
    }

    @Test("the most telling first")
    func order() {
        #expect(
            DialFailure.allCases.map(\.code.rawValue) == [
                "wrongHost", "revoked", "remoteOff", "busy", "refused", "vpnOff", "nameNotFound",
                "localNetwork", "notSill", "noAnswer",
            ])
        let ranks = DialFailure.allCases.map { DeviceError($0.code, "").rank }
        #expect(ranks == ranks.sorted() && Set(ranks).count == ranks.count)
        #expect(DialFailure.worst(of: [.noAnswer, nil, .busy, .notSill]) == .busy)
        #expect(DialFailure.worst(of: [nil]) == .noAnswer)
        #expect(
            DialFailure.allCases.filter(\.stopsRemoteDials) == [.wrongHost, .revoked, .remoteOff])
    }

    // MARK: Goodbyes

    static let goodbyes: [(String, Bool?, SessionGoodbye.ComingBack)] = [
        ("quit", nil, .everywhere), ("busy", nil, .everywhere), ("remoteOff", nil, .homeOnly),
        ("internetOff", nil, .homeOnly), ("removed", nil, .never), ("pairingRequired", nil, .never),
        // The six keep their own rule whatever stands beside them.
        ("removed", true, .never), ("pairingRequired", true, .never), ("quit", false, .everywhere),
        ("remoteOff", true, .homeOnly), ("update", nil, .never), ("update", true, .everywhere),
        ("noHost", true, .everywhere), ("noHost", nil, .never), ("noHost", false, .never), ("", nil, .never),
        ("Quit", nil, .never),
    ]

    @Test("what each goodbye makes a device do", arguments: goodbyes)
    func goodbye(_ reason: String, _ reconnect: Bool?, _ want: SessionGoodbye.ComingBack) {
        let goodbye = SessionGoodbye(Goodbye(reason: reason, reconnect: reconnect))
        #expect(goodbye.comingBack == want)
        #expect(goodbye.comesBack == (want != .never))
    }

    // MARK: Own subnets

    @Test("the networks that this machine is part of")
    func subnets() throws {
        func interface(
            _ index: UInt32, _ kind: InterfaceKind, up: Bool = true, _ own: [(String, Int)]
        ) throws -> NetworkInterface {
            NetworkInterface(
                link: LinkFacts(index: index, name: "if\(index)", isUp: up), kind: kind,
                addresses: try own.map {
                    InterfaceAddress(ip: try #require(IPAddress($0.0)), prefixBits: $0.1)
                })
        }
        let table = InterfaceTable([
            try interface(1, .loopback, [("127.0.0.1", 8)]),
            try interface(
                2, .lan, [("192.168.1.77", 24), ("fd00::77", 64), ("169.254.3.3", 16), ("10.9.9.9", 0)]),
            try interface(3, .tunnel, [("100.64.0.7", 32), ("10.8.0.2", 31)]),
            try interface(4, .lan, up: false, [("10.0.5.1", 24)]),
        ])
        let subnets = DialOrder.subnets(of: table)
        #expect(
            subnets == [
                DialOrder.Subnet(prefix: try #require(IPAddress("192.168.1.77")), bits: 24),
                DialOrder.Subnet(prefix: try #require(IPAddress("10.8.0.2")), bits: 31),
            ])
        var host = SavedHostListTests.host(1)
        host.addresses = [
            Self.address("10.0.5.9", "lan"), Self.address("203.0.113.9", "internet"),
            Self.address("192.168.1.20", "lan"), Self.address("192.168.2.20", "lan"),
        ]
        #expect(
            DialOrder.addresses(of: host, subnets: subnets).map(\.host)
                == ["192.168.1.20", "203.0.113.9", "10.0.5.9", "192.168.2.20"])
    }

    // MARK: A host set up again

    struct Again: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var name = "Desk"
        var pairedAt = 200.0
        var revoked = false
        var newKey = false
        var lastConnectedAt: Double? = 150
        var address = DialRulesTests.address("100.64.1.1", "vpn")
        var accepts = false
    }

    static let again = [
        Again(testDescription: "all hold", accepts: true),
        Again(testDescription: "another name", name: "Other"),
        Again(testDescription: "paired when the old one was reached", pairedAt: 150),
        Again(testDescription: "never reached", pairedAt: 101, lastConnectedAt: nil, accepts: true),
        Again(testDescription: "never reached, paired as early", pairedAt: 100, lastConnectedAt: nil),
        Again(testDescription: "turned away", revoked: true),
        Again(testDescription: "replaced itself", newKey: true),
        Again(testDescription: "an address of any network", address: address("192.168.1.20", "lan")),
        Again(
            testDescription: "a private one said to be internet", address: address("192.168.1.20", "internet")
        ),
        Again(testDescription: "an internet one said to be lan", address: address("203.0.113.9", "lan")),
        Again(testDescription: "an internet one", address: address("203.0.113.9", "internet"), accepts: true),
        Again(testDescription: "a name", address: address("a.example", "internet"), accepts: true),
        Again(
            testDescription: "Tailscale's shape as lan", address: address("a.ts.net", "lan"), accepts: true),
        Again(testDescription: "this machine", address: address("127.0.0.1", "internet")),
        Again(testDescription: "this machine by name", address: address("localhost", "vpn")),
    ]

    @Test("whose key a dial may accept too", arguments: again)
    func setUpAgain(_ row: Again) {
        var old = SavedHostListTests.host(1, pairedAt: 100)
        old.name = "Desk"
        old.lastConnectedAt = row.lastConnectedAt
        var new = SavedHostListTests.host(2, pairedAt: row.pairedAt)
        new.name = row.name
        new.revoked = row.revoked
        new.newKey = row.newKey
        let found = SetUpAgain.acceptable(for: old, at: row.address, among: [old, new])
        #expect(found.map(\.id) == (row.accepts ? [new.id] : []))
    }

    @Test("loopback stands for one machine only where both sides are tried on it")
    func loopback() {
        let here = Self.address("127.0.0.1", "lan")
        #expect(SetUpAgain.namesOneMachine(here, keepLoopback: true))
        #expect(!SetUpAgain.namesOneMachine(here, keepLoopback: false))
    }

    @Test("the new record takes over what was typed for the old one")
    func takesOver() {
        var list = SavedHostList()
        var old = SavedHostListTests.host(1)
        old.homeTLS = true
        old.typedAddresses = [Self.address("A.example", "internet"), Self.address("b.example", "internet")]
        var new = SavedHostListTests.host(2, pairedAt: 5)
        new.typedAddresses = [Self.address("a.example", "internet")]
        new.remotePort = 17455
        list.add(old)
        list.add(new)
        list.take(over: old.id, by: new.id, at: Self.address("B.example", "internet"))
        #expect(list.hosts.map(\.id) == [new.id])
        #expect(list.hosts.first?.typedAddresses.map(\.host) == ["a.example", "b.example"])
        #expect(list.hosts.first?.homeTLS == true)
        #expect(list.hosts.first?.lastWorked == "b.example|17455")
        list.take(over: new.id, by: "nobody", at: Self.address("x", "internet"))
        list.take(over: new.id, by: new.id, at: Self.address("x", "internet"))
        #expect(list.hosts.map(\.id) == [new.id])
    }

    @Test("hosts of one name are numbered by pairing")
    func displayNames() {
        var list = SavedHostList()
        for (byte, pairedAt) in [(UInt8(1), 30.0), (2, 10), (3, 20), (4, 1)] {
            var host = SavedHostListTests.host(byte, pairedAt: pairedAt)
            host.name = byte == 4 ? "Tower" : "Desk"
            list.add(host)
        }
        #expect(
            list.hosts.map { list.displayNames[$0.id] } == ["Desk (3)", "Desk", "Desk (2)", "Tower"])
    }

    @Test("a device that did not run itself has missed nothing")
    func stopped() {
        var liveness = Liveness(now: .seconds(0))
        for look in 1...4 { liveness.looked(at: .seconds(Double(look) / 4)) }
        // Stopped for a minute.
        liveness.looked(at: .seconds(61))
        #expect(!liveness.isSilent(at: .seconds(61)))
        for look in 1...25 { liveness.looked(at: .seconds(61 + Double(look) / 4)) }
        #expect(liveness.isSilent(at: .seconds(67.25)))
    }

    @Test("a remote path that leads nowhere ends a session after three seconds; at home bytes decide")
    func path() {
        var remote = Liveness(now: Self.at(0), isRemote: true)
        var home = Liveness(now: Self.at(0))
        for time in [1.0, 2] {
            remote.path(isViable: false, at: Self.at(time))
            home.path(isViable: false, at: Self.at(time))
        }
        #expect(!remote.isSilent(at: Self.at(4)) && remote.isSilent(at: Self.at(4.01)))
        #expect(!home.isSilent(at: Self.at(6)) && home.isSilent(at: Self.at(6.01)))
        remote.path(isViable: true, at: Self.at(4))
        #expect(!remote.isSilent(at: Self.at(5)))
    }
}
