// SPDX-License-Identifier: Apache-2.0

internal import Policy
internal import Wire

/// What rtnetlink says about one link, before sysfs and routes are asked (spec 05 B1, `RTM_GETLINK`).
struct LinkMessage: Equatable {
    var index: UInt32
    var name: String
    var hardwareType: UInt16
    var flags: UInt32
    var infoKind: String?
    var master: UInt32?

    // <linux/if_link.h> and <linux/if.h>.
    private static let name: UInt16 = 3
    private static let master: UInt16 = 10
    private static let linkInfo: UInt16 = 18
    private static let infoKind: UInt16 = 1
    private static let up: UInt32 = 0x1
    private static let loopback: UInt32 = 0x8
    private static let pointToPoint: UInt32 = 0x10
    private static let running: UInt32 = 0x40

    var isUp: Bool { flags & Self.up != 0 }
    var isLoopback: Bool { flags & Self.loopback != 0 }
    var isPointToPoint: Bool { flags & Self.pointToPoint != 0 }
    var isRunning: Bool { flags & Self.running != 0 }
}

extension LinkMessage {
    /// nil for a body that is cut short, or that names no interface.
    init?(_ body: ArraySlice<UInt8>) {
        // struct ifinfomsg: family, padding, type, index, flags, change mask.
        guard body.count >= 16, let type = body.number16(at: 2), let index = body.number32(at: 4), index != 0,
            let flags = body.number32(at: 8)
        else { return nil }
        let attributes = NetlinkAttributes(body.dropFirst(16))
        guard let name = attributes.text(Self.name), !name.isEmpty else { return nil }
        self.index = index
        self.name = name
        hardwareType = type
        self.flags = flags
        master = attributes.number32(Self.master).flatMap { $0 == 0 ? nil : $0 }
        infoKind = attributes[Self.linkInfo].flatMap { NetlinkAttributes($0).text(Self.infoKind) }
    }
}

/// One address and the interface that has it (spec 05 B1, `RTM_GETADDR`).
struct AddressMessage: Equatable {
    var index: UInt32
    var address: InterfaceAddress

    // <linux/if_addr.h>.
    private static let address: UInt16 = 1
    private static let local: UInt16 = 2
    private static let flags: UInt16 = 8
    private static let temporary: UInt32 = 0x01
    private static let optimistic: UInt32 = 0x04
    private static let failed: UInt32 = 0x08
    private static let deprecated: UInt32 = 0x20
    private static let tentative: UInt32 = 0x40
    private static let permanent: UInt32 = 0x80
    private static let stablePrivacy: UInt32 = 0x800

}

extension AddressMessage {
    /// nil for a body that is cut short or of another family.
    init?(_ body: ArraySlice<UInt8>) {
        // struct ifaddrmsg: family, prefix length, low 8 bits of the flags, scope, index.
        guard body.count >= 8, let family = body.byte(at: 0), let bits = body.byte(at: 1),
            let lowFlags = body.byte(at: 2), let index = body.number32(at: 4), index != 0
        else { return nil }
        let isV4 = family == addressFamilyV4
        guard isV4 || family == addressFamilyV6, bits <= (isV4 ? 32 : 128) else { return nil }
        let attributes = NetlinkAttributes(body.dropFirst(8))
        let other = attributes[Self.address].flatMap { ip($0, isV4: isV4, index) }
        // On a point-to-point pair IFA_LOCAL is this end and IFA_ADDRESS the other.
        let local = attributes[Self.local].flatMap { ip($0, isV4: isV4, index) }
        guard let own = local ?? other else { return nil }
        let flags = attributes.number32(Self.flags) ?? UInt32(lowFlags)
        func has(_ flag: UInt32) -> Bool { flags & flag != 0 }
        self.index = index
        address = InterfaceAddress(
            ip: own, prefixBits: Int(bits), peer: local == nil || other == own ? nil : other,
            // On IPv4 the same bit says "secondary", which is no fault.
            isTemporary: !isV4 && has(Self.temporary), isDeprecated: has(Self.deprecated),
            isTentative: has(Self.tentative) && !has(Self.optimistic), isFailed: has(Self.failed),
            isPermanent: has(Self.permanent), isStablePrivacy: has(Self.stablePrivacy))
    }
}

