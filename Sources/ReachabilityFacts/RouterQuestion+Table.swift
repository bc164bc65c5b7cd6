// SPDX-License-Identifier: Apache-2.0

package import Policy
package import RouterProbe
package import Wire

extension RouterQuestion {
    /// Which router is asked, and from where (05 B6): the one of the primary LAN, never of a tunnel, whatever carries the
    /// default route. nil without a usable LAN IPv4, and on a mobile or PPPoE link, where there is none (09.44).
    package init?(_ table: InterfaceTable, seen: SeenGateways, outsidePort: Int, stunServer: String? = nil) {
        guard let lan = AddressList.primaryLAN(table), lan.kind == .lan,
            let ip = AddressList.lanAddress(table),
            let own = lan.addresses.first(where: { $0.ip == ip })
        else { return nil }
        self.init(
            gateway: lan.link.gateway ?? seen.gateway(ip, bits: own.prefixBits), lan: ip,
            prefixBits: own.prefixBits, interface: lan.name, interfaceIndex: lan.index,
            outsidePort: outsidePort)
        self.stunServer = stunServer
    }

    /// What the schedule knows of it.
    package var target: ProbeSchedule.Target { ProbeSchedule.Target(gateway: gateway, lan: lan) }

    /// Whether an answer to one is an answer to the other, whatever the limits were.
    package func asksTheSame(as other: RouterQuestion) -> Bool {
        var (mine, theirs) = (self, other)
        (mine.isPatient, theirs.isPatient) = (false, false)
        (mine.asksUPnP, theirs.asksUPnP) = (true, true)
        return mine == theirs
    }
}

extension LANLink {
    /// From where the router is asked for a mapping or a pinhole: the end that it is probed from, and its IPv6 there.
    package init?(_ table: InterfaceTable) {
        guard let question = RouterQuestion(table, seen: SeenGateways(), outsidePort: 0) else { return nil }
        self.init(question)
        gateway6 = table.interface(index: question.interfaceIndex)?.link.gateway6
    }
}

/// The gateway last seen with each LAN prefix: a VPN can take every route away that names it.
package struct SeenGateways: Sendable, Equatable {
    /// The most networks that are remembered; of more the oldest goes.
    static let limit = 16

    private struct Seen: Sendable, Equatable {
        var lan: IPAddress
        var bits: Int
        var gateway: IPAddress
    }

    private var seen: [Seen] = []

    package init() {}

    /// Remembers the gateways of the LAN links.
    package mutating func note(_ table: InterfaceTable) {
        for interface in table.interfaces where interface.kind == .lan {
            guard let gateway = interface.link.gateway else { continue }
            for address in interface.addresses where address.ip.family == .v4 {
                seen.removeAll { Self.isSame($0, address.ip, address.prefixBits) }
                seen.append(Seen(lan: address.ip, bits: address.prefixBits, gateway: gateway))
            }
        }
        seen.removeFirst(max(0, seen.count - Self.limit))
    }

    /// The one seen with the network of this address.
    package func gateway(_ ip: IPAddress, bits: Int) -> IPAddress? {
        seen.last { Self.isSame($0, ip, bits) }?.gateway
    }

    private static func isSame(_ seen: Seen, _ ip: IPAddress, _ bits: Int) -> Bool {
        seen.bits == bits && ip.isInside(prefix: seen.lan, bits: bits)
    }
}
