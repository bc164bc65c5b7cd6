// SPDX-License-Identifier: Apache-2.0

internal import Policy
internal import Wire

/// In which order a saved host's addresses are dialled (06 B2). Pure.
enum DialOrder {
    /// One of the device's own IPv4 networks.
    struct Subnet: Sendable, Equatable {
        var prefix: IPAddress
        var bits: Int
    }

    /// The IPv4 networks that this machine is part of. One that is a single address, or all there are, is none.
    static func subnets(of table: InterfaceTable) -> [Subnet] {
        table.interfaces.filter { $0.link.isUp && $0.kind != .loopback }.flatMap { interface in
            interface.addresses.filter {
                $0.ip.family == .v4 && !$0.ip.isLinkLocal && (1...31).contains($0.prefixBits)
            }
            .map { Subnet(prefix: $0.ip, bits: $0.prefixBits) }
        }
    }

    /// Addresses with their ports, best first, each once.
    static func addresses(of host: SavedHost, subnets: [Subnet] = []) -> [SavedAddress] {
        let all = host.typedAddresses + host.addresses
        let ranked = all.enumerated().sorted { a, b in
            let (left, right) = (rank(a.element, subnets), rank(b.element, subnets))
            return left == right ? a.offset < b.offset : left < right
        }
        var seen: Set<String> = []
        var result = ranked.map(\.element).filter { address in
            seen.insert(address.identity(remotePort: host.remotePort)).inserted
        }
        let worked = host.lastWorked?.lowercased()
        if let first = result.firstIndex(where: { $0.identity(remotePort: host.remotePort) == worked }) {
            result.insert(result.remove(at: first), at: 0)
        }
        return result
    }

    private static func rank(_ address: SavedAddress, _ subnets: [Subnet]) -> Int {
        let ip = IPAddress(address.host)
        if ip?.isLoopback == true || address.host.lowercased() == "localhost" { return 1 }
        if address.kind == "vpn" || SavedAddress.isTailscaleShape(address.host) {
            return ip == nil ? 2 : ip?.family == .v4 ? 3 : 4
        }
        if address.kind == "lan" {
            let near = subnets.contains { ip?.isInside(prefix: $0.prefix, bits: $0.bits) ?? false }
            return near ? 5 : 8
        }
        return ip == nil ? 6 : 7
    }
}