/// One route, as far as default routes need it (spec 05 B1, `RTM_GETROUTE`).
struct RouteMessage: Equatable {
    /// 254 is the main table.
    var table: UInt32
    /// Bits of the destination; 0 for a default route.
    var destinationBits: UInt8
    /// The one host that it leads to; nil for a route to a network.
    var host: IPAddress?
    /// Lowest wins; a route without one has 0.
    var metric: UInt32
    /// The interfaces it leads out of, the first being the one a single answer names.
    var outputs: [UInt32]
    /// The next hop out of each of them; none for what is on the link itself.
    var gateways: [UInt32: IPAddress] = [:]

    static let mainTable: UInt32 = 254
    static let familyV4 = addressFamilyV4
    static let familyV6 = addressFamilyV6

    // <linux/rtnetlink.h>.
    private static let destination: UInt16 = 1
    private static let output: UInt16 = 4
    private static let gateway: UInt16 = 5
    private static let metric: UInt16 = 6
    private static let multipath: UInt16 = 9
    private static let table: UInt16 = 15
    private static let unicast: UInt8 = 1
    private static let dead: UInt8 = 1

}

extension RouteMessage {
    /// nil for a body that is cut short, of another family, or of a route that leads nowhere (blackhole, unreachable, all
    /// of its links down).
    init?(_ body: ArraySlice<UInt8>, family: UInt8 = familyV4) {
        // struct rtmsg: family, destination bits, source bits, tos, table, protocol, scope, type, flags.
        guard body.count >= 12, body.byte(at: 0) == family, let bits = body.byte(at: 1),
            let shortTable = body.byte(at: 4), body.byte(at: 7) == Self.unicast, let flags = body.byte(at: 8)
        else { return nil }
        let attributes = NetlinkAttributes(body.dropFirst(12))
        var outputs: [UInt32] = []
        var gateways: [UInt32: IPAddress] = [:]
        if flags & Self.dead == 0, let output = attributes.number32(Self.output), output != 0 {
            outputs.append(output)
            gateways[output] = Self.gateway(attributes, family, output)
        }
        for hop in attributes[Self.multipath].map({ Self.hops($0, family) }) ?? [] {
            outputs.append(hop.output)
            gateways[hop.output] = gateways[hop.output] ?? hop.gateway
        }
        guard !outputs.isEmpty else { return nil }
        table = attributes.number32(Self.table) ?? UInt32(shortTable)
        destinationBits = bits
        host = bits == 32 ? attributes[Self.destination].flatMap { ip($0, isV4: true, 0) } : nil
        metric = attributes.number32(Self.metric) ?? 0
        self.outputs = outputs
        self.gateways = gateways
    }

    private static func gateway(
        _ attributes: NetlinkAttributes, _ family: UInt8, _ output: UInt32
    ) -> IPAddress? {
        attributes[gateway].flatMap { ip($0, isV4: family == familyV4, output) }
            .flatMap { $0.isUnspecified ? nil : $0 }
    }

    /// struct rtnexthop: length, flags, hops, interface index; then its attributes.
    private static func hops(
        _ bytes: ArraySlice<UInt8>, _ family: UInt8
    ) -> [(output: UInt32, gateway: IPAddress?)] {
        var hops: [(output: UInt32, gateway: IPAddress?)] = []
        var rest = bytes
        while let length = rest.number16(at: 0).map(Int.init), length >= 8, length <= rest.count,
            let flags = rest.byte(at: 2), let index = rest.number32(at: 4)
        {
            if flags & dead == 0, index != 0 {
                let attributes = NetlinkAttributes(rest.prefix(length).dropFirst(8))
                hops.append((index, gateway(attributes, family, index)))
            }
            rest = rest.dropFirst((length + 3) & ~3)
        }
        return hops
    }
}

private let addressFamilyV4: UInt8 = 2
private let addressFamilyV6: UInt8 = 10

/// An address attribute; a link-local IPv6 address gets its interface as scope.
private func ip(_ bytes: ArraySlice<UInt8>, isV4: Bool, _ index: UInt32) -> IPAddress? {
    guard bytes.count == (isV4 ? 4 : 16), let plain = IPAddress(bytes: Array(bytes)) else { return nil }
    return !isV4 && plain.isLinkLocal ? IPAddress(bytes: Array(bytes), scope: index) : plain
}
