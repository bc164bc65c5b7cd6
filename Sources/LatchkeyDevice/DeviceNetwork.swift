// SPDX-License-Identifier: Apache-2.0

internal import NetFacts
internal import Policy
internal import Sockets
internal import Wire

/// What the device's own interfaces say to a dial. Pure, but for ``read()``.
struct DeviceNetwork: Sendable, Equatable {
    /// Nil when the system does not say.
    private let table: InterfaceTable?

    /// These interfaces.
    init(_ table: InterfaceTable?) { self.table = table }

    /// The interfaces of this moment. Blocks for a moment.
    static func read() -> DeviceNetwork { DeviceNetwork(try? NetworkWatcher.read()) }

    /// The IPv4 networks that the device is part of (06 B2).
    var subnets: [DialOrder.Subnet] { table.map { DialOrder.subnets(of: $0) } ?? [] }

    /// Whether what leaves from this address goes through a VPN; nil when nobody knows.
    func usesTunnel(from local: IPAddress?) -> Bool? {
        guard let local, let owner = table?.owner(of: local) else { return nil }
        return owner.kind == .tunnel
    }

    /// The same of an address to which no way leads: a device that is on some network used none. One that is on no
    /// network at all has another problem than its VPN.
    var usesTunnelWithoutWay: Bool? {
        table?.interfaces.contains { isInUse($0) } == true ? false : nil
    }

    /// Whether the device still has this address, so that a connection from it can go on.
    func has(_ local: IPAddress) -> Bool { table?.owns(local) ?? true }

    /// The device's way to the world, as far as a reconnect cares whether it is another one (06 B4): its networks with
    /// their addresses and routers. Privacy addresses come and go by themselves.
    var way: [String] {
        (table?.interfaces ?? []).filter { isInUse($0) }.map { interface in
            let addresses = interface.addresses.filter { !$0.isTemporary }.map { "\($0.ip)" }.sorted()
            let routers = [interface.link.gateway, interface.link.gateway6].map { $0.map { "\($0)" } ?? "" }
            return ([interface.name] + addresses + routers).joined(separator: " ")
        }
    }

    private func isInUse(_ interface: NetworkInterface) -> Bool {
        interface.link.isUp && interface.kind != .loopback && interface.kind != .other
            && interface.addresses.contains { !$0.ip.isLinkLocal }
    }
}
