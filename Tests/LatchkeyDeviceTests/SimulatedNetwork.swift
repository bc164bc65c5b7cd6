// SPDX-License-Identifier: Apache-2.0

import Wire

@testable import LatchkeyDevice

/// A resolver, a dialer and a clock made of tables: what each name means and who answers at each address, and when.
struct SimulatedNetwork: Sendable {
    /// What happens to one connection.
    enum Answer: Sendable {
        /// It ends so, after so many seconds.
        case ends(AttemptEnd, after: Double)
        /// Nothing at all.
        case silence
        /// Its handshake is over after `ready`, and its first window list is there so many seconds later.
        case serves(ready: Double, list: Double)
        /// Its handshake is over, and then it ends.
        case leaves(ready: Double, AttemptEnd, after: Double)
    }

    /// Names that can be looked up.
    var names: [String: (answer: Result<[String], LookupFailure>, after: Double)] = [:]
    /// Who answers; nobody anywhere else.
    var answers: [String: Answer] = [:]
    /// Addresses whose way is known to use a tunnel, or not to.
    var tunnels: [String: Bool] = [:]
}

/// A time as histories show it.
func hundredths(_ seconds: Double) -> Double { Double(Int(seconds * 100 + 0.5)) / 100 }

/// One dial as it is lived: its clock, what is still to come, and what has been done.
struct SimulatedDial {
    let network: SimulatedNetwork
    /// What was done when: `1.0 connect 10.0.0.1`.
    private(set) var log: [String] = []
    private(set) var now: Double

    private enum Event {
        case resolved(Int), ready(Dial.Connection), served(Dial.Connection), ended(
            Dial.Connection, AttemptEnd)
    }
    private var events: [(at: Double, event: Event)] = []
    private var names: [Int: String] = [:]
    private var addresses: [Dial.Connection: String] = [:]
    /// The names of the dial's places, for look-ups.
    var places: [String] = []

    init(network: SimulatedNetwork, at now: Double) {
        self.network = network
        self.now = now
    }

    /// When something is to happen; nil: never.
    func next(_ dial: Dial) -> Double? {
        let due = dial.deadline.map { Double($0.nanoseconds) / 1e9 }
        return ([due] + events.map { $0.at }).compactMap { $0 }.min()
    }

    /// Lives to the next thing that happens; false when that is after `end` or never.
    mutating func step(_ dial: inout Dial, until end: Double) -> Bool {
        guard let time = next(dial), time <= end else { return false }
        now = time
        guard
            let index = events.indices.filter({ events[$0].at <= time }).min(by: {
                events[$0].at < events[$1].at
            })
        else {
            follow(dial.advance(at: .seconds(time)), &dial)
            return true
        }
        let at = MonotonicTime.seconds(time)
        switch events.remove(at: index).event {
        case .resolved(let place):
            let answer = network.names[name(place, dial)]?.answer ?? .failure(LookupFailure(end: .noSuchName))
            follow(dial.resolved(place, answer.map { $0.compactMap { IPAddress($0) } }, at: at), &dial)
        case .ready(let id):
            log("ready", addresses[id])
            follow(dial.ready(id, at: at), &dial)
        case .served(let id):
            log("served", addresses[id])
            dial.served(id, at: at)
        case .ended(let id, let end):
            log("ended", addresses[id])
            follow(dial.ended(id, end, at: at), &dial)
        }
        return true
    }

    mutating func follow(_ steps: [Dial.Step], _ dial: inout Dial) {
        for step in steps {
            switch step {
            case .resolve(let place):
                log("resolve", name(place, dial))
                let after = network.names[name(place, dial)]?.after ?? 0
                if after.isFinite { events.append((now + after, .resolved(place))) }
            case .connect(let id, let ip): connect(id, "\(ip)", &dial)
            case .begin(let id): log("begin", addresses[id])
            case .close(let id):
                log("close", addresses[id])
                events.removeAll { event in
                    switch event.event {
                    case .ready(id), .served(id): true
                    case .ended(let other, _): other == id
                    default: false
                    }
                }
            }
        }
    }

    private func name(_ place: Int, _ dial: Dial) -> String {
        places.indices.contains(place) ? places[place] : ""
    }

    private mutating func connect(_ id: Dial.Connection, _ ip: String, _ dial: inout Dial) {
        log("connect", ip)
        addresses[id] = ip
        dial.path(of: id, usesTunnel: network.tunnels[ip])
        switch network.answers[ip] ?? .silence {
        case .silence: break
        case .ends(let end, let after): events.append((now + after, .ended(id, end)))
        case .serves(let ready, let list):
            events.append((now + ready, .ready(id)))
            events.append((now + ready + list, .served(id)))
        case .leaves(let ready, let end, let after):
            events.append((now + ready, .ready(id)))
            events.append((now + ready + after, .ended(id, end)))
        }
    }

    private mutating func log(_ what: String, _ who: String?) {
        log.append("\(hundredths(now)) \(what) \(who ?? "?")")
    }
}
