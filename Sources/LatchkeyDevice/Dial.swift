// SPDX-License-Identifier: Apache-2.0

internal import Wire

/// One dial, from its places to the first window list (06 B3). Pure: it is told what became of look-ups and connections,
/// and answers what to look up, connect and close next, so that a whole dial is the row of a table.
///
/// Places race each other as `DialRace` has it. The addresses of one name race in the same way, closer together: a name
/// whose IPv6 address leads nowhere must not cost its attempt.
struct Dial: Sendable {
    /// One place, as far as the rules look at it.
    struct Place: Sendable {
        /// What the failure is judged by.
        var address: SavedAddress
        /// A literal address; nil for a name, which is looked up.
        var ip: IPAddress?
        /// A person named this very place, so another key there is worth telling even on a local network.
        var isNamed = false
    }

    /// One connection of a dial.
    struct Connection: Sendable, Hashable {
        /// The index of its place.
        var place: Int
        /// Which of the place's addresses.
        var number: Int
    }

    /// What to do now.
    enum Step: Sendable, Equatable {
        /// Look up the name of this place.
        case resolve(Int)
        /// Connect there.
        case connect(Connection, IPAddress)
        /// This one has won: begin what it was opened for.
        case begin(Connection)
        /// Close it; its end is not reported any more.
        case close(Connection)
    }

    /// How it stands.
    enum Outcome: Sendable, Equatable {
        case running
        /// The host serves this connection.
        case served(Connection)
        case failed(DialFailure)
    }

    /// How the attempt at a place stands.
    enum State: Sendable, Equatable {
        /// Its turn has not come.
        case waiting
        case underWay
        /// It was ready first; until then the others were too.
        case won
        /// Another one was.
        case givenUp
        /// How it ended, and what that says about the host; nil when it does not count.
        case ended(AttemptEnd, DialFailure?)
    }

    /// The attempt at one place.
    struct Attempt: Sendable {
        /// When it began and ended; nil before.
        fileprivate(set) var begunAt: MonotonicTime?
        fileprivate(set) var endedAt: MonotonicTime?
        fileprivate(set) var state = State.waiting
        /// Known once its name has been looked up.
        fileprivate var addresses: [IPAddress] = []
        fileprivate var race: DialRace?
        fileprivate var ends: [AttemptEnd] = []
        /// What is known of the ways its connections took.
        fileprivate var tunnels: [Bool?] = []

        /// False when its ways are known to have used no tunnel; nil otherwise, since no more is asked.
        fileprivate var usedTunnel: Bool? {
            !tunnels.isEmpty && tunnels.allSatisfy { $0 == false } ? false : nil
        }
    }

    /// The addresses of one name; RFC 8305 section 5 has the delay.
    static let addressPace = DialRace.Pace(stagger: .milliseconds(250))
    /// More addresses of one name than this are not tried.
    static let addressLimit = 16

    private let places: [Place]
    private let isSequential: Bool
    private let stopsAtAnotherKey: Bool
    private var race: DialRace
    private var winner: Connection?
    private var servedUntil: MonotonicTime?
    /// One for each place.
    private(set) var attempts: [Attempt]
    /// How it stands.
    private(set) var outcome = Outcome.running

    /// A dial that begins now; `advance` makes its first step.
    ///
    /// `isSequential`: pairing, one connection at a time. `stopsAtAnotherKey`: the places are one row of the network, and
    /// what shows another key is not to be dialled a second time.
    init(
        _ places: [Place], isSequential: Bool = false, stopsAtAnotherKey: Bool = false,
        pace: DialRace.Pace = .dial, at now: MonotonicTime
    ) {
        self.places = places
        self.isSequential = isSequential
        self.stopsAtAnotherKey = stopsAtAnotherKey
        race = DialRace(count: places.count, isSequential: isSequential, pace: pace, at: now)
        attempts = places.map { _ in Attempt() }
    }

    /// When to call `advance` next; nil when the dial is over.
    var deadline: MonotonicTime? {
        guard outcome == .running else { return nil }
        if let servedUntil { return servedUntil }
        return ([race.deadline] + attempts.map { $0.state == .underWay ? $0.race?.deadline : nil })
            .compactMap { $0 }.min()
    }

    /// Time passed, or the dial begins.
    mutating func advance(at now: MonotonicTime) -> [Step] {
        guard outcome == .running else { return [] }
        if let winner {
            guard let servedUntil, now >= servedUntil else { return [] }
            return [.close(winner)] + lose(winner, .silent, at: now)
        }
        var steps: [Step] = []
        for index in attempts.indices where attempts[index].state == .underWay {
            let due = attempts[index].race?.advance(at: now) ?? []
            steps += connect(index, due)
        }
        let due = race.advance(at: now)
        return steps + follow(due, at: now)
    }

    /// What looking up the name of a place gave.
    mutating func resolved(
        _ place: Int, _ answer: Result<[IPAddress], LookupFailure>, at now: MonotonicTime
    ) -> [Step] {
        guard outcome == .running, attempts[place].state == .underWay, attempts[place].race == nil else {
            return []
        }
        switch answer {
        case .failure(let failure): return end(place, failure.end, at: now)
        case .success(let found) where found.isEmpty: return end(place, .noSuchName, at: now)
        case .success(let found): return open(place, found, at: now)
        }
    }

