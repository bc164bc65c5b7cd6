// SPDX-License-Identifier: Apache-2.0

internal import CNATPMP
internal import Glibc
internal import Sockets
internal import Wire

/// One libnatpmp session with one gateway, over a socket that is pinned to the LAN. Nothing of the library leaves this
/// file.
@safe struct NATPMPSession: ~Copyable {
    /// What came.
    enum Reply: Sendable, Equatable {
        /// An answer that the library read: for a mapping, what was granted.
        case mapping(insidePort: Int, outsidePort: Int, lifetime: Int)
        /// An answer to the other question, or one with an error: its datagram says which.
        case other(NATPMPDatagram)
        /// Nobody listens at the gateway's port.
        case closed
        /// What came is no NAT-PMP.
        case noise
        /// Nothing waits.
        case nothing
    }

    private var raw = natpmp_t()

    /// nil when the gateway is no IPv4 or there is no way to it.
    init?(gateway: SocketAddress, from local: LocalEnd) {
        let bytes = gateway.ip.bytes
        guard bytes.count == 4 else { return nil }
        let forced = in_addr_t(bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) })
        // Its connect may fail where ours, bound to the interface, does not.
        let code = unsafe initnatpmp(&raw, 1, in_addr_t(littleEndian: forced))
        if raw.s >= 0, code == 0 || code == NATPMP_ERR_CONNECTERR || code == NATPMP_ERR_FCNTLERROR {
            _ = close(raw.s)
        }
        raw.s = -1
        raw.gateway = in_addr_t(littleEndian: forced)
        do throws(SocketError) {
            let socket = try Socket.datagram(from: local, to: gateway)
            raw.s = socket.release()
        } catch {
            return nil
        }
    }

    deinit {
        var raw = raw
        if raw.s >= 0 { _ = unsafe closenatpmp(&raw) }
    }

    /// For a wait beside others.
    var descriptor: Int32 { raw.s }

    /// Asks for the outside address. False when nothing could be sent.
    mutating func askAddress() -> Bool { unsafe sendpublicaddressrequest(&raw) == 2 }

    /// Asks for TCP `outsidePort` to lead to `insidePort` of this machine, or with `lifetime` 0 for the end of it.
    ///
    /// Never sends what means "all of this machine's": without a port inside nothing is asked.
    mutating func askMapping(insidePort: Int, outsidePort: Int, lifetime: Int) -> Bool {
        guard (1...65535).contains(insidePort), (0...65535).contains(outsidePort), lifetime >= 0 else {
            return false
        }
        return unsafe sendnewportmappingrequest(
            &raw, NATPMP_PROTOCOL_TCP, UInt16(insidePort), UInt16(outsidePort), UInt32(clamping: lifetime))
            == 12
    }

    /// What waits. Sends nothing again: the one who asks keeps the schedule.
    mutating func read() -> Reply {
        let datagram: NATPMPDatagram?
        do throws(SocketError) {
            guard let bytes = try peek() else { return .nothing }
            datagram = NATPMPDatagram(bytes)
        } catch {
            return error.isRefused ? .closed : .noise
        }
        guard let datagram else {
            drop()
            return .noise
        }
        var response = natpmpresp_t()
        // The library sends again when it finds its time over; it must not.
        raw.has_pending_request = 1
        raw.try_number = 0
        var now = timeval()
        unsafe gettimeofday(&now, nil)
        now.tv_sec += 60
        raw.retry_time = now
        let code = unsafe readnatpmpresponseorretry(&raw, &response)
        if code == NATPMP_TRYAGAIN { return .nothing }
        if code == 0, Int32(response.type) == NATPMP_RESPTYPE_TCPPORTMAPPING {
            return unsafe .mapping(
                insidePort: Int(response.pnu.newportmapping.privateport),
                outsidePort: Int(response.pnu.newportmapping.mappedpublicport),
                lifetime: Int(response.pnu.newportmapping.lifetime))
        }
        return .other(datagram)
    }

    private func peek() throws(SocketError) -> [UInt8]? {
        try lent { socket throws(SocketError) in try socket.receiveDatagram(max: 64, peek: true)?.bytes }
    }

    private func drop() {
        do throws(SocketError) {
            _ = try lent { socket throws(SocketError) in try socket.receiveDatagram(max: 64) }
        } catch {
            // It was dropped, or the next read says what is wrong.
        }
    }

    /// Lends the library's descriptor as a socket; it stays the library's.
    private func lent<R>(_ body: (borrowing Socket) throws(SocketError) -> R) throws(SocketError) -> R {
        let socket = Socket(adopting: descriptor)
        do throws(SocketError) {
            let result = try body(socket)
            _ = socket.release()
            return result
        } catch {
            _ = socket.release()
            throw error
        }
    }
}
