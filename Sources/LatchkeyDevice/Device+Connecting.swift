// SPDX-License-Identifier: Apache-2.0

internal import Policy
internal import Sockets
internal import Wire

/// One place where a saved host may be, and the door it would be.
public struct DialCandidate: Sendable, Hashable {
    /// Where to dial; without a port the host's remote port.
    public var endpoint: Endpoint
    /// The door it is taken for.
    public var door: HostDoor
    /// One of the host's saved addresses: worth remembering when it works.
    var isSaved = false
    /// An address that another machine may have on another network, so that another key there means nothing (06 B3).
    var meansLittle = false
    /// How a session there is named to people.
    var route: String

    /// A place a person named.
    public init(_ endpoint: Endpoint, door: HostDoor) {
        self.endpoint = endpoint
        self.door = door
        route = door == .home ? "on this network" : "by address"
    }

    /// A door of a host on this very machine, found by the file it keeps there; another host may have written it.
    public init(onThisMachine endpoint: Endpoint, door: HostDoor) {
        self.endpoint = endpoint
        self.door = door
        meansLittle = true
        route = door == .home ? "on this host" : "by address"
    }

    /// One of the host's saved addresses. Throws `badAddress` for one that no parser takes.
    init(_ address: SavedAddress, of host: SavedHost) throws(DeviceError) {
        let port = address.port ?? host.remotePort
        let text = address.host.contains(":") ? "[\(address.host)]:\(port)" : "\(address.host):\(port)"
        endpoint = try Endpoint(text)
        // What a host says of itself are addresses of its remote door. What a person typed with another port than that
        // door's is most likely the home door.
        let isTyped = host.typedAddresses.contains(address) && !host.addresses.contains(address)
        door = isTyped && port != host.remotePort ? .home : .remote
        isSaved = door == .remote
        let tailscale = SavedAddress.isTailscaleShape(address.host)
        meansLittle = address.kind == "lan" && !tailscale
        route = door == .home ? "on this network" : Route.dialled(kind: address.kind, via: address.via)
    }
}

extension Device {
    /// How long the host may take to its first window list (06 B3).
    private static let servedLimit: Duration = .seconds(10)
    /// The whole dial, whatever the number of addresses.
    private static let dialLimit: Duration = .seconds(20)

    /// The places of a saved host, in dial order (06 B2).
    public func candidates(for host: SavedHost) -> [DialCandidate] {
        DialOrder.addresses(of: host).compactMap { try? DialCandidate($0, of: host) }
    }

    /// Opens a session: pinned to the saved key, and returned once the host has sent its first window list.
    ///
    /// Dials `places`, or else what is saved, one after the other, each for at most 10 s and all for at most 20 s. Throws
    /// the most telling failure of all (06 B3): `wrongHost`, `revoked`, `remoteOff`, `busy`, `goodbye`, `refused`,
    /// `nameNotFound`, `notSill`, `noAnswer`; `noAddress` when there is nothing to dial.
    public func connect(
        to host: SavedHost, at places: [DialCandidate]? = nil
    ) async throws(DeviceError) -> Session {
        let places = places ?? candidates(for: host)
        guard !places.isEmpty else {
            throw DeviceError(.noAddress, "\(host.name) has no saved address; say where it is (host:port)")
        }
        let deadline = monotonicNow() + Self.dialLimit
        var failure: DeviceError?
        for place in places {
            let left = deadline - monotonicNow()
            guard left > .zero else { break }
            do {
                return try await connect(to: host, place: place, within: min(left, Self.connectLimit))
            } catch {
                if error.code == .closed || error.code == .storage { throw error }
                let counts = !(error.code == .wrongHost && place.meansLittle && places.count > 1)
                if counts, error.rank < (failure?.rank ?? .max) { failure = error }
                // The host itself has spoken; another of its addresses would say the same.
                if [.revoked, .busy].contains(error.code) { break }
            }
        }
        throw failure ?? DeviceError(.noAnswer, "\(host.name) did not answer at any of its addresses")
    }

    private func connect(
        to host: SavedHost, place: DialCandidate, within limit: Duration
    ) async throws(DeviceError) -> Session {
        guard let pin = host.pin else { throw DeviceError(.unknownHost, "this host has no pin") }
        let endpoint = place.endpoint.with(defaultPort: host.remotePort)
        let connection = try await open(
            endpoint, alpn: .session, pin: pin, within: limit,
            cap: { header in MessageCaps.hostToDevice(header.kind) },
            onHostInfo: { [store] verified in
                // A change that cannot be stored is made again by the next session's info.
                _ = try? store.change { $0.apply(verified, keepLoopback: store.keepLoopback) }
            })
        let hello = Hello(
            appVersion: description.appVersion, build: description.build, device: description.shown,
            protocolGeneration: 1, audio: description.audio)
        let failure = await connection.beginSession(hello, servedWithin: Self.servedLimit)
        if var failure {
            failure.summary = await connection.summary()
            if failure.code == .revoked { _ = try? store.change { $0.change(host.id) { $0.revoked = true } } }
            await connection.close()
            throw failure
        }
        let worked = place.isSaved ? "\(endpoint.host.lowercased())|\(endpoint.port ?? host.remotePort)" : nil
        let now = wallNow().seconds
        _ = try? store.change {
            $0.noteConnected(host.id, remoteAddress: worked, at: now, route: place.route)
        }
        return Session(host: host, endpoint: endpoint, door: place.door, connection: connection)
    }
}
