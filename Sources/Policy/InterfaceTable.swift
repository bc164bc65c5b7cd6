// SPDX-License-Identifier: Apache-2.0

package import Wire

/// What an interface is to the doors and the address list (05 B2).
package enum InterfaceKind: String, Sendable, CaseIterable, Hashable {
    /// The machine itself.
    case loopback
    /// Wi-Fi Direct or AWDL.
    case peerToPeer
    /// A VPN or any other point-to-point link.
    case tunnel
    /// One of the host's own networks.
    case lan
    /// Container and VM bridges, and whatever no rule names.
    case other
    /// A modem or PPPoE: what arrives by it is the internet (03 §3.2).
    case uplink
    /// A bridge or bond member: its master speaks for it.
    case ignored
}

/// What netlink and sysfs said about one link, before anyone judged it (05 B1).
package struct LinkFacts: Sendable, Hashable {
    /// The kernel's interface index; never 0.
    package var index: UInt32
    /// The kernel's name, such as `enp3s0`.
    package var name: String
    /// `ARPHRD_*`: 1 Ethernet, 772 loopback.
    package var hardwareType: UInt16
    /// `IFF_LOOPBACK`.
    package var isLoopback: Bool
    /// `IFF_POINTOPOINT`.
    package var isPointToPoint: Bool
    /// `IFF_UP`.
    package var isUp: Bool
    /// `IFF_RUNNING`.
    package var isRunning: Bool
    /// `IFLA_INFO_KIND`, such as `wireguard`; nil when the kernel names none.
    package var infoKind: String?
    /// The index of its bridge, bond or VRF.
    package var master: UInt32?
    /// `/sys/class/net/<if>/device` exists.
    package var isPhysical: Bool
    /// It has a `wireless` or `phy80211` directory in sysfs.
    package var isWireless: Bool
    /// Its uevent says `DEVTYPE=wwan`.
    package var isModem: Bool
    /// It carries the lowest-metric IPv4 default route of the main table.
    package var isMainDefault: Bool
    /// It carries an IPv4 default route in any table (05 B2 row 7, 09.35).
    package var carriesIPv4DefaultInAnyTable: Bool
    /// The next hop of its lowest-metric IPv4 default route of the main table, else of any other IPv4 route over it (05
    /// B6); nil when no route over it names one.
    package var gateway: IPAddress?
    /// The next hop of its lowest-metric IPv6 default route, those of the main table first: most often link-local, with
    /// this link as its scope. nil when no route names one.
    package var gateway6: IPAddress?
    /// The IPv4 hosts that routes of their own lead to by a router on it, as a VPN client leaves one to its server.
    package var hostRoutes: [IPAddress]

    /// The most of these that are kept.
    package static let mostHostRoutes = 64

    package init(
        index: UInt32, name: String, hardwareType: UInt16 = 1, isLoopback: Bool = false,
        isPointToPoint: Bool = false, isUp: Bool = true, isRunning: Bool = true, infoKind: String? = nil,
        master: UInt32? = nil, isPhysical: Bool = false, isWireless: Bool = false, isModem: Bool = false,
        isMainDefault: Bool = false, carriesIPv4DefaultInAnyTable: Bool = false,
        gateway: IPAddress? = nil, gateway6: IPAddress? = nil, hostRoutes: [IPAddress] = []
    ) {
        self.index = index
        self.name = name
        self.hardwareType = hardwareType
        self.isLoopback = isLoopback
        self.isPointToPoint = isPointToPoint
        self.isUp = isUp
        self.isRunning = isRunning
        self.infoKind = infoKind
        self.master = master
        self.isPhysical = isPhysical
        self.isWireless = isWireless
        self.isModem = isModem
        self.isMainDefault = isMainDefault
        self.carriesIPv4DefaultInAnyTable = carriesIPv4DefaultInAnyTable
        self.gateway = gateway
        self.gateway6 = gateway6
        self.hostRoutes = hostRoutes
    }
}

