// SPDX-License-Identifier: Apache-2.0

internal import Wire

/// A host that was set up again and has another key since (06 B1): a dial of its old record may meet the new one. Pure.
enum SetUpAgain {
    /// The records whose keys a dial of `old` at an address may accept besides its own pin.
    static func acceptable(
        for old: SavedHost, at address: SavedAddress, among hosts: [SavedHost], keepLoopback: Bool = false
    ) -> [SavedHost] {
        guard namesOneMachine(address, keepLoopback: keepLoopback) else { return [] }
        return hosts.filter { new in
            new.id != old.id && !new.revoked && !new.newKey && new.name == old.name
                && new.pairedAt > old.lastUse
        }
    }

    /// Whether an address names one machine wherever it is dialled from.
    static func namesOneMachine(_ address: SavedAddress, keepLoopback: Bool) -> Bool {
        if SavedAddress.isTailscaleShape(address.host) { return true }
        let isLoopback =
            IPAddress(address.host)?.isLoopback ?? (address.host.lowercased() == "localhost")
        if isLoopback { return keepLoopback }
        return address.kind != "lan" && SavedAddress.kind(ofHost: address.host) == "internet"
    }
}

extension SavedHostList {
    /// The handshake of a dial of `old` was completed with the key of `new`: the old record goes, and what a person typed
    /// for it stays.
    mutating func take(over oldID: String, by newID: String, at address: SavedAddress) {
        guard oldID != newID, let old = host(oldID), host(newID) != nil, remove(oldID) else { return }
        change(newID) { new in
            func spot(_ address: SavedAddress) -> String {
                "\(address.host.lowercased())|\(address.port.map { String($0) } ?? "")"
            }
            let known = Set(new.typedAddresses.map { spot($0) })
            new.typedAddresses += old.typedAddresses.filter { !known.contains(spot($0)) }
            if old.homeTLS { new.homeTLS = true }
            new.lastWorked = address.identity(remotePort: new.remotePort)
        }
    }

    /// What each host is called: of several with one name the first paired keeps it, the others are `Name (2)` and so on.
    var displayNames: [String: String] {
        var used: [String: Int] = [:]
        var names: [String: String] = [:]
        let ordered = hosts.enumerated().sorted {
            ($0.element.pairedAt, $0.offset) < ($1.element.pairedAt, $1.offset)
        }
        for (_, host) in ordered {
            used[host.name, default: 0] += 1
            let number = used[host.name, default: 1]
            names[host.id] = number == 1 ? host.name : "\(host.name) (\(number))"
        }
        return names
    }
}
