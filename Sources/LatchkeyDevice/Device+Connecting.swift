// SPDX-License-Identifier: Apache-2.0

internal import Sockets
internal import Wire

extension Device {
    /// The places of a saved host, in dial order on the networks that this device is on now (06 B2).
    public func candidates(for host: SavedHost) -> [DialCandidate] {
        candidates(for: host, on: DeviceNetwork.read())
    }

    func candidates(for host: SavedHost, on network: DeviceNetwork) -> [DialCandidate] {
        DialOrder.addresses(of: host, subnets: network.subnets).compactMap {
            try? DialCandidate($0, of: host)
        }
    }

    /// Opens a session: pinned to the saved key, and returned once the host has sent its first window list.
    ///
    /// Dials `places`, or else the home network first and then what is saved (06 B2), a second apart or as soon as one has ended, each for at most 10 s and all
    /// for at most 20 s; the first that shows the pinned key is it. A saved address that names one machine anywhere may
    /// also show the key of a host of the same name that was paired since (06 B1): the session is then that one's, and
    /// the old record is gone. Throws the most telling failure of all (06 B3): `wrongHost`, `revoked`, `remoteOff`,
    /// `busy`, `goodbye`, `refused`, `vpnOff`, `nameNotFound`, `localNetwork`, `notSill`, `noAnswer`; `noAddress` when
    /// there is nothing to dial; `closed` when its task is cancelled.
    public func connect(
        to host: SavedHost, at places: [DialCandidate]? = nil
    ) async throws(DeviceError) -> Session {
        let (session, report) = try await openSession(to: host, at: places)
        if let session { return session }
        throw report.error ?? DeviceError(.noAnswer, "\(host.name) did not answer at any of its addresses")
    }

    /// Dials as ``connect(to:at:)`` does, tells how each place ended, and leaves again. Throws `noAddress` alone.
    public func dial(to host: SavedHost, at places: [DialCandidate]? = nil) async throws(DeviceError)
        -> DialReport
    {
        let (session, report) = try await openSession(to: host, at: places)
        await session?.close()
        return report
    }

    private func openSession(
        to host: SavedHost, at places: [DialCandidate]?
    ) async throws(DeviceError) -> (Session?, DialReport) {
        let network = await blocking { DeviceNetwork.read() } ?? DeviceNetwork(nil)
        let places: [DialCandidate] =
            if let places { places } else {
                await listedPlaces(of: host) + candidates(for: host, on: network)
            }
        guard !places.isEmpty else {
            throw DeviceError(.noAddress, "\(host.name) has no saved address; say where it is (host:port)")
        }
        let others = try store.hosts().hosts
        let targets = try places.map { place throws(DeviceError) in
            try target(place, of: host, among: others)
        }
        let (session, report) = await open(host, run(targets, on: network, host: host))
        if let session, let index = report.winner { note(session, at: targets[index].place) }
        return (session, report)
    }

    /// Where to dial a host, and the keys that count there.
    func target(
        _ place: DialCandidate, of host: SavedHost, among others: [SavedHost] = []
    ) throws(DeviceError) -> DialRun.Target {
        guard let pin = host.pin else { throw DeviceError(.unknownHost, "this host has no pin") }
        var place = place
        place.endpoint = place.endpoint.with(defaultPort: host.remotePort)
        let renewed =
            place.isSaved
            ? SetUpAgain.acceptable(
                for: host, at: place.address, among: others, keepLoopback: store.keepLoopback) : []
        return DialRun.Target(place: place, pins: [pin] + renewed.compactMap(\.pin))
    }

    /// A dial for a session with `host`.
    func run(_ targets: [DialRun.Target], on network: DeviceNetwork, host: SavedHost) -> DialRun {
        let store = store
        return DialRun(
            identity: identity, targets: targets, alpn: .session, hello: hello, network: network,
            cap: { header in MessageCaps.hostToDevice(header.kind) },
            onNote: { note in
                guard case .hostInfo(let verified?) = note else { return }
                // A change that cannot be stored is made again by the next session's info.
                _ = try? store.change { $0.apply(verified, keepLoopback: store.keepLoopback) }
            },
            onWinner: { place, key in
                guard key != host.pin else { return }
                _ = try? store.change {
                    $0.take(over: host.id, by: key.id.text, at: targets[place].place.address)
                }
            },
            onRevoked: { key in
                _ = try? store.change { $0.change(key.id.text) { $0.revoked = true } }
            })
    }

    private var hello: Hello {
        Hello(
            appVersion: description.appVersion, build: description.build, device: description.shown,
            protocolGeneration: 1, audio: description.audio)
    }

    /// Saves that a session was served there (06 B1); `row` is the one of the network that it came by.
    func note(_ session: Session, at place: DialCandidate?, row: ListedRow? = nil) {
        let endpoint = session.endpoint
        let port = endpoint.port ?? session.host.remotePort
        let worked = place?.isSaved == true ? "\(endpoint.host.lowercased())|\(port)" : nil
        let now = wallNow().seconds
        // What cannot be stored is stored by the next session.
        _ = try? store.change { list in
            list.noteConnected(session.host.id, remoteAddress: worked, at: now, route: session.route)
            guard let row else { return }
            list.change(session.host.id) {
                $0.bonjourName = row.name
                $0.homeTLS = true
            }
        }
    }

    /// Carries a dial out.
    func open(_ host: SavedHost, _ run: DialRun) async -> (Session?, DialReport) {
        let result = await run.run()
        var report = result.report
        guard let connection = result.connection, let index = result.place else { return (nil, report) }
        let place = run.targets[index].place
        let route = place.route(usedTunnel: result.usedTunnel)
        // The record of the key that answered: another one when the host was set up again.
        let id = await connection.hostFingerprint?.id.text ?? host.id
        let endpoint = place.endpoint
        let saved = (try? store.hosts().host(id)) ?? host
        report.route = route
        report.host = saved
        let session = Session(
            host: saved, endpoint: endpoint, door: place.door, route: route, connection: connection)
        return (session, report)
    }
}
