// SPDX-License-Identifier: Apache-2.0

internal import Policy
internal import Wire

/// One place where a saved host may be, and the door it would be.
public struct DialCandidate: Sendable, Hashable {
    /// Where to dial; without a port the host's remote port.
    public var endpoint: Endpoint
    /// The door it is taken for.
    public var door: HostDoor
    /// What is saved of the place, or what its text says: failures and routes are judged by it.
    var address: SavedAddress
    /// One of the host's saved addresses: worth remembering when it works.
    var isSaved = false
    /// A person named it: another key there is worth telling, wherever it is.
    var isNamed = false
    /// Dial by this interface alone; nil: as the routes say.
    var interface: String?
    /// The words for a session there, where they are not the address's; nil: by the way it took.
    private let fixedRoute: String?

    /// A place a person named.
    public init(_ endpoint: Endpoint, door: HostDoor) {
        self.init(endpoint, door: door, route: door == .home ? Self.home : "by address")
        isNamed = true
    }

    /// A door of a host on this very machine, found by the file it keeps there; another host may have written it.
    public init(onThisMachine endpoint: Endpoint, door: HostDoor) {
        self.init(endpoint, door: door, route: door == .home ? "on this host" : "by address")
    }

    /// An address of a row of the network.
    init(row endpoint: Endpoint, isPeerToPeer: Bool, interface: String? = nil) {
        self.init(endpoint, door: .home, route: isPeerToPeer ? "nearby" : Self.home)
        self.interface = interface
    }

    private init(_ endpoint: Endpoint, door: HostDoor, route: String) {
        self.endpoint = endpoint
        self.door = door
        address = SavedAddress(endpoint)
        fixedRoute = route
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
        self.address = address
        isSaved = door == .remote
        fixedRoute = door == .home ? Self.home : nil
    }

    private static let home = "on this network"

    /// How a session there is named to people (06 B3); `usedTunnel` nil when nobody knows.
    func route(usedTunnel: Bool?) -> String {
        fixedRoute ?? Route.dialled(kind: address.kind, via: address.via, usedTunnel: usedTunnel)
    }

    /// The same with nothing known of the way.
    var route: String { route(usedTunnel: nil) }
}
