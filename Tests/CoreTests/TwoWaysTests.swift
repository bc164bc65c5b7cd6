// SPDX-License-Identifier: Apache-2.0

import Policy
import Testing
import Wire

@testable import Core

/// Relay and delegated go through one core and answer the same (00): the same day, lived by two hosts, one of which
/// relays while the other one's streaming process holds the connections.
struct TwoWaysTests {
    static let hellos: [Hello?] = [
        nil, Hello(), Hello(appVersion: "1.1"), Hello(appVersion: "1.2"), Hello(appVersion: "9"),
    ]
    static let origins: [Driver.From] = [.lan(1), .internet, .vpn, .host, .direct]
    static let keys: [String?] = ["A", "C", nil]
    static let names = [ALPN.session.rawValue, ALPN.pairing.rawValue, nil, "h2"]

    /// Every combination of what decides, with every choice of calls.
    @Test(arguments: [false, true], Driver.Calls.allCases)
    func admissions(_ requirePairing: Bool, _ calls: Driver.Calls) {
        for bits in 0..<16 {
            var settings = Settings()
            settings.requirePairing = requirePairing
            settings.remoteAccess = bits & 1 != 0
            settings.internetAccess = bits & 2 != 0
            settings.minimumDeviceVersion = bits & 4 != 0 ? "1.2" : "0"
            // What cannot matter to each other is not combined.
            if bits & 9 == 8 || bits & 6 == 6 || bits & 12 == 12 { continue }
            for window in 0..<(bits & 12 == 0 ? 3 : 1) {
                let pair = Pair(settings)
                if bits & 8 != 0 { pair.fillRemoteDoor() }
                if window > 0 { pair.both { $0.openWindow(remote: window == 1) } }
                for (number, from) in Self.origins.enumerated() {
                    let hello = Self.hellos[(bits + number) % Self.hellos.count]
                    pair.connectEveryWay(from, hello, calls, "\(bits) \(window)")
                }
            }
        }
    }

    /// Any order of what devices send, admins change and time does.
    @Test(arguments: 1...12) func days(_ seed: UInt64) {
        var random = PropertyTests.Seeded(state: seed &* 6_364_136_223_846_793_005)
        var settings = Settings()
        settings.requirePairing = Bool.random(using: &random)
        let pair = Pair(settings)
        for step in 0..<400 {
            pair.step(&random)
            pair.check("seed \(seed) step \(step)")
        }
        #expect(pair.delegated.core.counters.sessions > 5)
        #expect(pair.answers > 5)
    }
}

/// The two hosts.
final class Pair {
    let relay: Driver
    let delegated: Driver
    /// Kind 20s that were compared.
    var answers = 0
    private var port: UInt16 = 40_000
    /// What the cable rule says in this step.
    private var cable = CableVerdict.not(.notLinkLocal)
    /// Connections between two steps, one a source: what waits counts differently until its next step.
    private var held: [Held] = []

    /// How far a held connection is.
    enum Stage { case started, gate(Hello?), pairing }

    struct Held {
        let relayed: ConnectionID
        let query: AdmissionQuery
        let source: String
        let since: Double
        var stage: Stage
    }

    init(_ settings: Settings) {
        relay = Driver(settings, devices: ["A", "B", "F"].map { Driver.record($0) })
        delegated = Driver(settings, devices: ["A", "B", "F"].map { Driver.record($0) })
    }

    func both(_ body: (Driver) -> Void) {
        body(relay)
        body(delegated)
    }

    /// Every door, key and protocol name from one place; after each both hosts are as they were.
    func connectEveryWay(_ from: Driver.From, _ hello: Hello?, _ calls: Driver.Calls, _ place: String) {
        for door in Door.allCases {
            for key in TwoWaysTests.keys {
                for alpn in TwoWaysTests.names {
                    let isSame = connect(door, key, alpn, from, hello, calls)
                    #expect(isSame, "\(door) \(from.source) \(key ?? "-") \(alpn ?? "-") \(place)")
                    check(place)
                    both { driver in
                        driver.input { $0.forgetLockouts(.all, actor: .service, $1) }
                        if let last = driver.core.sessions().last, last.fingerprint != Driver.key("F") {
                            driver.input { $0.sessionEnded(last.id, .peerClosed, $1) }
                        }
                    }
                }
            }
        }
    }

