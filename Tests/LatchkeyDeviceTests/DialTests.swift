// SPDX-License-Identifier: Apache-2.0

import Testing
import Wire

@testable import LatchkeyDevice

/// 06 B3: whole dials, with a clock, a resolver and a dialer of tables.
@Suite("Dial")
struct DialTests {
    static func place(_ host: String, _ kind: String? = nil, isNamed: Bool = false) -> Dial.Place {
        let address = SavedAddress(
            host: host, port: nil, kind: kind ?? SavedAddress.kind(ofHost: host), via: "")
        return Dial.Place(address: address, ip: IPAddress(host), isNamed: isNamed)
    }

    static func live(
        _ places: [Dial.Place], _ network: SimulatedNetwork, isSequential: Bool = false, isRow: Bool = false
    ) -> (log: [String], dial: Dial) {
        var dial = Dial(
            places, isSequential: isSequential, stopsAtAnotherKey: isRow, at: .seconds(0))
        var run = SimulatedDial(network: network, at: 0)
        run.places = places.map(\.address.host)
        run.follow(dial.advance(at: .seconds(0)), &dial)
        while dial.outcome == .running, run.step(&dial, until: 1000) {}
        return (run.log, dial)
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var places: [Dial.Place]
        var answers: [String: SimulatedNetwork.Answer] = [:]
        var names: [String: [String]] = [:]
        var isSequential = false
        let want: [String]
        /// nil: served.
        var failure: DialFailure?
    }

