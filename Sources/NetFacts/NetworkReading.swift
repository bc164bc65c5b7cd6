// SPDX-License-Identifier: Apache-2.0

internal import Policy
internal import Wire

/// What one look at links, addresses and routes said; joined into the table the rules read.
struct NetworkReading {
    var links: [LinkMessage] = []
    var addresses: [AddressMessage] = []
    var routes: [RouteMessage] = []
    /// Those of IPv6.
    var routes6: [RouteMessage] = []
    /// The egress of a route look-up to the internet; nil without a route.
    var primary: UInt32?

    /// The interface that carries the lowest-metric IPv4 default route of the main table.
    var mainDefault: UInt32? {
        defaults.filter { $0.table == RouteMessage.mainTable }.min { $0.metric < $1.metric }?.outputs.first
    }

    /// The router on this interface (05 B6). A VPN client leaves a route to its server there even when it took the default
    /// route; policy routing may keep the default in another table.
    private func gateway(of index: UInt32) -> IPAddress? {
        let own = routes.filter { $0.gateways[index] != nil }
        let whole = own.filter { $0.destinationBits == 0 }
        return Self.best(of: whole, else: own)?.gateways[index]
    }

    /// The same router's IPv6, as its announcements or the owner have it. A default route alone counts: only a router that
    /// leads to the internet may be the one that speaks UPnP.
    private func gateway6(of index: UInt32) -> IPAddress? {
        Self.best(of: routes6.filter { $0.destinationBits == 0 && $0.gateways[index] != nil })?.gateways[
            index]
    }

    /// The lowest-metric one: of the main table, of any table, of the others.
    private static func best(of routes: [RouteMessage], else others: [RouteMessage] = []) -> RouteMessage? {
        let main = routes.filter { $0.table == RouteMessage.mainTable }
        return [main, routes, others].first { !$0.isEmpty }?.min { $0.metric < $1.metric }
    }

    /// The hosts that a route of their own leads to by a router on this interface, in order; of very many the lowest.
    private func hosts(behind index: UInt32) -> [IPAddress] {
        let found = Set(routes.filter { $0.gateways[index] != nil }.compactMap(\.host))
        let sorted = found.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
        return Array(sorted.prefix(LinkFacts.mostHostRoutes))
    }

    private var defaults: [RouteMessage] { routes.filter { $0.destinationBits == 0 } }

    /// The table, with what `sysfs` says about each link by its name.
    func table(_ sysfs: (String) -> DeviceFacts) -> InterfaceTable {
        let mainDefault = mainDefault
        let carriers = Set(defaults.flatMap(\.outputs))
        let facts = links.map { link in
            let device = sysfs(link.name)
            return LinkFacts(
                index: link.index, name: link.name, hardwareType: link.hardwareType,
                isLoopback: link.isLoopback,
                isPointToPoint: link.isPointToPoint, isUp: link.isUp, isRunning: link.isRunning,
                infoKind: link.infoKind, master: link.master, isPhysical: device.isPhysical,
                isWireless: device.isWireless, isModem: device.isModem,
                isMainDefault: link.index == mainDefault,
                carriesIPv4DefaultInAnyTable: carriers.contains(link.index), gateway: gateway(of: link.index),
                gateway6: gateway6(of: link.index), hostRoutes: hosts(behind: link.index))
        }
        return .make(links: facts, addresses: addresses.map { ($0.index, $0.address) }, primary: primary)
    }
}

/// What sysfs says about a link (spec 05 B1).
struct DeviceFacts: Equatable {
    /// A device of the machine's stands behind it.
    var isPhysical = false
    var isWireless = false
    /// A mobile modem (`DEVTYPE=wwan`).
    var isModem = false
}