    /// Whether a connection that has begun goes through a tunnel, once that is known.
    mutating func path(of connection: Connection, usesTunnel: Bool?) {
        guard attempts.indices.contains(connection.place) else { return }
        attempts[connection.place].tunnels.append(usesTunnel)
    }

    /// A connection's handshake is over, with a key that is accepted: the others are given up.
    mutating func ready(_ connection: Connection, at now: MonotonicTime) -> [Step] {
        let place = connection.place
        guard outcome == .running, winner == nil, attempts[place].state == .underWay else {
            return [.close(connection)]
        }
        let siblings = attempts[place].race?.ready(connection.number) ?? []
        attempts[place].state = .won
        winner = connection
        servedUntil = now + DialRace.servedLimit
        let others = race.ready(place)
        return connect(place, siblings) + follow(others, at: now) + [.begin(connection)]
    }

    /// The first window list has come.
    mutating func served(_ connection: Connection, at now: MonotonicTime) {
        guard outcome == .running, winner == connection else { return }
        attempts[connection.place].endedAt = now
        outcome = .served(connection)
    }

    /// A connection ended by itself.
    mutating func ended(_ connection: Connection, _ end: AttemptEnd, at now: MonotonicTime) -> [Step] {
        guard outcome == .running else { return [] }
        let place = connection.place
        if winner == connection { return lose(connection, end, at: now) }
        guard winner == nil, attempts[place].state == .underWay else { return [] }
        attempts[place].ends.append(end)
        if stopsAtAnotherKey, end == .pinMismatch {
            let others = live(place).filter { $0 != connection }.map { Step.close($0) }
            return others + self.end(place, end, at: now)
        }
        let next = attempts[place].race?.ended(connection.number, at: now) ?? []
        guard attempts[place].race?.outcome == .failed else { return connect(place, next) }
        return self.end(place, mostTelling(attempts[place].ends, of: place), at: now)
    }

    // MARK: Inside

    private mutating func follow(_ raceSteps: [DialRace.Step], at now: MonotonicTime) -> [Step] {
        var steps: [Step] = []
        for step in raceSteps {
            switch step {
            case .start(let place):
                attempts[place].state = .underWay
                attempts[place].begunAt = now
                if let ip = places[place].ip {
                    steps += open(place, [ip], at: now)
                } else {
                    steps.append(.resolve(place))
                }
            case .cancel(let place):
                steps += live(place).map { .close($0) }
                attempts[place].endedAt = now
                attempts[place].state =
                    winner == nil ? .ended(.silent, failure(.silent, at: place)) : .givenUp
            }
        }
        if race.outcome == .failed, winner == nil { conclude() }
        return steps
    }

    private mutating func open(_ place: Int, _ found: [IPAddress], at now: MonotonicTime) -> [Step] {
        let found = Array(found.prefix(Self.addressLimit))
        attempts[place].addresses = found
        var race = DialRace(
            count: found.count, isSequential: isSequential, pace: Self.addressPace, at: now)
        let steps = race.advance(at: now)
        attempts[place].race = race
        return connect(place, steps)
    }

    private func connect(_ place: Int, _ steps: [DialRace.Step]) -> [Step] {
        steps.map { step in
            switch step {
            case .start(let number):
                .connect(Connection(place: place, number: number), attempts[place].addresses[number])
            case .cancel(let number): .close(Connection(place: place, number: number))
            }
        }
    }

    private func live(_ place: Int) -> [Connection] {
        (attempts[place].race?.underWay ?? []).map { Connection(place: place, number: $0) }
    }

    /// The attempt at a place ended without having been ready.
    private mutating func end(_ place: Int, _ end: AttemptEnd, at now: MonotonicTime) -> [Step] {
        attempts[place].endedAt = now
        attempts[place].state = .ended(end, failure(end, at: place))
        if stopsAtAnotherKey, end == .pinMismatch {
            let steps = attempts.indices.filter { attempts[$0].state == .underWay }.flatMap { other in
                attempts[other].endedAt = now
                attempts[other].state = .givenUp
                return live(other).map { Step.close($0) }
            }
            outcome = .failed(.wrongHost)
            return steps
        }
        let next = race.ended(place, at: now)
        return follow(next, at: now)
    }

    /// The winner was turned away, or was never served.
    private mutating func lose(_ winner: Connection, _ end: AttemptEnd, at now: MonotonicTime) -> [Step] {
        attempts[winner.place].endedAt = now
        attempts[winner.place].state = .ended(end, failure(end, at: winner.place))
        conclude()
        return []
    }

    private mutating func conclude() {
        outcome = .failed(
            DialFailure.worst(
                of: attempts.map { if case .ended(_, let failure) = $0.state { failure } else { nil } }))
    }

    private func failure(_ end: AttemptEnd, at place: Int) -> DialFailure? {
        if end == .pinMismatch, places[place].isNamed || stopsAtAnotherKey { return .wrongHost }
        return DialFailure(end, at: places[place].address, usedTunnel: attempts[place].usedTunnel)
    }

    private func mostTelling(_ ends: [AttemptEnd], of place: Int) -> AttemptEnd {
        ends.min { a, b in
            (failure(a, at: place)?.rawValue ?? .max) < (failure(b, at: place)?.rawValue ?? .max)
        } ?? .silent
    }
}

/// A look-up that gave no address.
struct LookupFailure: Error, Sendable, Equatable {
    /// What that is to the attempt.
    var end: AttemptEnd
}