    static let rows: [Row] = [
        Row(
            testDescription: "the first answers at once: nobody else is dialled",
            places: [place("1.0.0.1"), place("1.0.0.2")],
            answers: ["1.0.0.1": .serves(ready: 0.1, list: 0.2)],
            want: ["0.0 connect 1.0.0.1", "0.1 ready 1.0.0.1", "0.1 begin 1.0.0.1", "0.3 served 1.0.0.1"]),
        Row(
            testDescription: "a second apart; the slow first one wins, and the other's socket is closed",
            places: [place("1.0.0.1"), place("1.0.0.2"), place("1.0.0.3")],
            answers: ["1.0.0.1": .serves(ready: 2.5, list: 0.1)],
            want: [
                "0.0 connect 1.0.0.1", "1.0 connect 1.0.0.2", "2.0 connect 1.0.0.3", "2.5 ready 1.0.0.1",
                "2.5 close 1.0.0.2", "2.5 close 1.0.0.3", "2.5 begin 1.0.0.1", "2.6 served 1.0.0.1",
            ]),
        Row(
            testDescription: "at once when one ends",
            places: [place("1.0.0.1"), place("1.0.0.2")],
            answers: ["1.0.0.1": .ends(.closed, after: 0.1), "1.0.0.2": .serves(ready: 0.1, list: 0.1)],
            want: [
                "0.0 connect 1.0.0.1", "0.1 ended 1.0.0.1", "0.1 connect 1.0.0.2", "0.2 ready 1.0.0.2",
                "0.2 begin 1.0.0.2", "0.3 served 1.0.0.2",
            ]),
        Row(
            testDescription: "one connect has ten seconds", places: [place("1.0.0.1")],
            want: ["0.0 connect 1.0.0.1", "10.0 close 1.0.0.1"], failure: .noAnswer),
        Row(
            testDescription: "the winner has ten seconds for its window list, and no other is asked",
            places: [place("1.0.0.1"), place("1.0.0.2")],
            answers: [
                "1.0.0.1": .serves(ready: 0.5, list: 10.5), "1.0.0.2": .serves(ready: 0.1, list: 0.1),
            ],
            want: [
                "0.0 connect 1.0.0.1", "0.5 ready 1.0.0.1", "0.5 begin 1.0.0.1", "10.5 close 1.0.0.1",
            ], failure: .noAnswer),
        Row(
            testDescription: "connected at the window list, not at the handshake",
            places: [place("1.0.0.1"), place("1.0.0.2")],
            answers: [
                "1.0.0.1": .leaves(ready: 0.1, .keyRefused, after: 0.1),
                "1.0.0.2": .serves(ready: 0.1, list: 0.1),
            ],
            want: ["0.0 connect 1.0.0.1", "0.1 ready 1.0.0.1", "0.1 begin 1.0.0.1", "0.2 ended 1.0.0.1"],
            failure: .revoked),
        Row(
            testDescription: "a goodbye before the window list", places: [place("1.0.0.1")],
            answers: ["1.0.0.1": .leaves(ready: 0.1, .goodbye("internetOff"), after: 0.1)],
            want: ["0.0 connect 1.0.0.1", "0.1 ready 1.0.0.1", "0.1 begin 1.0.0.1", "0.2 ended 1.0.0.1"],
            failure: .refused),
        Row(
            testDescription: "pairing: strictly one at a time, each ten seconds",
            places: [place("1.0.0.1"), place("1.0.0.2")], answers: ["1.0.0.2": .serves(ready: 0.1, list: 0)],
            isSequential: true,
            want: [
                "0.0 connect 1.0.0.1", "10.0 close 1.0.0.1", "10.0 connect 1.0.0.2", "10.1 ready 1.0.0.2",
                "10.1 begin 1.0.0.2", "10.1 served 1.0.0.2",
            ]),
        Row(
            testDescription: "pairing: the addresses of one name too",
            places: [place("a.example")],
            answers: ["1.0.0.1": .ends(.closed, after: 3), "1.0.0.2": .serves(ready: 0.1, list: 0)],
            names: ["a.example": ["1.0.0.1", "1.0.0.2"]], isSequential: true,
            want: [
                "0.0 resolve a.example", "0.0 connect 1.0.0.1", "3.0 ended 1.0.0.1", "3.0 connect 1.0.0.2",
                "3.1 ready 1.0.0.2", "3.1 begin 1.0.0.2", "3.1 served 1.0.0.2",
            ]),
        Row(
            testDescription: "a name's addresses race a quarter second apart",
            places: [place("a.example"), place("1.0.0.9")],
            answers: ["1.0.0.2": .serves(ready: 0.1, list: 0)],
            names: ["a.example": ["2001:db8::1", "1.0.0.2"]],
            want: [
                "0.0 resolve a.example", "0.0 connect 2001:db8::1", "0.25 connect 1.0.0.2",
                "0.35 ready 1.0.0.2", "0.35 close 2001:db8::1", "0.35 begin 1.0.0.2", "0.35 served 1.0.0.2",
            ]),
        Row(
            testDescription: "a name that does not exist ends its attempt at once",
            places: [place("b.example"), place("1.0.0.2")],
            answers: ["1.0.0.2": .serves(ready: 0.1, list: 0)],
            want: [
                "0.0 resolve b.example", "0.0 connect 1.0.0.2", "0.1 ready 1.0.0.2", "0.1 begin 1.0.0.2",
                "0.1 served 1.0.0.2",
            ]),
        Row(
            testDescription: "a name without an address is not waited for", places: [place("c.example")],
            names: ["c.example": []], want: ["0.0 resolve c.example"], failure: .nameNotFound),
        Row(
            testDescription: "the most telling address of a name says why", places: [place("d.example")],
            answers: ["1.0.0.1": .ends(.closed, after: 0), "1.0.0.2": .ends(.notTLS, after: 0)],
            names: ["d.example": ["1.0.0.1", "1.0.0.2"]],
            want: [
                "0.0 resolve d.example", "0.0 connect 1.0.0.1", "0.0 ended 1.0.0.1", "0.0 connect 1.0.0.2",
                "0.0 ended 1.0.0.2",
            ], failure: .refused),
        Row(
            testDescription: "nothing to dial", places: [], want: [], failure: .noAnswer),
    ]

    @Test("histories", arguments: rows)
    func history(_ row: Row) {
        var network = SimulatedNetwork(answers: row.answers)
        for (name, found) in row.names { network.names[name] = (.success(found), 0) }
        let (log, dial) = Self.live(row.places, network, isSequential: row.isSequential)
        #expect(log == row.want)
        if let failure = row.failure {
            #expect(dial.outcome == .failed(failure))
        } else {
            #expect(dial.outcome != .running)
            if case .failed(let failure) = dial.outcome { Issue.record("failed: \(failure)") }
        }
        #expect(dial.deadline == nil)
    }

