// SPDX-License-Identifier: Apache-2.0

package import Wire

/// Where a connection comes from and by which interface it arrived.
package struct Placement: Sendable, Equatable {
    /// What the doors judge by.
    package var origin: Origin
    /// The arrival interface's name; nil when unknown.
    package var arrival: String?

    package init(origin: Origin, arrival: String?) {
        self.origin = origin
        self.arrival = arrival
    }
}

/// Finds a connection's origin (03 §3.3 and §3.4) from nothing but its arguments.
package enum OriginPolicy {
    /// The arrival is the first that applies: the source's zone (its scope, or `zoneName` from the API), the
    /// interface the kernel received the connection on unless that is a loopback, the owner of the local
    /// address, unknown. The origin, first match wins:
    ///
    /// 1. no source address: internet
    /// 2. loopback source: loopback, or vpn for a peer that a user-space VPN delivers from there (`isVPNPeer`)
    /// 3. arrival peerToPeer: direct
    /// 4. arrival an uplink: internet
    /// 5. arrival a tunnel: vpn
    /// 6. link-local source: lan
    /// 7. inside an on-link prefix of the arrival, or of any lan interface when it is unknown or a loopback: lan
    /// 8. private source: lan
    /// 9. else: internet
    package static func classify(
        source: IPAddress?, local: IPAddress?, zoneName: String?, receivedOn: UInt32?,
        receivedOnName: String?, table: InterfaceTable, isVPNPeer: Bool = false
    ) -> Placement {
        guard let source else { return Placement(origin: .internet, arrival: nil) }
        if source.isLoopback { return Placement(origin: isVPNPeer ? .vpn : .loopback, arrival: nil) }
        let arrival = arrival(
            source: source, local: local, zoneName: zoneName, receivedOn: receivedOn,
            receivedOnName: receivedOnName, table: table)
        switch arrival?.kind {
        case .peerToPeer: return Placement(origin: .direct, arrival: arrival?.name)
        case .uplink: return Placement(origin: .internet, arrival: arrival?.name)
        case .tunnel: return Placement(origin: .vpn, arrival: arrival?.name)
        default: break
        }
        let isNear =
            source.isLinkLocal || isOnLink(source, arrival: arrival, table: table) || source.isPrivate
        return Placement(origin: isNear ? .lan : .internet, arrival: arrival?.name)
    }

    private struct Arrival {
        var name: String
        var kind: InterfaceKind
        var interface: NetworkInterface?

        init(_ interface: NetworkInterface) {
            name = interface.name
            kind = interface.kind
            self.interface = interface
        }

        /// An interface the table does not have counts by its name.
        init(named name: String, _ table: InterfaceTable) {
            let known = table.interface(named: name)
            self.name = name
            kind = known?.kind ?? InterfaceKindPolicy.kind(ofName: name)
            interface = known
        }
    }

    private static func arrival(
        source: IPAddress, local: IPAddress?, zoneName: String?, receivedOn: UInt32?,
        receivedOnName: String?, table: InterfaceTable
    ) -> Arrival? {
        if let zoneName, !zoneName.isEmpty { return Arrival(named: zoneName, table) }
        if source.scope != 0, let interface = table.interface(index: source.scope) {
            return Arrival(interface)
        }
        if let name = receivedOnName, !name.isEmpty {
            let arrival = Arrival(named: name, table)
            if arrival.kind != .loopback { return arrival }
        } else if let index = receivedOn, let interface = table.interface(index: index),
            interface.kind != .loopback
        {
            return Arrival(interface)
        }
        return local.flatMap { table.owner(of: $0) }.map { Arrival($0) }
    }

    private static func isOnLink(_ source: IPAddress, arrival: Arrival?, table: InterfaceTable) -> Bool {
        if let arrival, arrival.kind != .loopback {
            return arrival.interface.map { hasPrefix($0, around: source) } ?? false
        }
        return table.interfaces.contains { $0.kind == .lan && hasPrefix($0, around: source) }
    }

    /// Only lan and other interfaces give on-link prefixes, and never one of length 0.
    private static func hasPrefix(_ interface: NetworkInterface, around source: IPAddress) -> Bool {
        guard interface.kind == .lan || interface.kind == .other else { return false }
        return interface.addresses.contains {
            $0.prefixBits > 0 && source.isInside(prefix: $0.ip, bits: $0.prefixBits)
        }
    }
}
