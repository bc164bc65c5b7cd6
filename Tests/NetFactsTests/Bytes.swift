// SPDX-License-Identifier: Apache-2.0

@testable import NetFacts

/// Numbers as the kernel lays them out on a little-endian machine, which is where these tests' bytes come from.
func little(_ number: some FixedWidthInteger) -> [UInt8] {
    (0..<number.bitWidth / 8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
}

/// struct ifinfomsg and attributes.
func linkBody(
    index: UInt32, type: UInt16 = 1, flags: UInt32 = 0x1043, name: String, kind: String? = nil,
    master: UInt32? = nil
) -> [UInt8] {
    var body: [UInt8] = [0, 0] + little(type) + little(index) + little(flags) + little(UInt32(0))
    body += NetlinkMessage.attribute(3, Array(name.utf8) + [0])
    if let master { body += NetlinkMessage.attribute(10, little(master)) }
    if let kind {
        body += NetlinkMessage.attribute(
            18 | 0x8000,
            NetlinkMessage.attribute(1, Array(kind.utf8) + [0]) + NetlinkMessage.attribute(2, [9, 9]))
    }
    return body
}

/// struct ifaddrmsg and attributes.
func addressBody(
    family: UInt8, bits: UInt8, index: UInt32, address: [UInt8]? = nil, local: [UInt8]? = nil,
    lowFlags: UInt8 = 0,
    flags: UInt32? = nil
) -> [UInt8] {
    var body: [UInt8] = [family, bits, lowFlags, 0] + little(index)
    if let address { body += NetlinkMessage.attribute(1, address) }
    if let local { body += NetlinkMessage.attribute(2, local) }
    if let flags { body += NetlinkMessage.attribute(8, little(flags)) }
    return body
}

/// struct rtmsg and attributes.
func routeBody(
    family: UInt8 = 2, bits: UInt8 = 0, table: UInt8 = 254, type: UInt8 = 1, flags: UInt32 = 0,
    output: UInt32? = nil,
    metric: UInt32? = nil, longTable: UInt32? = nil, hops: [(index: UInt32, flags: UInt8)] = [],
    gateway: [UInt8]? = nil, hopGateway: [UInt8] = [10, 0, 0, 1], destination: [UInt8]? = nil
) -> [UInt8] {
    var body: [UInt8] = [family, bits, 0, 0, table, 3, 0, type] + little(flags)
    if let destination { body += NetlinkMessage.attribute(1, destination) }
    if let longTable { body += NetlinkMessage.attribute(15, little(longTable)) }
    if let metric { body += NetlinkMessage.attribute(6, little(metric)) }
    if let output { body += NetlinkMessage.attribute(4, little(output)) }
    if let gateway { body += NetlinkMessage.attribute(5, gateway) }
    if !hops.isEmpty {
        body += NetlinkMessage.attribute(
            9,
            hops.flatMap { hop in
                // struct rtnexthop with a gateway attribute behind it.
                little(UInt16(12 + hopGateway.count)) + [hop.flags, 0] + little(hop.index)
                    + NetlinkMessage.attribute(5, hopGateway)
            })
    }
    return body
}

func datagram(_ messages: [(type: UInt16, body: [UInt8])], flags: UInt16 = 2, sequence: UInt32 = 7) -> [UInt8]
{
    messages.flatMap { message in
        let bytes = NetlinkMessage.request(message.type, flags: flags, sequence: sequence, body: message.body)
        return bytes + [UInt8](repeating: 0, count: (4 - bytes.count % 4) % 4)
    }
}
