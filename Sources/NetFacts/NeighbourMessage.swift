// SPDX-License-Identifier: Apache-2.0

internal import Policy
internal import Wire

/// One entry of the neighbour table (04 §3.4, `RTM_GETNEIGH`).
struct NeighbourMessage: Equatable {
    var index: UInt32
    var ip: IPAddress
    var entry: CableNeighbour

    // <linux/neighbour.h>.
    private static let destination: UInt16 = 1
    private static let linkAddress: UInt16 = 2
    private static let headerSize = 12

    /// struct ndmsg: family, padding, index, state, flags, type; then the address that is asked for.
    static func question(_ ip: IPAddress, on index: UInt32) -> [UInt8] {
        let family: UInt8 = ip.family == .v6 ? 10 : 2
        return [family, 0, 0, 0] + bytes(index) + [0, 0, 0, 0]
            + NetlinkMessage.attribute(destination, ip.bytes)
    }
}

extension NeighbourMessage {
    /// nil for a body that is cut short, or without an address.
    init?(_ body: ArraySlice<UInt8>) {
        guard body.count >= Self.headerSize, let index = body.number32(at: 4), index != 0,
            let state = body.number16(at: 8)
        else { return nil }
        let attributes = NetlinkAttributes(body.dropFirst(Self.headerSize))
        guard let destination = attributes[Self.destination],
            let ip = IPAddress(bytes: Array(destination), scope: index)
        else { return nil }
        self.index = index
        self.ip = ip
        entry = CableNeighbour(state: state, address: attributes[Self.linkAddress].map(Array.init) ?? [])
    }
}