/// One address of an interface with the kernel's marks (05 B1).
package struct InterfaceAddress: Sendable, Hashable {
    /// The machine's own address (`IFA_LOCAL`, or `IFA_ADDRESS` for IPv6).
    package var ip: IPAddress
    /// 0 to 32 or 128.
    package var prefixBits: Int
    /// The other end of a point-to-point pair.
    package var peer: IPAddress?
    /// An IPv6 privacy address.
    package var isTemporary: Bool
    /// Not for new connections.
    package var isDeprecated: Bool
    /// Duplicate detection has not ended, and it is not optimistic.
    package var isTentative: Bool
    /// Duplicate detection failed.
    package var isFailed: Bool
    /// Set by hand or without a lifetime.
    package var isPermanent: Bool
    /// Made by RFC 7217.
    package var isStablePrivacy: Bool

    package init(
        ip: IPAddress, prefixBits: Int, peer: IPAddress? = nil, isTemporary: Bool = false,
        isDeprecated: Bool = false, isTentative: Bool = false, isFailed: Bool = false,
        isPermanent: Bool = false, isStablePrivacy: Bool = false
    ) {
        self.ip = ip
        self.prefixBits = prefixBits
        self.peer = peer
        self.isTemporary = isTemporary
        self.isDeprecated = isDeprecated
        self.isTentative = isTentative
        self.isFailed = isFailed
        self.isPermanent = isPermanent
        self.isStablePrivacy = isStablePrivacy
    }
}

/// One interface, judged.
package struct NetworkInterface: Sendable, Hashable {
    /// What the kernel said.
    package var link: LinkFacts
    /// What it is to us.
    package var kind: InterfaceKind
    /// Its own addresses, in the kernel's order.
    package var addresses: [InterfaceAddress]
    /// The kernel's index.
    package var index: UInt32 { link.index }
    /// The kernel's name.
    package var name: String { link.name }

    package init(link: LinkFacts, kind: InterfaceKind, addresses: [InterfaceAddress]) {
        self.link = link
        self.kind = kind
        self.addresses = addresses
    }
}

/// The machine's interfaces at one moment; replaced as a whole, never changed (03 §3.3).
package struct InterfaceTable: Sendable, Equatable {
    /// In the kernel's order.
    package let interfaces: [NetworkInterface]
    /// The egress of a route lookup to the internet; can be a tunnel. Nil when there is no route.
    package let primaryInterface: UInt32?
    /// A whole look at the networks; false only before the first one (05 A1 rule 3).
    package let isComplete: Bool
    private let byIndex: [UInt32: Int]
    private let byName: [String: Int]
    private let byAddress: [IPAddress: Int]

    package init(_ interfaces: [NetworkInterface], primaryInterface: UInt32? = nil, isComplete: Bool = true) {
        self.interfaces = interfaces
        self.primaryInterface = primaryInterface
        self.isComplete = isComplete
        var byIndex: [UInt32: Int] = [:]
        var byName: [String: Int] = [:]
        var byAddress: [IPAddress: Int] = [:]
        for (position, interface) in interfaces.enumerated() {
            byIndex[interface.index] = byIndex[interface.index] ?? position
            byName[interface.name] = byName[interface.name] ?? position
            for address in interface.addresses {
                let key = address.ip.unscoped
                byAddress[key] = byAddress[key] ?? position
            }
        }
        self.byIndex = byIndex
        self.byName = byName
        self.byAddress = byAddress
    }

    /// Before the first look at the networks.
    package static let empty = InterfaceTable([], isComplete: false)

    /// Judges each link by 05 B2 and joins it with its addresses, given as (interface index, address).
    package static func make(
        links: [LinkFacts], addresses: [(UInt32, InterfaceAddress)], primary: UInt32?
    ) -> InterfaceTable {
        let byLink = Dictionary(grouping: addresses, by: \.0)
        let interfaces = links.map { link in
            let own = (byLink[link.index] ?? []).map(\.1)
            return NetworkInterface(
                link: link, kind: InterfaceKindPolicy.kind(of: link, addresses: own), addresses: own)
        }
        return InterfaceTable(interfaces, primaryInterface: primary)
    }

    /// The interface with this index.
    package func interface(index: UInt32) -> NetworkInterface? { byIndex[index].map { interfaces[$0] } }

    /// The interface with this name.
    package func interface(named name: String) -> NetworkInterface? { byName[name].map { interfaces[$0] } }

    /// The interface that has this address; scopes are ignored, since an address here is the machine's own.
    package func owner(of ip: IPAddress) -> NetworkInterface? {
        byAddress[ip.unscoped].map { interfaces[$0] }
    }

    /// Whether any interface, whatever its kind or state, has this address (03 §12.3).
    package func owns(_ ip: IPAddress) -> Bool { byAddress[ip.unscoped] != nil }
}
