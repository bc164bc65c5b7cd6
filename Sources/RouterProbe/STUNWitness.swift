// SPDX-License-Identifier: Apache-2.0

internal import Policy
internal import Sockets
internal import Wire

/// The owner's STUN server (05 B6), on the calling thread.
struct STUNWitness: Sendable {
    /// How it ended.
    enum Outcome: Sendable, Equatable {
        case address(IPAddress)
        /// The setting or the name leads nowhere.
        case unresolved
        case refused
        case silent
    }

    let server: STUNServer
    let local: LocalEnd
    let lookups: NameLookups

    func ask(_ limits: Limits) -> Outcome {
        let limits = limits.within(limits.times.stun.end, from: limits.start)
        guard let found = lookups.addresses(of: server.name, until: limits.deadline, stop: limits.stop) else {
            return .silent
        }
        guard let ip = found.first(where: { $0.family == .v4 }) else { return .unresolved }
        var random = SystemRandomNumberGenerator()
        let transaction = (0..<12).map { _ in UInt8.random(in: 0...255, using: &random) }
        do throws(SocketError) {
            let socket = try Socket.datagram(from: local, to: SocketAddress(ip: ip, port: server.port))
            return try exchange(socket, transaction, limits)
        } catch {
            return error.isRefused ? .refused : .silent
        }
    }

    private func exchange(
        _ socket: borrowing Socket, _ transaction: [UInt8], _ limits: Limits
    ) throws(SocketError) -> Outcome {
        let start = monotonicNow()
        var dues = limits.times.stun.tries.map { start + $0 }
        while true {
            if let due = dues.first, monotonicNow() >= due {
                dues.removeFirst()
                try socket.sendDatagram(STUNBinding.request(transaction))
            }
            let isReady = try socket.wait(
                for: .readable, until: limits.next(dues.first), stop: limits.stop)
            if isReady, let datagram = try socket.receiveDatagram(max: STUNBinding.answerLimit),
                let address = STUNBinding.address(in: datagram.bytes, transaction: transaction)
            {
                return .address(address)
            }
            if monotonicNow() >= limits.deadline { return .silent }
            // The wait ended before any time was due: somebody raised the flag.
            if !isReady, monotonicNow() < limits.next(dues.first) { return .silent }
        }
    }
}