    /// Eight sessions at the remote door, of the one device that nothing else is about.
    func fillRemoteDoor() {
        let wasOn = relay.core.settings.remoteAccess
        both { $0.set { $0.remoteAccess = true } }
        for number in 0..<8 {
            _ = connect(.remote, "F", "sill/1", .lan(100 + number), Hello(appVersion: "9"), .combined)
        }
        if !wasOn { both { $0.set { $0.remoteAccess = false } } }
        check()
    }

    private func query(
        _ door: Door, _ key: String?, _ alpn: String?, _ from: Driver.From
    ) -> AdmissionQuery {
        var query = delegated.query(door, from, port: port)
        query.handshake = .init(alpn: alpn, fingerprint: key.map { Driver.key($0) })
        return query
    }

    /// The relayed connection up to ready; nil while it goes on.
    private func ready(
        _ id: ConnectionID, _ door: Door, _ key: String?, _ alpn: String?
    ) -> ReadyVerdict {
        let key = key.map { Driver.key($0) }
        if !relay.core.trust.verify(door: door, alpn: alpn, key: key) {
            relay.input { $0.connectionFailed(id, .untrusted, key: key, $1) }
            return .refuse(.unpaired)
        }
        return relay.input { $0.connectionReady(id, alpn: alpn, key: key, $1) }
    }

    /// One whole connection of each, up to a session or a kind 19 that asks for nothing.
    func connect(
        _ door: Door, _ key: String?, _ alpn: String?, _ from: Driver.From, _ hello: Hello?,
        _ calls: Driver.Calls, _ request: PairRequest? = PairRequest(method: "cancel", name: "x")
    ) -> Bool {
        port &+= 1
        let query = query(door, key, alpn, from)
        let (id, start) = relay.arrive(door, from)
        let decision = delegated.admit(query, calls)
        if case .refuse(let word) = start {
            return decision.map { $0 == .refuse(word) } ?? (last(query, hello, request) == .refused(word))
        }
        let own = ready(id, door, key, alpn)
        switch own {
        case .refuse(let word):
            return decision.map { $0 == .refuse(word) } ?? (last(query, hello, request) == .refused(word))
        case .goodbye(let goodbye):
            return decision.map { $0 == .goodbye(goodbye) }
                ?? (last(query, hello, request) == .goodbye(goodbye.reason))
        case .session(let floor):
            if let decision, decision != .session { return false }
            return last(query, hello, request) == enter(id, floor, hello)
        case .pairing:
            if let decision, decision != .pairing { return false }
            return exchange(id, query, request)
        }
    }

    /// The call that says what a connection became. A process that asks nothing before must know what it is.
    private func last(_ query: AdmissionQuery, _ hello: Hello?, _ request: PairRequest?) -> Driver.Outcome? {
        switch query.handshake?.alpn {
        case ALPN.pairing.rawValue:
            if case .refused(let word) = delegated.input({ $0.delegatedPairing(query, request, $1) }) {
                return .refused(word)
            }
            return nil
        case ALPN.session.rawValue: return delegated.register(query, hello: hello, cable: cable)
        default:
            // The API takes no other name for these calls.
            if case .refuse(let word) = delegated.ask(query) { return .refused(word) }
            return nil
        }
    }

    private func enter(_ id: ConnectionID, _ floor: Version?, _ hello: Hello?) -> Driver.Outcome {
        if let floor, !DeviceGate.admits(floor: floor, kind: hello == nil ? nil : .hello, hello: hello) {
            _ = relay.input { $0.gateRefused(id, $1) }
            return .goodbye("update")
        }
        return
            switch relay.input({
                $0.register(id, hello: hello, counters: SessionCounters(), cable: cable, $1)
            })
        {
        case .session(let view): .session(view.id)
        case .goodbye(let goodbye): .goodbye(goodbye.reason)
        case .refuse: .refused(.unpaired)
        }
    }

    private func exchange(_ id: ConnectionID, _ query: AdmissionQuery, _ request: PairRequest?) -> Bool {
        guard let request else {
            relay.input { $0.connectionFailed(id, .badMessage, $1) }
            return delegated.input { $0.delegatedPairing(query, nil, $1) } == .badMessage
        }
        relay.input { $0.pairingMessage(id, request, cable: cable, $1) }
        let own = relay.answer(to: id)
        if own != nil { answers += 1 }
        return delegated.deliver(query, request, cable: cable) == own
    }

