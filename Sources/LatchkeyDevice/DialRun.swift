// SPDX-License-Identifier: Apache-2.0

internal import CryptoEngine
internal import Sockets
internal import Wire

/// Carries one `Dial` out: looks up, connects, keeps the time, closes what lost.
struct DialRun: Sendable {
    /// One place to dial, and whose key may answer there; nil: any key, the proof that follows is bound to it.
    struct Target: Sendable {
        var place: DialCandidate
        var pins: [Fingerprint]?
    }

    /// What came of it.
    struct Result: Sendable {
        /// How each place ended, in dial order.
        var report: DialReport
        /// The connection that won, and its place; nil when none did.
        var connection: HostConnection?
        var place: Int?
        /// Whether its way used a tunnel; nil when nobody knows.
        var usedTunnel: Bool?
    }

    /// This device's key and certificate.
    let identity: TLSClientContext
    /// In dial order, ports and all.
    let targets: [Target]
    let alpn: ALPN
    /// The hello of a session; nil for a pairing, whose dial ends when the handshake does.
    var hello: Hello?
    var pace = DialRace.Pace.dial
    /// The places are one row of the network.
    var isRow = false
    /// Kind 9, sent at once on the connection that wins.
    var viewport: [UInt8]?
    /// The interfaces as they are.
    let network: DeviceNetwork
    /// What a message may have at most.
    let cap: @Sendable (MessageHeader) -> Int
    /// Told of what comes on the connections.
    var onNote: @Sendable (SessionNote) -> Void = { _ in }
    /// Told of the place and key of the winner, before it is used.
    var onWinner: @Sendable (Int, Fingerprint) -> Void = { _, _ in }
    /// Told of a key that turned this device away after it had been accepted here.
    var onRevoked: @Sendable (Fingerprint) -> Void = { _ in }

    private enum Event: Sendable {
        case resolved(Int, Swift.Result<[IPAddress], LookupFailure>)
        case ready(Dial.Connection)
        case served(Dial.Connection)
        case ended(Dial.Connection, DeviceError)
        case timer
    }

    private struct State {
        var dial: Dial
        let begunAt: MonotonicTime
        var connections: [Dial.Connection: HostConnection] = [:]
        var tunnels: [Dial.Connection: Bool?] = [:]
        var errors: [Int: [DeviceError]] = [:]
        /// When the earliest timer rings.
        var timer: MonotonicTime?
    }

    /// Runs until a connection is served (or, without a hello, ready), none can be any more, or the task is cancelled.
    func run() async -> Result {
        await withTaskGroup(of: Event.self) { group in
            let now = monotonicNow()
            var state = State(dial: makeDial(at: now), begunAt: now)
            await perform(state.dial.advance(at: now), &state, &group)
            while state.dial.outcome == .running, !Task.isCancelled {
                arm(&state, &group)
                guard let event = await group.next() else { break }
                let steps = take(event, &state)
                await perform(steps, &state, &group)
            }
            group.cancelAll()
            let result = result(state, isCancelled: Task.isCancelled)
            for (_, connection) in state.connections where connection !== result.connection {
                await connection.close()
            }
            return result
        }
    }

    private func makeDial(at now: MonotonicTime) -> Dial {
        let places = targets.map { target in
            let endpoint = target.place.endpoint
            return Dial.Place(
                address: target.place.address, ip: endpoint.scoped ?? IPAddress(endpoint.host),
                isNamed: target.place.isNamed)
        }
        return Dial(
            places, isSequential: hello == nil, stopsAtAnotherKey: isRow, pace: pace, at: now)
    }

    private func arm(_ state: inout State, _ group: inout TaskGroup<Event>) {
        guard let due = state.dial.deadline, state.timer.map({ due < $0 }) ?? true else { return }
        state.timer = due
        group.addTask {
            // Cancelled only when the dial is over.
            _ = try? await Task.sleep(for: max(.zero, due - monotonicNow()))
            return .timer
        }
    }

    private func take(_ event: Event, _ state: inout State) -> [Dial.Step] {
        let now = monotonicNow()
        switch event {
        case .resolved(let place, let answer): return state.dial.resolved(place, answer, at: now)
        case .ready(let connection): return state.dial.ready(connection, at: now)
        case .served(let connection):
            state.dial.served(connection, at: now)
            return []
        case .ended(let connection, let error):
            state.errors[connection.place, default: []].append(error)
            return state.dial.ended(connection, AttemptEnd(error), at: now)
        case .timer:
            state.timer = nil
            return state.dial.advance(at: now)
        }
    }

    private func perform(
        _ steps: [Dial.Step], _ state: inout State, _ group: inout TaskGroup<Event>
    ) async {
        for step in steps {
            switch step {
            case .resolve(let place):
                let name = targets[place].place.endpoint.host
                group.addTask { await Self.lookUp(name, place) }
            case .connect(let id, let ip): connect(id, ip, &state, &group)
            case .begin(let id): await begin(id, state, &group)
            case .close(let id): await state.connections.removeValue(forKey: id)?.close()
            }
        }
    }

    private static func lookUp(_ name: String, _ place: Int) async -> Event {
        let found = await blocking(within: DialRace.connectLimit) {
            () -> Swift.Result<[IPAddress], LookupFailure> in
            do throws(ResolveError) {
                return .success(try resolve(name))
            } catch {
                return .failure(LookupFailure(end: error.isUnknownName ? .noSuchName : .nameFailed))
            }
        }
        return .resolved(place, found ?? .failure(LookupFailure(end: .silent)))
    }

