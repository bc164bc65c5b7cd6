// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc
package import Wire

/// The end of a question on this machine: an own address, and the interface that packets must leave by whatever the
/// routes say.
package struct LocalEnd: Sendable, Hashable {
    package var ip: IPAddress
    /// nil: as the routes say.
    package var interface: String?

    package init(ip: IPAddress, interface: String? = nil) {
        self.ip = ip
        self.interface = interface
    }
}

extension Socket {
    /// A UDP socket at `local`: nonblocking, close-on-exec. With `peer` it is connected: it takes only that one's
    /// datagrams, and learns that nobody listens there (`isRefused`).
    package static func datagram(
        from local: LocalEnd, port: UInt16 = 0, to peer: SocketAddress? = nil
    ) throws(SocketError) -> Socket {
        let made = try makeDatagram(local.ip)
        try pin(made, to: local, port: port)
        if let peer { try connect(made, RawAddress(peer), call: "connect \(peer)") }
        return made
    }

    /// A UDP socket that takes what is sent to an IPv4 multicast group on one interface. Others on this machine may
    /// listen there too.
    package static func multicastListener(
        _ group: SocketAddress, interfaceIndex: UInt32
    ) throws(SocketError) -> Socket {
        let made = try makeDatagram(group.ip)
        setOption(made.descriptor, SOL_SOCKET, SO_REUSEADDR, 1)
        var raw = RawAddress(group)
        _ = try syscall("bind \(group)") { unsafe shim_bind(made.descriptor, &raw.storage, raw.length) }
        let bytes = group.ip.bytes
        _ = try syscall("join \(group)") {
            unsafe shim_multicast_join(made.descriptor, interfaceIndex, bytes)
        }
        return made
    }

    /// Chooses where this socket's multicasts leave from, and how many routers they pass.
    package borrowing func sendMulticast(
        from ip: IPAddress, interfaceIndex: UInt32, hops: Int32
    ) throws(SocketError) {
        let descriptor = descriptor
        let bytes = ip.bytes
        guard bytes.count == 4 else { throw SocketError(errno: EAFNOSUPPORT, call: "multicast from \(ip)") }
        _ = try syscall("multicast from \(ip)") {
            unsafe shim_multicast_from(descriptor, interfaceIndex, bytes, hops)
        }
    }

    /// Sends one datagram, to the peer of a connected socket without `address`.
    package borrowing func sendDatagram(_ bytes: [UInt8], to address: SocketAddress? = nil)
        throws(SocketError)
    {
        var raw = RawAddress()
        if let address { raw = RawAddress(address) } else { raw.length = 0 }
        let descriptor = descriptor
        _ = try syscall("send") {
            unsafe bytes.withUnsafeBytes { bytes in
                unsafe shim_sendto(descriptor, bytes.baseAddress, bytes.count, &raw.storage, raw.length)
            }
        }
    }

    /// The next datagram, nil when none waits. One of more than `max` bytes comes as `max` + 1 bytes. `peek` leaves it
    /// there. Throws with `isRefused` when nobody listens at a connected socket's peer.
    package borrowing func receiveDatagram(
        max: Int, peek: Bool = false
    ) throws(SocketError) -> (bytes: [UInt8], from: SocketAddress)? {
        var room = [UInt8](repeating: 0, count: max + 1)
        let descriptor = descriptor
        let flags = peek ? Int32(MSG_PEEK) : 0
        while true {
            var raw = RawAddress()
            let count: Int
            do throws(SocketError) {
                count = try syscall("receive") {
                    unsafe room.withUnsafeMutableBytes { room in
                        unsafe shim_recvfrom(
                            descriptor, room.baseAddress, room.count, flags, &raw.storage, &raw.length)
                    }
                }
            } catch {
                if error.isWouldBlock { return nil }
                throw error
            }
            guard let from = raw.socketAddress() else { continue }
            return (Array(room.prefix(count)), from)
        }
    }

    private static func makeDatagram(_ ip: IPAddress) throws(SocketError) -> Socket {
        let kind = Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        return Socket(
            adopting: try syscall("socket \(ip)") {
                socket(ip.family == .v6 ? AF_INET6 : AF_INET, kind, 0)
            })
    }

    /// Pins this end of a socket. The interface is a wish: kernels before 5.7 let only root choose it, and then the
    /// address alone decides.
    static func pin(
        _ socket: borrowing Socket, to local: LocalEnd, port: UInt16 = 0
    ) throws(SocketError) {
        let descriptor = socket.descriptor
        if let interface = local.interface {
            let name = Array(interface.utf8) + [0]
            _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_BINDTODEVICE, name, socklen_t(name.count))
        }
        var raw = RawAddress(SocketAddress(ip: local.ip, port: port))
        _ = try syscall("bind \(local.ip)") { unsafe shim_bind(descriptor, &raw.storage, raw.length) }
    }
}
