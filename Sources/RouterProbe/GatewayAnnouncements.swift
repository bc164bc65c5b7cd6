// SPDX-License-Identifier: Apache-2.0

internal import EventLoop
package import Sockets
internal import Synchronization
package import Wire

/// Listens for gateways that say their address has changed (RFC 6886 section 3.2.1, 05 B6). What is said is never
/// believed: it is a reason to ask again, and no more.
package final class GatewayAnnouncements: Sendable {
    /// A gateway says it ten times over; whoever shouts on is heard this often at most.
    private static let quiet: Duration = .seconds(1)

    private let stop: WakeUp
    private let thread: JoinHandle

    /// Calls `heard` on a thread of its own after an announcement from `gateway` on the interface. Throws when the group
    /// cannot be joined there.
    package convenience init(
        gateway: IPAddress, interfaceIndex: UInt32, heard: @escaping @Sendable () -> Void
    ) throws(SocketError) {
        try self.init(
            gateway: gateway, interfaceIndex: interfaceIndex,
            group: SocketAddress(ip: IPAddress(v4: 0xE000_0001), port: 5350), heard: heard)
    }

    init(
        gateway: IPAddress, interfaceIndex: UInt32, group: SocketAddress,
        heard: @escaping @Sendable () -> Void
    ) throws(SocketError) {
        let socket = try Socket.multicastListener(group, interfaceIndex: interfaceIndex)
        let stop = try WakeUp()
        self.stop = stop
        thread = try Self.listen(on: socket, gateway: gateway, stop: stop, heard: heard)
    }

    deinit { end() }

    /// Listens no longer; `heard` is not called after this returns.
    package func end() {
        stop.signal()
        thread.join()
    }

    /// Whether the datagram is one: the address question's answer, which nobody asked for.
    static func isAnnouncement(_ bytes: [UInt8]) -> Bool {
        guard bytes.count == 12, let read = NATPMPDatagram(bytes) else { return false }
        return read.version == 0 && read.operation == 128
    }

    private static func listen(
        on socket: consuming Socket, gateway: IPAddress, stop: WakeUp, heard: @escaping @Sendable () -> Void
    ) throws(SocketError) -> JoinHandle {
        let holder = Holder(socket)
        return try runThread(name: "announcements") {
            var quietUntil: MonotonicTime?
            while true {
                do throws(SocketError) {
                    let ready = try waitReadable([holder.socket.descriptor, stop.descriptor], until: nil)
                    if ready[1] { return }
                    guard let datagram = try holder.socket.receiveDatagram(max: 64),
                        datagram.from.ip == gateway,
                        isAnnouncement(datagram.bytes)
                    else { continue }
                } catch {
                    // The interface went; its next one gets a listener of its own.
                    return
                }
                let now = monotonicNow()
                if let quietUntil, now < quietUntil { continue }
                quietUntil = now + quiet
                heard()
            }
        }
    }

    /// The thread's own socket, which goes with it.
    private final class Holder: Sendable {
        let socket: Socket
        init(_ socket: consuming Socket) { self.socket = socket }
    }
}
