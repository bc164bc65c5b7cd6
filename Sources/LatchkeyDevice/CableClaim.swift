// SPDX-License-Identifier: Apache-2.0

internal import NetFacts
internal import Policy
internal import Sockets
internal import Wire

/// Whether this end of a connection is the plain USB cable (04 section 5), which is what a device may claim in an ask.
/// The host judges its own end by itself; a network that this device shares over the cable only this device can see.
public enum CableClaim: Sendable, Equatable {
    /// It is, over the interface of this name.
    case holds(interface: String)
    /// It is not, or that cannot be told.
    case fails(Reason)

    /// The first of the rules that fails.
    public enum Reason: String, Sendable, CaseIterable {
        /// The host was not dialled by an IPv6 link-local address.
        case notLinkLocal
        /// The address names no interface of this machine.
        case unknownZone
        /// The interface is no wired one: wireless, a bridge, virtual.
        case notWired
        /// The host is this machine.
        case ownAddress
        /// The interface has no address of its own.
        case noAddress
        /// The interface has an address that is routed, so it is a network and not the cable alone.
        case routable
        /// The system does not say.
        case unreadable
    }

    /// Whether the ask says that it is the cable.
    public var isClaimed: Bool { if case .holds = self { true } else { false } }
}

extension CableClaim.Reason {
    /// One clause for people.
    public var words: String {
        switch self {
        case .notLinkLocal:
            "the host was not dialled by its IPv6 link-local address (--host '[fe80::1%usb0]:PORT')"
        case .unknownZone: "the address names no network interface of this machine"
        case .notWired: "the interface is not a wired one of a device"
        case .ownAddress: "the address is this machine's own"
        case .noAddress: "the interface has no address of its own"
        case .routable: "the interface has a routable address, so it is a network and not the cable alone"
        case .unreadable: "the network interfaces cannot be read"
        }
    }
}

extension CableClaim {
    /// ARPHRD_ETHER.
    private static let ethernet: UInt16 = 1
    /// Apple's peer-to-peer links, which look wired.
    private static let peerToPeer = ["awdl", "llw"]

    /// All four, in this order:
    ///
    /// 1. the host's address as it was dialled is IPv6 and link-local
    /// 2. with a zone that this machine knows, and that is wired
    /// 3. it is none of this machine's own addresses
    /// 4. the interface has addresses of its own, and all of them are link-local
    static func judge(host: IPAddress, in table: InterfaceTable) -> CableClaim {
        guard host.family == .v6, host.isLinkLocal else { return .fails(.notLinkLocal) }
        guard host.scope != 0, let interface = table.interface(index: host.scope) else {
            return .fails(.unknownZone)
        }
        guard isWired(interface.link) else { return .fails(.notWired) }
        if table.owns(host) { return .fails(.ownAddress) }
        if interface.addresses.isEmpty { return .fails(.noAddress) }
        guard interface.addresses.allSatisfy(\.ip.isLinkLocal) else { return .fails(.routable) }
        return .holds(interface: interface.name)
    }

    /// Reads this machine's interfaces afresh and judges. Blocks for a moment.
    static func read(host: IPAddress) -> CableClaim {
        do throws(SocketError) {
            return judge(host: host, in: try NetworkWatcher.read())
        } catch {
            return .fails(.unreadable)
        }
    }

    /// Whether it is a cable to a device: Ethernet, a device of this machine's, neither wireless nor a bridge.
    static func isWired(_ link: LinkFacts) -> Bool {
        link.hardwareType == ethernet && link.isPhysical && !link.isWireless && link.infoKind != "bridge"
            && !peerToPeer.contains { link.name.hasPrefix($0) }
    }
}
