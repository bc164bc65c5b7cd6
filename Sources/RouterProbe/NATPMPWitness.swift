// SPDX-License-Identifier: Apache-2.0

internal import Policy
internal import Sockets
internal import Wire

/// NAT-PMP and PCP at the gateway (05 B6), on the calling thread.
struct NATPMPWitness: Sendable {
    let gateway: SocketAddress
    let local: LocalEnd
    let schedule: TrySchedule

    /// Asks, and hands each answer over as it comes: NAT-PMP's once, then perhaps that PCP answered. Returns when
    /// nothing more can come, or the limits are reached.
    func ask(
        _ limits: Limits, answer: @Sendable (NATPMPAnswer) -> Void, pcpAsked: @Sendable () -> Void,
        pcp: @Sendable () -> Void
    ) {
        let limits = limits.within(schedule.end, from: limits.start)
        guard var session = NATPMPSession(gateway: gateway, from: local) else { return answer(.silent) }
        var dues = schedule.tries.map { limits.start + $0 }
        var result: NATPMPAnswer?
        var announce: PCPQuestion?
        var isPCPDone = false
        while true {
            if result == nil, let due = dues.first, monotonicNow() >= due {
                dues.removeFirst()
                _ = session.askAddress()
            }
            // Once, when NAT-PMP has no use or its last try is out unanswered.
            if announce == nil, result == .unsupported || (result == nil && dues.isEmpty) {
                announce = PCPQuestion.send(to: gateway, from: local)
                isPCPDone = announce == nil
                pcpAsked()
            }
            if result != nil && (announce == nil || isPCPDone) { return }
            let waits = [
                result == nil ? session.descriptor : -1, isPCPDone ? -1 : announce?.descriptor ?? -1,
                limits.stop.descriptor,
            ]
            let ready: [Bool]
            do throws(SocketError) {
                ready = try waitReadable(waits, until: limits.next(result == nil ? dues.first : nil))
            } catch {
                break
            }
            if ready[2] || monotonicNow() >= limits.deadline { break }
            if ready[0], let found = read(&session) {
                result = found
                answer(found)
            }
            if ready[1] {
                switch announce?.read() {
                case .answered:
                    pcp()
                    isPCPDone = true
                case .closed: isPCPDone = true
                case .noise, nil: break
                }
            }
        }
        if result == nil { answer(.silent) }
    }

    private func read(_ session: inout NATPMPSession) -> NATPMPAnswer? {
        switch session.read() {
        case .closed: .unsupported
        case .other(let datagram): datagram.addressAnswer
        case .mapping, .noise, .nothing: nil
        }
    }
}

/// One ANNOUNCE on its way.
private struct PCPQuestion: ~Copyable {
    enum Reply { case answered, closed, noise }

    private let socket: Socket

    private init(_ socket: consuming Socket) { self.socket = socket }

    /// nil when it could not be sent.
    static func send(to gateway: SocketAddress, from local: LocalEnd) -> PCPQuestion? {
        do throws(SocketError) {
            let socket = try Socket.datagram(from: local, to: gateway)
            try socket.sendDatagram(PCPAnnounce.request(from: local.ip))
            return PCPQuestion(socket)
        } catch {
            return nil
        }
    }

    var descriptor: Int32 { socket.descriptor }

    borrowing func read() -> Reply {
        do throws(SocketError) {
            guard let datagram = try socket.receiveDatagram(max: 1100) else { return .noise }
            return PCPAnnounce.isAnswer(datagram.bytes) ? .answered : .noise
        } catch {
            return .closed
        }
    }
}