    // MARK: - Random days

    func step(_ random: inout some RandomNumberGenerator) {
        pass(Double.random(in: 0...3, using: &random))
        let door = Door.allCases.randomElement(using: &random) ?? .home
        let key = ["A", "A", "B", "C", nil].randomElement(using: &random) ?? nil
        let from = TwoWaysTests.origins.randomElement(using: &random) ?? .lan
        let hello = TwoWaysTests.hellos.randomElement(using: &random) ?? nil
        let calls = Driver.Calls.allCases.randomElement(using: &random) ?? .all
        let device = ["tablet", "phone"].randomElement(using: &random) ?? ""
        cable =
            Int.random(in: 0..<4, using: &random) == 0
            ? .cable(CableFinding(device: device, plug: "3:17/9", interface: "usb0"))
            : .not(.notLinkLocal)
        switch Int.random(in: 0..<18, using: &random) {
        case 0, 1, 2, 16, 17: #expect(connect(door, key, "sill/1", from, hello, calls))
        case 3, 4, 5:
            let request = request(key, &random)
            #expect(connect(door, key, "sill-pair/1", from, hello, calls, request))
        case 6: #expect(connect(door, key, nil, from, hello, .combined))
        case 7: hold(door, from)
        case 8: if !held.isEmpty { goOn(held.removeFirst(), key, hello, &random) }
        case 9:
            let isRemote = Bool.random(using: &random)
            both { _ = $0.openWindow(remote: isRemote, replace: true) }
        case 10: if Bool.random(using: &random) { both { $0.remove(key ?? "B") } }
        case 11: change(&random)
        case 12:
            let failure = HandshakeFailure.allCases.randomElement(using: &random) ?? .http
            fail(door, from, failure)
        case 13, 14: both { driver in driver.input { $0.forgetLockouts(.all, actor: .service, $1) } }
        default:
            both { $0.unlock() }
            if let view = relay.core.sessions().randomElement(using: &random) {
                relay.input { $0.pairingWanted(view.id, $1) }
                _ = delegated.input { $0.delegatedPairingWanted(view.id, $1) }
            }
        }
        endWhatWasTold()
    }

    private func request(_ key: String?, _ random: inout some RandomNumberGenerator) -> PairRequest? {
        let name = key ?? "x"
        return switch Int.random(in: 0..<9, using: &random) {
        case 0, 1: relay.proof(name)
        case 2: relay.proof(name, "code")
        case 3: relay.wrongProof()
        case 4: PairRequest(method: "ask", name: name, cable: Bool.random(using: &random))
        case 5: PairRequest(method: "cancel", name: name)
        case 6: PairRequest(version: 2, method: "qr", name: name)
        case 7: PairRequest(method: "fax", name: name)
        default: nil
        }
    }

    private func pass(_ seconds: Double) {
        let time = relay.now + seconds
        both { $0.wait(until: time) }
        // What the doors' own deadlines would end.
        for late in held where relay.now - late.since > 8 { leave(late) }
        held.removeAll { relay.now - $0.since > 8 }
    }

    private func hold(_ door: Door, _ from: Driver.From) {
        guard held.count < 4, !held.contains(where: { $0.source == from.source }) else { return }
        port &+= 1
        let query = delegated.query(door, from, port: port)
        let (id, start) = relay.arrive(door, from)
        let decision = delegated.ask(query)
        switch start {
        case .refuse(let word): #expect(decision == .refuse(word))
        case .lookAgain: Issue.record("an interface that the table does not have")
        case .proceed:
            #expect(decision == .proceed)
            held.append(
                Held(relayed: id, query: query, source: from.source, since: relay.now, stage: .started))
        }
    }