    @Test("twenty seconds for the whole dial, though attempts of the last ten are under way")
    func whole() {
        let places = (1...30).map { Self.place("1.0.0.\($0)") }
        let (log, dial) = Self.live(places, SimulatedNetwork())
        #expect(log.filter { $0.contains("connect") }.count == 20)
        #expect(log.filter { $0.hasPrefix("20.0 close") }.count == 10)
        #expect(dial.outcome == .failed(.noAnswer))
        #expect(dial.attempts[20].state == .waiting)
        #expect(dial.attempts[19].state == .ended(.silent, .noAnswer))
    }

    struct Why: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var ends: [(host: String, kind: String, end: AttemptEnd)]
        var tunnels: [String: Bool] = [:]
        let want: DialFailure
    }

    static let reasons: [Why] = [
        Why(
            testDescription: "another key away tells most",
            ends: [("1.0.0.1", "internet", .pinMismatch), ("1.0.0.2", "internet", .keyRefused)],
            want: .wrongHost),
        Why(
            testDescription: "another key on a local address does not count",
            ends: [("192.168.1.20", "lan", .pinMismatch), ("1.0.0.2", "internet", .notTLS)], want: .notSill),
        Why(
            testDescription: "not even when it is all there is",
            ends: [("192.168.1.20", "lan", .pinMismatch)],
            want: .noAnswer),
        Why(
            testDescription: "but of a Tailscale shape it does, whatever its kind",
            ends: [("100.64.0.9", "lan", .pinMismatch)], want: .wrongHost),
        Why(
            testDescription: "no tunnel was used: the VPN is off", ends: [("100.64.0.9", "vpn", .silent)],
            tunnels: ["100.64.0.9": false], want: .vpnOff),
        Why(
            testDescription: "a tunnel was used", ends: [("100.64.0.9", "vpn", .silent)],
            tunnels: ["100.64.0.9": true], want: .noAnswer),
        Why(testDescription: "nobody knows", ends: [("100.64.0.9", "vpn", .silent)], want: .noAnswer),
        Why(
            testDescription: "no VPN address", ends: [("1.0.0.1", "internet", .silent)],
            tunnels: ["1.0.0.1": false], want: .noAnswer),
        Why(
            testDescription: "the VPN before what is no host",
            ends: [("1.0.0.1", "internet", .notTLS), ("10.8.0.1", "vpn", .silent)],
            tunnels: ["10.8.0.1": false],
            want: .vpnOff),
    ]

    @Test("why it failed", arguments: reasons)
    func why(_ row: Why) {
        var network = SimulatedNetwork(tunnels: row.tunnels)
        for (host, _, end) in row.ends { network.answers[host] = .ends(end, after: 0.1) }
        let (_, dial) = Self.live(row.ends.map { Self.place($0.host, $0.kind) }, network)
        #expect(dial.outcome == .failed(row.want))
    }

    @Test("an attempt that ran into its limit is judged by its way too")
    func timeout() {
        let network = SimulatedNetwork(tunnels: ["100.64.0.9": false])
        #expect(Self.live([Self.place("100.64.0.9")], network).dial.outcome == .failed(.vpnOff))
    }

    @Test("several addresses of a name: a tunnel that one of them used is one")
    func tunnels() {
        func outcome(_ tunnels: [String: Bool]) -> Dial.Outcome {
            var network = SimulatedNetwork(tunnels: tunnels)
            network.names["a.ts.net"] = (.success(["1.0.0.1", "1.0.0.2"]), 0)
            return Self.live([Self.place("a.ts.net")], network).dial.outcome
        }
        #expect(outcome(["1.0.0.1": false, "1.0.0.2": false]) == .failed(.vpnOff))
        #expect(outcome(["1.0.0.1": false, "1.0.0.2": true]) == .failed(.noAnswer))
        #expect(outcome(["1.0.0.1": false]) == .failed(.noAnswer))
    }

    static let lookups: [(String, AttemptEnd, DialFailure)] = [
        ("a.ts.net", .noSuchName, .vpnOff), ("a.example", .noSuchName, .nameNotFound),
        ("a.example", .nameFailed, .nameNotFound), ("a.ts.net", .nameFailed, .nameNotFound),
        ("a.example", .silent, .noAnswer),
    ]

    @Test("look-ups that give nothing", arguments: lookups)
    func lookup(_ name: String, _ end: AttemptEnd, _ want: DialFailure) {
        var network = SimulatedNetwork()
        network.names[name] = (.failure(LookupFailure(end: end)), 0.1)
        #expect(Self.live([Self.place(name)], network).dial.outcome == .failed(want))
    }

    @Test("a look-up that hangs costs its attempt, and no more than ten seconds")
    func hangingLookup() {
        var network = SimulatedNetwork(answers: ["1.0.0.2": .silence])
        network.names["a.example"] = (.success(["1.0.0.1"]), .infinity)
        let (log, dial) = Self.live([Self.place("a.example"), Self.place("1.0.0.2")], network)
        #expect(log == ["0.0 resolve a.example", "1.0 connect 1.0.0.2", "11.0 close 1.0.0.2"])
        #expect(dial.attempts[0].endedAt == .seconds(10))
        #expect(dial.outcome == .failed(.noAnswer))
    }

    @Test("a place that a person named tells another key, wherever it is")
    func named() {
        let network = SimulatedNetwork(answers: ["192.168.1.20": .ends(.pinMismatch, after: 0.1)])
        let (_, dial) = Self.live([Self.place("192.168.1.20", isNamed: true)], network)
        #expect(dial.outcome == .failed(.wrongHost))
    }

    @Test("a row that shows another key is not dialled at its other addresses")
    func lookAlike() {
        var network = SimulatedNetwork(answers: ["192.168.1.20": .ends(.pinMismatch, after: 1.5)])
        network.answers["192.168.1.21"] = .serves(ready: 5, list: 0)
        let places = [Self.place("192.168.1.20"), Self.place("192.168.1.21"), Self.place("192.168.1.22")]
        let (log, dial) = Self.live(places, network, isRow: true)
        #expect(
            log == [
                "0.0 connect 192.168.1.20", "1.0 connect 192.168.1.21", "1.5 ended 192.168.1.20",
                "1.5 close 192.168.1.21",
            ])
        #expect(dial.outcome == .failed(.wrongHost))
        #expect(dial.attempts.map(\.state) == [.ended(.pinMismatch, .wrongHost), .givenUp, .waiting])
        // Nor at the other addresses of a name.
        network.names["desk.local"] = (.success(["192.168.1.20", "192.168.1.21", "192.168.1.22"]), 0)
        #expect(
            Self.live([Self.place("desk.local")], network, isRow: true).log.suffix(2) == [
                "1.5 close 192.168.1.21", "1.5 close 192.168.1.22",
            ])
        network.answers["192.168.1.20"] = .ends(.pinMismatch, after: 0)
        let (named, _) = Self.live([Self.place("desk.local")], network, isRow: true)
        #expect(named == ["0.0 resolve desk.local", "0.0 connect 192.168.1.20", "0.0 ended 192.168.1.20"])
    }

    @Test("what comes late is closed, or nothing")
    func late() {
        let network = SimulatedNetwork(answers: ["1.0.0.1": .serves(ready: 0.1, list: 0)])
        var (_, dial) = Self.live([Self.place("1.0.0.1"), Self.place("1.0.0.2")], network)
        let other = Dial.Connection(place: 1, number: 0)
        #expect(dial.ready(other, at: .seconds(1)) == [.close(other)])
        #expect(dial.ended(other, .closed, at: .seconds(1)) == [])
        #expect(dial.advance(at: .seconds(30)) == [])
        #expect(dial.outcome == .served(Dial.Connection(place: 0, number: 0)))
        #expect(dial.attempts.map(\.state) == [.won, .waiting])
        // A window list of one that has not won serves nobody.
        var running = Dial([Self.place("1.0.0.1"), Self.place("1.0.0.2")], at: .seconds(0))
        _ = running.advance(at: .seconds(0))
        _ = running.advance(at: .seconds(1))
        running.served(other, at: .seconds(1))
        #expect(running.outcome == .running)
    }

    @Test("sixteen addresses of one name, and no more")
    func manyAddresses() {
        var network = SimulatedNetwork()
        let found = (1...20).map { "1.0.0.\($0)" }
        network.names["a.example"] = (.success(found), 0)
        for address in found { network.answers[address] = .ends(.closed, after: 0) }
        let (log, dial) = Self.live([Self.place("a.example")], network)
        #expect(log.filter { $0.contains("connect") }.count == 16)
        #expect(dial.outcome == .failed(.refused))
    }
}
