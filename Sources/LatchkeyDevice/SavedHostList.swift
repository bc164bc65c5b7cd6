// SPDX-License-Identifier: Apache-2.0

internal import Wire

/// The saved hosts and every rule about changing them (06 B1). Pure: storage and time are the caller's.
struct SavedHostList: Equatable, Sendable {
    /// More would make a list nobody reads; the one used longest ago makes room.
    static let limit = 16

    /// In the order they were paired.
    private(set) var hosts: [SavedHost] = []

    /// No host yet.
    init() {}

    /// Reads what was stored. Damaged text, and records that cannot be trusted, read as not there.
    init(stored bytes: [UInt8]) {
        guard let json = try? JSON.parse(bytes), let items = json["hosts"]?.array else { return }
        for host in items.compactMap({ SavedHost($0) }) where index(of: host.id) == nil {
            hosts.append(host)
        }
        hosts = Array(hosts.prefix(Self.limit))
    }

    /// The file's text.
    func encode() -> [UInt8] {
        var out = JSONWriter()
        out.object { out in
            out.field("v", 1)
            out.array("hosts") { list in
                for host in hosts { list.object { host.write(to: &$0) } }
            }
        }
        return out.bytes
    }

    /// The record of an ID.
    func host(_ id: String) -> SavedHost? { hosts.first { $0.id == id } }

    private func index(of id: String) -> Int? { hosts.firstIndex { $0.id == id } }

    /// Adds a host that has just been paired; one with its ID is replaced. Over the limit the one used longest ago goes.
    mutating func add(_ new: SavedHost) {
        var new = new
        if let old = index(of: new.id) {
            new.homeTLS = new.homeTLS || hosts[old].homeTLS
            hosts[old] = new
            return
        }
        while hosts.count >= Self.limit,
            let oldest = hosts.indices.min(by: { hosts[$0].lastUse < hosts[$1].lastUse })
        {
            hosts.remove(at: oldest)
        }
        hosts.append(new)
    }

    /// Forgets a host; whether there was one.
    mutating func remove(_ id: String) -> Bool {
        guard let index = index(of: id) else { return false }
        hosts.remove(at: index)
        return true
    }

    /// Changes one record in place; whether there was one.
    @discardableResult
    mutating func change(_ id: String, _ body: (inout SavedHost) -> Void) -> Bool {
        guard let index = index(of: id) else { return false }
        body(&hosts[index])
        return true
    }

    /// Takes a verified host info into the record of its signer; whether anything was taken.
    ///
    /// Only when the signer is the saved pin, the ID is the saved one and it is strictly newer than the last one taken
    /// (01 sections 6.3 and 6.4 step 6). That the signer is this very connection's key is the caller's to have checked.
    mutating func apply(_ verified: VerifiedHostInfo, keepLoopback: Bool) -> Bool {
        let info = verified.info
        guard let index = index(of: verified.signer.id.text) else { return false }
        var host = hosts[index]
        guard host.pin == verified.signer, info.macID == host.id, info.issuedAt > host.infoIssuedAt else {
            return false
        }
        if let name = SavedAddress.shown(info.name) { host.name = name }
        if (1...65535).contains(info.remotePort) { host.remotePort = info.remotePort }
        host.infoIssuedAt = info.issuedAt
        let keepable = info.addresses.compactMap { SavedAddress($0) }.filter {
            SavedAddress.isKeepable($0.host, keepLoopback: keepLoopback)
        }
        // An empty list, or one from a host with remote access off, means "nothing to say", not "forget".
        if info.remoteAccess, !keepable.isEmpty { host.addresses = Array(keepable.prefix(Self.addressLimit)) }
        hosts[index] = host
        return true
    }

    /// As many as a host may list (01 section 6.2).
    private static let addressLimit = 12

    /// Notes a session that was served: its address when it came by the remote door, the time and the route.
    mutating func noteConnected(_ id: String, remoteAddress: String?, at wall: Double, route: String) {
        change(id) { host in
            if let remoteAddress { host.lastWorked = remoteAddress }
            host.lastConnectedAt = wall
            host.lastRoute = route
            host.revoked = false
        }
    }
}
