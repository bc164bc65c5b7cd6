// SPDX-License-Identifier: Apache-2.0

package import Wire

/// The addresses a device away from home can dial, in dial order (05 A3).
package enum AddressList {
    /// What a list is made of.
    package struct Inputs: Sendable, Equatable {
        /// The machine's interfaces.
        package var table: InterfaceTable
        /// Their names.
        package var names: ServiceNames
        /// The effective internet switch.
        package var internet: Bool
        /// The user's own name or address, as stored.
        package var addressName: String?
        /// What an entry without a port of its own is dialled at; no entry repeats it (01 §6.2).
        package var remotePort: Int?
        /// The router's internet address, when the router verdict is *address*.
        package var routerIPv4: IPAddress?
        /// MagicDNS names that passed their check, by interface.
        package var magicDNS: [String: String] = [:]
        /// Tunnels that lead nowhere now (stopped, logged out, Shields Up), by interface.
        package var closed: Set<String> = []
        /// VPNs without a link of their own: their name, MagicDNS name and addresses.
        package var userspace: [UserspaceVPN] = []

        package init(
            table: InterfaceTable, names: ServiceNames, internet: Bool, addressName: String? = nil,
            routerIPv4: IPAddress? = nil, magicDNS: [String: String] = [:]
        ) {
            self.table = table
            self.names = names
            self.internet = internet
            self.addressName = addressName
            self.routerIPv4 = routerIPv4
            self.magicDNS = magicDNS
        }
    }

    /// A VPN whose daemon has addresses but no interface (user-space Tailscale).
    package struct UserspaceVPN: Sendable, Equatable {
        /// The `via` of its entries.
        package var name: String
        /// Its MagicDNS name, when devices may dial it.
        package var dnsName: String?
        /// In the daemon's order.
        package var addresses: [IPAddress]

        package init(name: String, dnsName: String?, addresses: [IPAddress]) {
            self.name = name
            self.dnsName = dnsName
            self.addresses = addresses
        }
    }

    /// The most a kind 18 carries.
    package static let limit = 12

    /// VPN names, VPN IPv4, unnamed tunnels' IPv4, VPN IPv6, the primary LAN's IPv4; then, with internet access, the
    /// address name, the router, one stable global IPv6. Duplicates are skipped, and the first 12 remain.
    package static func make(_ inputs: Inputs) -> [HostAddress] {
        var list: [HostAddress] = []
        let services = inputs.table.interfaces.filter { $0.link.isUp && !$0.addresses.isEmpty }
        // A 6in4 tunnel leads to the internet, and is no VPN (05 B2).
        let tunnels = services.filter {
            $0.kind == .tunnel && $0.link.infoKind != "sit" && !inputs.closed.contains($0.name)
        }
        let vpns = tunnels.compactMap { tunnel in inputs.names[tunnel.name].map { (name: $0, tunnel: tunnel) }
        }
        .sorted { ($0.name, $0.tunnel.name) < ($1.name, $1.tunnel.name) }
        for vpn in vpns {
            if let name = inputs.magicDNS[vpn.tunnel.name] { list.append(address(name, "vpn", vpn.name)) }
        }
        for vpn in inputs.userspace {
            if let name = vpn.dnsName { list.append(address(name, "vpn", vpn.name)) }
        }
        for vpn in vpns {
            list += usableIPv4(of: vpn.tunnel).map { address($0.description, "vpn", vpn.name) }
        }
        for vpn in inputs.userspace {
            list += vpn.addresses.filter { $0.family == .v4 }.map { address($0.description, "vpn", vpn.name) }
        }
        for tunnel in tunnels.sorted(by: { $0.name < $1.name }) where inputs.names[tunnel.name] == nil {
            list += usableIPv4(of: tunnel).map {
                address($0.description, "vpn", "VPN (\(Label.clean(tunnel.name)))")
            }
        }
        for vpn in vpns {
            list += usableIPv6(of: vpn.tunnel).map { address($0.ip.description, "vpn", vpn.name) }
        }
        for vpn in inputs.userspace {
            list += vpn.addresses.filter { $0.family == .v6 && !$0.isLinkLocal }
                .map { address($0.description, "vpn", vpn.name) }
        }
        if let lan = primaryLAN(inputs.table), let ip = usableIPv4(of: lan).first {
            list.append(address(ip.description, "lan", inputs.names[lan.name] ?? lan.name))
        }
        if inputs.internet { list += internetAddresses(inputs) }
        return unique(list)
    }

    /// The LAN service on the primary interface, else on the main default route, else the first by name, of those
    /// with a usable IPv4.
    package static func primaryLAN(_ table: InterfaceTable) -> NetworkInterface? {
        let candidates = lanServices(table).filter { !usableIPv4(of: $0).isEmpty }
        return candidates.first { $0.index == table.primaryInterface }
            ?? candidates.first { $0.link.isMainDefault } ?? candidates.first
    }

    /// The primary LAN service's first usable IPv4 (05 A3).
    package static func lanAddress(_ table: InterfaceTable) -> IPAddress? {
        primaryLAN(table).flatMap { usableIPv4(of: $0).first }
    }

    /// Whether a LAN link has an IPv4 that is no use because carriers share it.
    package static func hasCarrierLAN(_ table: InterfaceTable) -> Bool {
        lanServices(table).contains { $0.addresses.contains { $0.ip.isCarrier } }
    }

    /// Whether a LAN link has any address of 2000::/3, temporary ones included.
    package static func hasGlobalIPv6(_ table: InterfaceTable) -> Bool {
        lanServices(table).contains { $0.addresses.contains { isGlobal($0.ip) } }
    }

    private static func internetAddresses(_ inputs: Inputs) -> [HostAddress] {
        var list: [HostAddress] = []
        if let text = inputs.addressName, let name = try? DialAddress.parse(text) {
            let port = name.port == inputs.remotePort ? nil : name.port
            list.append(
                HostAddress(host: name.hostText, port: port, kind: "internet", via: "Address name"))
        }
        if let router = inputs.routerIPv4 { list.append(address(router.description, "internet", "Router")) }
        if let ip = stableGlobalIPv6(inputs.table) {
            list.append(address(ip.description, "internet", "IPv6"))
        }
        return list
    }

    /// The address of step 8: stable, global, of a LAN link.
    package static func stableGlobalIPv6(_ table: InterfaceTable) -> IPAddress? {
        let lans = lanServices(table)
        let ordered =
            lans.filter { $0.index == table.primaryInterface }
            + lans.filter { $0.index != table.primaryInterface }
        let sixInFour = table.interfaces.filter { $0.link.isUp && $0.link.infoKind == "sit" }
        for interface in ordered + sixInFour {
            let global = usableIPv6(of: interface).filter { isGlobal($0.ip) }
            if let best = global.min(by: isSteadier) { return best.ip }
        }
        return nil
    }

    /// 2000::/3.
    private static func isGlobal(_ ip: IPAddress) -> Bool {
        ip.family == .v6 && ip.bytes.first.map { $0 >> 5 == 1 } ?? false
    }

    /// Permanent and static first, then /128, then stable-privacy or EUI-64, ties by value (05 B1).
    private static func isSteadier(_ left: InterfaceAddress, _ right: InterfaceAddress) -> Bool {
        func rank(_ address: InterfaceAddress) -> Int {
            if address.isPermanent { return 0 }
            if address.prefixBits == 128 { return 1 }
            return 2
        }
        let (leftRank, rightRank) = (rank(left), rank(right))
        if leftRank != rightRank { return leftRank < rightRank }
        return left.ip.bytes.lexicographicallyPrecedes(right.ip.bytes)
    }

    private static func lanServices(_ table: InterfaceTable) -> [NetworkInterface] {
        table.interfaces
            .filter { ($0.kind == .lan || $0.kind == .uplink) && $0.link.isUp && !$0.addresses.isEmpty }
            .sorted { $0.name < $1.name }
    }

    /// Whether devices can dial an address of it at all.
    package static func isDialable(_ interface: NetworkInterface) -> Bool {
        !usableIPv4(of: interface).isEmpty || !usableIPv6(of: interface).isEmpty
    }

    private static func usableIPv4(of interface: NetworkInterface) -> [IPAddress] {
        interface.addresses.map(\.ip).filter { ip in
            ip.family == .v4 && !ip.isLoopback && !ip.isLinkLocal && ip.bytes != [0, 0, 0, 0]
                && (!ip.isCarrier || interface.kind == .tunnel)
        }
    }

    private static func usableIPv6(of interface: NetworkInterface) -> [InterfaceAddress] {
        interface.addresses.filter { address in
            address.ip.family == .v6 && !address.ip.isLoopback && !address.ip.isLinkLocal
                && !address.isTemporary && !address.isDeprecated && !address.isTentative && !address.isFailed
        }
    }

    private static func address(_ host: String, _ kind: String, _ via: String) -> HostAddress {
        HostAddress(host: host, kind: kind, via: via)
    }

    private static func unique(_ list: [HostAddress]) -> [HostAddress] {
        struct Key: Hashable {
            var host: String
            var port: Int?
        }
        var seen: Set<Key> = []
        let firsts = list.filter { seen.insert(Key(host: $0.host.lowercased(), port: $0.port)).inserted }
        return Array(firsts.prefix(limit))
    }
}