    private func goOn(
        _ connection: Held, _ key: String?, _ hello: Hello?, _ random: inout some RandomNumberGenerator
    ) {
        var connection = connection
        var query = connection.query
        switch connection.stage {
        case .started:
            // Between the two the origin's word may have become another; B's and C's are one.
            let alpn = Bool.random(using: &random) ? ALPN.session.rawValue : ALPN.pairing.rawValue
            query.handshake = .init(alpn: alpn, fingerprint: key.map { Driver.key($0) })
            let admits = DoorPolicy.admits(
                query.door, relay.core.connections[connection.relayed]?.placement.origin ?? .lan,
                internet: relay.core.settings.effectiveInternet)
            if !admits { return leave(connection) }
            let own = ready(connection.relayed, query.door, key, alpn)
            let decision = delegated.ask(query)
            switch own {
            case .refuse(let word): #expect(decision == .refuse(word))
            case .goodbye(let goodbye): #expect(decision == .goodbye(goodbye))
            case .session:
                #expect(decision == .session)
                connection.stage = .gate(hello)
            case .pairing:
                #expect(decision == .pairing)
                connection.stage = .pairing
            }
            if case .started = connection.stage { return }
            held.append(
                Held(
                    relayed: connection.relayed, query: query, source: connection.source,
                    since: connection.since, stage: connection.stage))
        case .gate(let hello):
            let floor = relay.core.settings.floor
            let own = enter(connection.relayed, floor.isZero ? nil : floor, hello)
            #expect(delegated.register(query, hello: hello, cable: cable) == own)
        case .pairing:
            #expect(exchange(connection.relayed, query, request(key, &random)))
        }
    }

    private func leave(_ connection: Held) {
        relay.input { $0.connectionFailed(connection.relayed, .peerLeft, $1) }
        delegated.input { $0.delegatedFailed(connection.query, .peerLeft, key: nil, $1) }
    }

    private func fail(_ door: Door, _ from: Driver.From, _ failure: HandshakeFailure) {
        port &+= 1
        var query = delegated.query(door, from, port: port)
        let (id, start) = relay.arrive(door, from)
        query.handshake = nil
        if case .refuse(let word) = start { return #expect(delegated.ask(query) == .refuse(word)) }
        #expect(delegated.ask(query) == .proceed)
        relay.input { $0.connectionFailed(id, failure, $1) }
        delegated.input { $0.delegatedFailed(query, failure, key: nil, $1) }
    }

    private func change(_ random: inout some RandomNumberGenerator) {
        let bit = Int.random(in: 0..<5, using: &random)
        let isOn = Bool.random(using: &random)
        both {
            $0.set {
                switch bit {
                case 0: $0.requirePairing = isOn
                case 1: $0.internetAccess = isOn
                case 2: $0.minimumDeviceVersion = isOn ? "1.2" : "0"
                // More often on than off, or hardly anything happens there.
                default: $0.remoteAccess = isOn || bit == 4
                }
            }
        }
    }

    private func endWhatWasTold() {
        for view in relay.core.sessions() where view.goodbye != nil {
            relay.input { $0.sessionEnded(view.id, .goodbye, $1) }
            #expect(delegated.input { $0.deleteSession(view.id, $1) } == .done)
        }
    }

    /// Everything that anybody could see of the two is the same.
    func check(_ place: @autoclosure () -> String = "") {
        let (left, right) = (relay.core, delegated.core)
        #expect(sessions(left) == sessions(right), "\(place())")
        for door in Door.allCases {
            for word in RefusalWord.allCases {
                let own = left.counters.refusals(door, word)
                #expect(own == right.counters.refusals(door, word), "\(place()) \(door) \(word)")
            }
            #expect(left[door].backoff.count == right[door].backoff.count, "\(place())")
        }
        #expect(left.counters.goodbyes == right.counters.goodbyes, "\(place())")
        #expect(left.counters.pairings == right.counters.pairings, "\(place())")
        #expect(left.deviceCount == right.deviceCount, "\(place())")
        #expect(
            left.window(relay.moment)?.triesLeft == right.window(delegated.moment)?.triesLeft, "\(place())")
        let rows = relay.commits.suffix(8).flatMap(\.audit)
        #expect(rows == delegated.commits.suffix(8).flatMap(\.audit), "\(place())")
        #expect(relay.closings.map(\.1) == delegated.closings.map(\.1), "\(place())")
        #expect(delegated.goodbyes.isEmpty)
        both { $0.effects = [] }
    }

    private func sessions(_ core: Core) -> [String] {
        core.sessions().map {
            "\($0.id.text) \($0.fingerprint?.shortName ?? "") \($0.door) \($0.origin) \($0.route) \($0.cable) \($0.paired) "
                + "\($0.goodbye?.reason ?? "")"
        }
    }
}