    private func connect(
        _ id: Dial.Connection, _ ip: IPAddress, _ state: inout State, _ group: inout TaskGroup<Event>
    ) {
        let target = targets[id.place]
        let port = UInt16(clamping: target.place.endpoint.port ?? defaultRemotePort)
        let address = SocketAddress(ip: ip, port: port)
        let local = target.place.interface.flatMap { name in
            Self.wildcard(ip.family).map { LocalEnd(ip: $0, interface: name) }
        }
        do {
            let socket = try Socket.tcpConnect(address, from: local, nonblocking: true)
            applyDoorOptions(socket, userTimeout: nil)
            let connection = try HostConnection(
                SharedSocket(socket), to: address, identity: identity, alpn: alpn, pins: target.pins,
                cap: cap, onNote: onNote)
            state.connections[id] = connection
            note(network.usesTunnel(from: connection.local), id, &state)
            group.addTask {
                // The dial keeps the time; this is the last resort.
                let failure = await connection.open(within: DialRace.limit)
                return failure.map { .ended(id, $0) } ?? .ready(id)
            }
        } catch let error as SocketError {
            // Where no way leads, and where a better one would have to be waited for, it ends at once.
            if error.isUnreachable { note(network.usesTunnelWithoutWay, id, &state) }
            let failure = ConnectionFailure.meaning(of: error, ConnectionFailure.Facts(alpn: alpn))
            group.addTask { .ended(id, failure) }
        } catch {
            let failure = DeviceError(.storage, "TLS cannot be set up: \(error)")
            group.addTask { .ended(id, failure) }
        }
    }

    private func note(_ usesTunnel: Bool?, _ id: Dial.Connection, _ state: inout State) {
        state.tunnels[id] = usesTunnel
        state.dial.path(of: id, usesTunnel: usesTunnel)
    }

    private static func wildcard(_ family: IPAddress.Family) -> IPAddress? {
        IPAddress(bytes: [UInt8](repeating: 0, count: family == .v6 ? 16 : 4))
    }

    private func begin(
        _ id: Dial.Connection, _ state: State, _ group: inout TaskGroup<Event>
    ) async {
        guard let connection = state.connections[id] else { return }
        let key = await connection.hostFingerprint
        if let key { onWinner(id.place, key) }
        guard let hello else {
            group.addTask { .served(id) }
            return
        }
        let (onRevoked, viewport) = (onRevoked, viewport)
        group.addTask {
            guard
                var failure = await connection.beginSession(
                    hello, viewport: viewport, servedWithin: DialRace.servedLimit)
            else { return .served(id) }
            failure.summary = await connection.summary()
            if failure.code == .revoked, let key { onRevoked(key) }
            await connection.close()
            return .ended(id, failure)
        }
    }

    // MARK: The result

    private func result(_ state: State, isCancelled: Bool) -> Result {
        let now = monotonicNow()
        let attempts = state.dial.attempts.indices.map { attempt($0, state) }
        var error: DeviceError?
        var failure: DialFailure?
        var winner: Dial.Connection?
        switch state.dial.outcome {
        case .served(let id): winner = id
        case .failed(let found):
            failure = found
            error = Self.error(found, attempts)
        case .running: error = DeviceError(.closed, "the dial was given up")
        }
        if isCancelled, winner == nil { error = DeviceError(.closed, "the dial was given up") }
        return Result(
            report: DialReport(
                attempts: attempts, winner: winner?.place, took: now - state.begunAt, failure: failure,
                error: error),
            connection: winner.flatMap { state.connections[$0] }, place: winner?.place,
            usedTunnel: winner.flatMap { state.tunnels[$0] ?? nil })
    }

    private func attempt(_ index: Int, _ state: State) -> DialReport.Attempt {
        let attempt = state.dial.attempts[index]
        let place = targets[index].place
        var error: DeviceError?
        var failure: DialFailure?
        let outcome: DialReport.Attempt.Outcome
        switch attempt.state {
        case .waiting: outcome = .notTried
        case .underWay, .givenUp: outcome = .givenUp
        case .won: outcome = .connected
        case .ended(let end, let found):
            outcome = found == nil ? .ignored : .failed
            failure = found
            error = state.errors[index]?.first { AttemptEnd($0) == end } ?? Self.words(end, place.endpoint)
        }
        return DialReport.Attempt(
            endpoint: place.endpoint, door: place.door, kind: place.address.kind,
            begunAfter: attempt.begunAt.map { $0 - state.begunAt },
            endedAfter: attempt.endedAt.map { $0 - state.begunAt }, outcome: outcome,
            failure: failure, error: error.map { Self.error($0, as: failure, place.endpoint) })
    }

    /// What no connection has said itself.
    private static func words(_ end: AttemptEnd, _ endpoint: Endpoint) -> DeviceError {
        switch end {
        case .noSuchName: DeviceError(.nameNotFound, "\(endpoint.host) has no address")
        case .nameFailed, .nameDenied: DeviceError(.nameNotFound, "\(endpoint.host) cannot be looked up")
        default: DeviceError(.noAnswer, "\(endpoint) did not answer in time")
        }
    }

    /// An attempt's own error, under the word that 06 B3 has for it.
    private static func error(
        _ error: DeviceError, as failure: DialFailure?, _ endpoint: Endpoint
    ) -> DeviceError {
        switch failure {
        case .vpnOff:
            DeviceError(
                .vpnOff,
                "\(endpoint) is reached by a VPN alone, and this device uses none now; switch it on")
        // The host's other goodbyes, and a connection that broke off before the first window list, count as refused.
        case .refused where error.code == .lost: DeviceError(.refused, error.message, reachedPeer: true)
        default: error
        }
    }

    private static func error(_ failure: DialFailure, _ attempts: [DialReport.Attempt]) -> DeviceError {
        if let error = attempts.first(where: { $0.failure == failure })?.error { return error }
        return DeviceError(failure.code, "the host did not answer at any of its addresses")
    }
}
