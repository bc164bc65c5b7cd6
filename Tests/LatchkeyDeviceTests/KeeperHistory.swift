// SPDX-License-Identifier: Apache-2.0

import Wire

@testable import LatchkeyDevice

/// A kept session as it is lived: the keeper and its dials are the real ones, the clock, the browser, the resolver and the
/// sockets are tables.
struct KeeperHistory {
    /// What a host says on a connection that is served.
    struct Talk: Sendable {
        enum Info: Sendable { case issued(Double), bad, none }

        var launch: String? = "L"
        var info = Info.issued(100)
        /// After the window list.
        var infoAfter = 0.0
        /// It ends after that, if it does.
        var endsAfter: Double?
        var goodbye: SessionGoodbye?
    }

    /// What happens by itself.
    enum Happening: Sendable {
        case rows([BrowsedRow])
        case path
        /// The session that is served ends.
        case ends(SessionGoodbye?)
        case info(Int, VerifiedHostInfo?)
        case list(Int, String?)
        case connectionEnds(Int, SessionGoodbye?)
        case fencePassed(Int)
    }

    static let host = SavedHostListTests.host(1)

    var network = SimulatedNetwork()
    /// By address; a host that says nothing special.
    var talks: [String: Talk] = [:]
    /// The remote addresses, best first.
    var remote = ["1.0.0.1"]
    /// How long the answer to a fence takes; nil: it never comes.
    var fenceAfter: Double? = 0.05
    var agenda: [(at: Double, what: Happening)] = []
    /// What was told and done: `103.0 dialling`.
    private(set) var log: [String] = []
    /// Each dial: `103.0 1.0.0.1`.
    private(set) var dialled: [String] = []
    private(set) var current = 0
    private(set) var closed: [Int] = []

    private var keeper: SessionKeeper
    private var now: Double
    private var dials: [Int: (dial: Dial, run: SimulatedDial)] = [:]

    init(
        door: HostDoor = .remote, at start: Double = 0, launch: String? = "L", newestInfo: Double = 100,
        facts change: (inout SessionKeeper.Facts) -> Void = { _ in }
    ) {
        var facts = SessionKeeper.Facts(host: Self.host)
        change(&facts)
        var live = SessionKeeper.Live(number: 0, door: door)
        live.launchID = launch
        live.newestInfo = newestInfo
        keeper = SessionKeeper(facts, live: live, at: .seconds(start))
        now = start
    }

    /// A host info of the host, as a connection would have it.
    static func info(_ issuedAt: Double) -> VerifiedHostInfo? {
        host.pin.map { pin in
            let info = HostInfo(
                macID: pin.id.text, name: "Desk", issuedAt: issuedAt, remoteAccess: true, remotePort: 7455,
                internet: false, addresses: [])
            return VerifiedHostInfo(info: info, signer: pin)
        }
    }

    /// Lives until then, or until nothing happens any more.
    mutating func live(until end: Double) {
        while let time = next, time <= end {
            now = time
            perform(step())
        }
        now = end
    }

    private var next: Double? {
        let due = keeper.deadline(at: .seconds(now)).map { Double($0.nanoseconds) / 1e9 }
        let times = [due, agenda.map(\.at).min()] + dials.values.map { $0.run.next($0.dial) }
        return times.compactMap { $0 }.min()
    }

    private mutating func step() -> [SessionKeeper.Effect] {
        let at = MonotonicTime.seconds(now)
        if let index = agenda.indices.filter({ agenda[$0].at <= now }).min(by: {
            agenda[$0].at < agenda[$1].at
        }) {
            switch agenda.remove(at: index).what {
            case .rows(let rows): return keeper.listed(rows, at: at)
            case .path: return keeper.pathHasChanged(at: at)
            case .ends(let goodbye): return keeper.ended(current, goodbye: goodbye, at: at)
            case .info(let number, let info): return keeper.heard(info: info, on: number, at: at)
            case .list(let number, let launch):
                var facts = WindowListFacts(Array(HostLink.windowList.utf8))
                facts?.launchID = launch
                return facts.map { keeper.heard(windowList: $0, on: number, at: at) } ?? []
            case .connectionEnds(let number, let goodbye):
                return closed.contains(number) ? [] : keeper.ended(number, goodbye: goodbye, at: at)
            case .fencePassed(let number): return keeper.fencePassed(number, at: at)
            }
        }
        for number in dials.keys.sorted() {
            guard var (dial, run) = dials[number], let due = run.next(dial), due <= now else { continue }
            _ = run.step(&dial, until: now)
            dials[number] = (dial, run)
            return outcome(of: number, dial, run, at: at)
        }
        return keeper.advance(at: at)
    }

    private mutating func outcome(
        of number: Int, _ dial: Dial, _ run: SimulatedDial, at: MonotonicTime
    ) -> [SessionKeeper.Effect] {
        switch dial.outcome {
        case .running: return []
        case .failed(let failure):
            dials[number] = nil
            return keeper.failed(number, failure, goodbye: goodbye(dial), at: at)
        case .served(let id):
            dials[number] = nil
            let talk = talks[run.places[id.place]] ?? Talk()
            let isRemote = remote.contains(run.places[id.place])
            var later: [(at: Double, what: Happening)] = [(now, .list(number, talk.launch))]
            switch talk.info {
            case .issued(let time): later.append((now + talk.infoAfter, .info(number, Self.info(time))))
            case .bad: later.append((now + talk.infoAfter, .info(number, nil)))
            case .none: break
            }
            if let after = talk.endsAfter {
                later.append((now + after, .connectionEnds(number, talk.goodbye)))
            }
            agenda = later + agenda
            return keeper.served(number, key: Self.host.pin, door: isRemote ? .remote : .home, at: at)
        }
    }

    private func goodbye(_ dial: Dial) -> SessionGoodbye? {
        for attempt in dial.attempts {
            if case .ended(.goodbye(let reason), _) = attempt.state {
                return SessionGoodbye(Goodbye(reason: reason))
            }
        }
        return nil
    }

    private mutating func perform(_ effects: [SessionKeeper.Effect]) {
        for effect in effects {
            switch effect {
            case .dialRemote(let number): begin(number, remote, pace: .dial, isRow: false)
            case .dialRow(let number, let row, let interface, let isMove):
                let pace = HomeComing.pace(isWired: interface != nil, isMove: isMove)
                // A wired interface leads elsewhere than the routes do.
                let places = row.endpoints.map { interface == nil ? $0.host : $0.host + "0" }
                begin(number, places, pace: pace, isRow: true)
            case .giveUp(let number):
                dials[number] = nil
                closed.append(number)
            case .fence(let number):
                note("fence")
                if let fenceAfter { agenda.append((now + fenceAfter, .fencePassed(number))) }
            case .liftFence: note("lift")
            case .carryOn(let number):
                closed.append(current)
                current = number
            case .tell(let change):
                note(
                    [change.kind.rawValue, change.row, change.reason].compactMap { $0 }.joined(separator: " ")
                )
            case .end: note("end")
            }
        }
    }

    private mutating func begin(_ number: Int, _ places: [String], pace: DialRace.Pace, isRow: Bool) {
        dialled += places.map { "\(hundredths(now)) \($0)" }.prefix(1)
        var dial = Dial(
            places.map { DialTests.place($0) }, stopsAtAnotherKey: isRow, pace: pace, at: .seconds(now))
        var run = SimulatedDial(network: network, at: now)
        run.places = places
        run.follow(dial.advance(at: .seconds(now)), &dial)
        dials[number] = (dial, run)
    }

    private mutating func note(_ text: String) { log.append("\(hundredths(now)) \(text)") }
}
