// SPDX-License-Identifier: Apache-2.0

internal import Policy
internal import Sockets
internal import Wire

/// A socket with several holders; closed with the last of them.
final class SharedSocket: Sendable {
    let socket: Socket

    init(_ socket: consuming Socket) { self.socket = socket }
}

/// A door's listening sockets: one for each address family, with the same number (spec 03 section 2.2).
final class DoorListener: Sendable {
    let door: Door
    let sockets: [SharedSocket]
    let port: UInt16
    /// Handed over by the service manager, which keeps them open: never shut down here.
    let isInherited: Bool

    /// Why a door does not listen.
    enum Failure: Error {
        /// Another program holds the number, in one family or both.
        case inUse
        /// Words for people.
        case other(String)
    }

    /// Tries with port 0, where the kernel picks a number for IPv6 that may be taken for IPv4.
    private static let tries = 16

    /// How long data to an away device may stand unacknowledged (spec 01 section 4.2).
    private static let unacknowledged: Duration = .seconds(15)
    /// Unsent bytes the kernel keeps of a remote session (spec 06 C2).
    private static let unsentInKernel: Int32 = 131_072

    private init(door: Door, sockets: [SharedSocket], port: UInt16, isInherited: Bool) {
        self.door = door
        self.sockets = sockets
        self.port = port
        self.isInherited = isInherited
    }

    /// Listens on every address (`address` nil: IPv6 and IPv4, a family that the machine lacks left out) or on one.
    ///
    /// Port 0 takes a number that is free in both families. Never half open: a family in use fails the whole.
    static func open(_ door: Door, port: UInt16, address: IPAddress?) throws(Failure) -> DoorListener {
        let addresses: [IPAddress] =
            address.map { [$0] } ?? [IPAddress("::"), IPAddress("0.0.0.0")].compactMap { $0 }
        var attempt = 0
        while true {
            attempt += 1
            do {
                return try bind(door, addresses, port: port)
            } catch .inUse where port == 0 && attempt < tries {
                continue
            }
        }
    }

    /// Takes over listening sockets of the service manager; nil when none of them listens on TCP.
    static func adopt(_ door: Door, descriptors: [Int32]) -> DoorListener? {
        var sockets: [SharedSocket] = []
        var port: UInt16?
        for descriptor in descriptors {
            let shared = SharedSocket(Socket(adopting: descriptor))
            guard let address = shared.socket.localAddress() else { continue }
            prepareInherited(shared.socket)
            applyOptions(shared.socket, of: door)
            port = port ?? address.port
            sockets.append(shared)
        }
        guard let port else { return nil }
        return DoorListener(door: door, sockets: sockets, port: port, isInherited: true)
    }

    /// Frees the number at once, though workers may hold the sockets a moment longer.
    func end() {
        guard !isInherited else { return }
        for shared in sockets { shared.socket.shutdownListener() }
    }

    /// Accepted sockets inherit these, which saves seven calls for each connection.
    private static func applyOptions(_ socket: borrowing Socket, of door: Door) {
        applyDoorOptions(socket, userTimeout: door == .remote ? unacknowledged : nil)
        if door == .remote { limitUnsent(socket, bytes: unsentInKernel) }
    }

    private static func bind(
        _ door: Door, _ addresses: [IPAddress], port: UInt16
    ) throws(Failure) -> DoorListener {
        var sockets: [SharedSocket] = []
        var number = port
        var missing: SocketError?
        for ip in addresses {
            do {
                let socket = try Socket.tcpListener(SocketAddress(ip: ip, port: number), v6Only: true)
                applyOptions(socket, of: door)
                if number == 0, let bound = socket.localAddress() { number = bound.port }
                sockets.append(SharedSocket(socket))
            } catch  where error.isFamilyMissing && addresses.count > 1 {
                missing = error
            } catch  where error.isAddressInUse {
                throw .inUse
            } catch {
                throw .other(error.message)
            }
        }
        guard !sockets.isEmpty else { throw .other(missing?.message ?? "no address to listen on") }
        return DoorListener(door: door, sockets: sockets, port: number, isInherited: false)
    }
}
