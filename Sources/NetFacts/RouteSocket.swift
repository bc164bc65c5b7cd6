// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc
internal import Sockets
internal import Wire

/// The rtnetlink socket that asks (spec 05 B1). Used by one thread at a time.
struct RouteSocket: ~Copyable {
    private let socket: Socket
    private var sequence: UInt32 = 0
    private var buffer = [UInt8](repeating: 0, count: 64 * 1024)

    private static let dumpFlags: UInt16 = 0x301  // NLM_F_REQUEST | NLM_F_DUMP
    private static let requestFlags: UInt16 = 0x1  // NLM_F_REQUEST
    /// How often a look that was overtaken by a change begins again; the last one counts as it is, since the change
    /// itself is on its way as a notification.
    private static let attempts = 4

    init() throws(SocketError) {
        socket = try openRouteSocket(isNonblocking: false)
        shim_netlink_limits(socket.descriptor)
    }

    /// Links, addresses and routes of one moment, and where a packet to the internet would leave.
    mutating func read() throws(SocketError) -> NetworkReading {
        var reading = NetworkReading()
        for _ in 0..<Self.attempts {
            let links = try dump(NetlinkMessage.Kind.getLink, body: [UInt8](repeating: 0, count: 16))
            let addresses = try dump(NetlinkMessage.Kind.getAddress, body: [UInt8](repeating: 0, count: 8))
            let routes = try dumpRoutes(RouteMessage.familyV4)
            let routes6 = try dumpRoutes(RouteMessage.familyV6)
            reading.links = links.messages.filter { $0.type == NetlinkMessage.Kind.newLink }
                .compactMap { LinkMessage($0.body) }
            reading.addresses = addresses.messages.filter { $0.type == NetlinkMessage.Kind.newAddress }
                .compactMap { AddressMessage($0.body) }
            reading.routes = routes.found
            reading.routes6 = routes6.found
            if links.isWhole && addresses.isWhole && routes.isWhole && routes6.isWhole { break }
        }
        reading.primary = try egress()
        return reading
    }

    private mutating func dumpRoutes(
        _ family: UInt8
    ) throws(SocketError) -> (found: [RouteMessage], isWhole: Bool) {
        let dump = try dump(
            NetlinkMessage.Kind.getRoute, body: [family] + [UInt8](repeating: 0, count: 11))
        let found = dump.messages.filter { $0.type == NetlinkMessage.Kind.newRoute }
            .compactMap { RouteMessage($0.body, family: family) }
        return (found, dump.isWhole)
    }

    /// Links by index and name, in the kernel's order.
    mutating func links() throws(SocketError) -> [LinkMessage] {
        try list(NetlinkMessage.Kind.getLink, NetlinkMessage.Kind.newLink, headerSize: 16)
            .compactMap { LinkMessage($0.body) }
    }

    /// The IPv6 neighbour table of all interfaces.
    mutating func neighbours() throws(SocketError) -> [NeighbourMessage] {
        try list(
            NetlinkMessage.Kind.getNeighbour, NetlinkMessage.Kind.newNeighbour, family: 10, headerSize: 12
        ).compactMap { NeighbourMessage($0.body) }
    }

    /// The neighbour table's one entry for an address on an interface; nil without one.
    mutating func neighbour(_ ip: IPAddress, on index: UInt32) throws(SocketError) -> NeighbourMessage? {
        let body = NeighbourMessage.question(ip, on: index)
        let own = try send(NetlinkMessage.Kind.getNeighbour, flags: Self.requestFlags, body: body)
        while true {
            for message in try receive() where message.sequence == own {
                if message.type == NetlinkMessage.Kind.error {
                    let code = message.errorNumber ?? EPROTO
                    if code == ENOENT { return nil }
                    throw SocketError(errno: code, call: "rtnetlink neighbour")
                }
                guard message.type == NetlinkMessage.Kind.newNeighbour else { continue }
                // What was not asked for is no answer, whatever the kernel makes of the question.
                let found = NeighbourMessage(message.body)
                return found?.index == index && found?.ip.unscoped == ip.unscoped ? found : nil
            }
        }
    }

