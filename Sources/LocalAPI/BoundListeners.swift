// Where the server listens. SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Sockets
internal import Wire

/// Listening sockets, made or inherited, on their way to the server's thread, which closes them.
struct BoundListeners {
    /// All of them.
    private(set) var descriptors: [Int32] = []
    /// The Unix socket's path when it was made here.
    private(set) var unixPath: String?
    /// The TCP port; nil: none.
    private(set) var port: UInt16?
    /// Where it listens over TCP.
    private(set) var addresses: [SocketAddress] = []

    /// The owner may read and write, and its group; the callers' own rule comes on top (spec 07).
    private static let socketMode: UInt32 = 0o660

    init(_ configuration: APIServer.Configuration) throws(SocketError) {
        var hasUnix = false
        for descriptor in configuration.inherited {
            let socket = Socket(adopting: descriptor)
            prepareInherited(socket)
            if let address = socket.localAddress() {
                addresses.append(address)
                port = port ?? address.port
            } else {
                hasUnix = true
            }
            descriptors.append(socket.release())
        }
        do {
            if !hasUnix, let path = configuration.unixPath {
                let socket = try Socket.unixListener(path: path, mode: Self.socketMode)
                descriptors.append(socket.release())
                unixPath = path
                // Its members could not open a socket that belongs to the service's own group.
                if let group = configuration.callers.adminGroup { try giveToGroup(path, group) }
            }
            if port == nil, let wanted = configuration.tcpPort {
                let made = try LoopbackListeners.make(port: wanted)
                descriptors += made.descriptors
                port = made.port
                addresses = made.addresses
            }
        } catch {
            for descriptor in descriptors { close(descriptor) }
            if let unixPath { try? removeFile(unixPath) }
            throw error
        }
    }
}

/// Two TCP listeners on one port (spec 09.17).
enum LoopbackListeners {
    /// How often another port is tried with port 0: the one the kernel gave for IPv4 may be taken for IPv6.
    private static let attempts = 32

    /// 127.0.0.1 and [::1] with the same port; 0: any that is free for both. A machine without IPv6 has only the first.
    ///
    /// Throws with `isAddressInUse` when the port is taken.
    static func make(
        port: UInt16
    ) throws(SocketError) -> (descriptors: [Int32], port: UInt16, addresses: [SocketAddress]) {
        guard let loopback4 = IPAddress("127.0.0.1"), let loopback6 = IPAddress("::1") else {
            throw SocketError(errno: EINVAL, call: "bind")
        }
        var last = SocketError(errno: EADDRINUSE, call: "bind 127.0.0.1")
        for _ in 0..<(port == 0 ? attempts : 1) {
            let v4 = try Socket.tcpListener(SocketAddress(ip: loopback4, port: port), v6Only: false)
            guard let first = v4.localAddress() else { throw last }
            let second = SocketAddress(ip: loopback6, port: first.port)
            do {
                let v6 = try Socket.tcpListener(second, v6Only: true)
                return ([v4.release(), v6.release()], first.port, [first, second])
            } catch {
                if error.isFamilyMissing || error.errno == EADDRNOTAVAIL {
                    return ([v4.release()], first.port, [first])
                }
                last = error
                guard port == 0, error.isAddressInUse else { throw error }
            }
        }
        throw last
    }
}