    /// One whole dump.
    private mutating func list(
        _ type: UInt16, _ answer: UInt16, family: UInt8 = 0, headerSize: Int
    ) throws(SocketError) -> [NetlinkMessage] {
        var found: [NetlinkMessage] = []
        for _ in 0..<Self.attempts {
            let dump = try dump(type, body: [family] + [UInt8](repeating: 0, count: headerSize - 1))
            found = dump.messages.filter { $0.type == answer }
            if dump.isWhole { break }
        }
        return found
    }

    /// The FIB's answer for 1.1.1.1; nothing is sent. nil without a route.
    private mutating func egress() throws(SocketError) -> UInt32? {
        let destination = NetlinkMessage.attribute(1, [1, 1, 1, 1])
        let header: [UInt8] = [2, 32] + [UInt8](repeating: 0, count: 10)
        let own = try send(NetlinkMessage.Kind.getRoute, flags: Self.requestFlags, body: header + destination)
        while true {
            for message in try receive() where message.sequence == own {
                if message.type == NetlinkMessage.Kind.error { return nil }
                guard message.type == NetlinkMessage.Kind.newRoute else { continue }
                let attributes = NetlinkAttributes(message.body.dropFirst(12))
                return attributes.number32(4).flatMap { $0 == 0 ? nil : $0 }
            }
        }
    }

    private mutating func dump(
        _ type: UInt16, body: [UInt8]
    ) throws(SocketError) -> (messages: [NetlinkMessage], isWhole: Bool) {
        let own = try send(type, flags: Self.dumpFlags, body: body)
        var found: [NetlinkMessage] = []
        var isWhole = true
        while true {
            for message in try receive() where message.sequence == own {
                if message.flags & NetlinkMessage.interruptedFlag != 0 { isWhole = false }
                switch message.type {
                case NetlinkMessage.Kind.done: return (found, isWhole)
                case NetlinkMessage.Kind.error:
                    throw SocketError(errno: message.errorNumber ?? EPROTO, call: "rtnetlink dump")
                default: found.append(message)
                }
            }
        }
    }

    private mutating func send(_ type: UInt16, flags: UInt16, body: [UInt8]) throws(SocketError) -> UInt32 {
        sequence &+= 1
        let request = NetlinkMessage.request(type, flags: flags, sequence: sequence, body: body)
        let sent = unsafe request.withUnsafeBytes { bytes in
            unsafe shim_netlink_send(socket.descriptor, bytes.baseAddress, bytes.count)
        }
        guard sent == request.count else { throw SocketError(errno: errno, call: "rtnetlink send") }
        return sequence
    }

    /// One datagram of the kernel's; those of other processes are dropped.
    private mutating func receive() throws(SocketError) -> [NetlinkMessage] {
        while true {
            var isKernel: Int32 = 0
            let count = unsafe buffer.withUnsafeMutableBytes { bytes in
                unsafe shim_netlink_receive(socket.descriptor, bytes.baseAddress, bytes.count, &isKernel)
            }
            if count < 0 {
                let code = errno
                if code == EINTR { continue }
                throw SocketError(errno: code == EAGAIN ? ETIMEDOUT : code, call: "rtnetlink receive")
            }
            guard isKernel != 0 else { continue }
            guard count <= buffer.count else {
                buffer = [UInt8](repeating: 0, count: count)
                throw SocketError(errno: EMSGSIZE, call: "rtnetlink receive")
            }
            return NetlinkMessage.all(in: Array(buffer[..<count]))
        }
    }
}

/// An rtnetlink socket.
func openRouteSocket(isNonblocking: Bool) throws(SocketError) -> Socket {
    let descriptor = shim_netlink_open(isNonblocking ? 1 : 0)
    guard descriptor >= 0 else { throw SocketError(errno: errno, call: "rtnetlink socket") }
    return Socket(adopting: descriptor)
}
