// SPDX-License-Identifier: Apache-2.0

internal import Policy
internal import Sockets
internal import Wire

/// One mapping over NAT-PMP, where there is no IGD (05 B8).
struct NATPMPMapping: Sendable {
    let wish: MappingWish
    let link: LANLink
    /// The gateway's.
    let port: UInt16

    private enum Answer {
        case granted(outsidePort: Int, lifetime: Int)
        case result(Int)
        case unsupported
        case silent
    }

    func map(_ limits: Limits) -> MappingOutcome {
        guard var session = session() else { return .pending }
        switch ask(&session, outsidePort: wish.outsidePort, lifetime: MappingPolicy.lease, limits) {
        case .silent: return .pending
        case .unsupported: return MappingPolicy.afterResult(1)
        case .result(let code): return MappingPolicy.afterResult(code)
        case .granted(let outside, let lifetime):
            let outcome = MappingPolicy.granted(wish, outsidePort: outside, lifetime: lifetime)
            if case .portDiffers = outcome {
                // Given back; should the router not hear it, it ends with its lease.
                _ = ask(&session, outsidePort: 0, lifetime: 0, limits)
            }
            return outcome
        }
    }

    func unmap(_ limits: Limits) -> UnmappingOutcome {
        // The router goes by the sender's address; what an earlier one got ends with its lease.
        guard link.lan == wish.lan else { return .leftAlone }
        guard var session = session() else { return .pending }
        return switch ask(&session, outsidePort: 0, lifetime: 0, limits) {
        case .granted: .removed
        case .silent: .pending
        case .unsupported: .wasGone
        case .result(let code):
            if case .refused(let words) = MappingPolicy.afterResult(code) {
                .refused(words)
            } else {
                .wasGone
            }
        }
    }

    private func session() -> NATPMPSession? {
        NATPMPSession(gateway: SocketAddress(ip: wish.gateway, port: port), from: link.local)
    }

    private func ask(
        _ session: inout NATPMPSession, outsidePort: Int, lifetime: Int, _ limits: Limits
    ) -> Answer {
        let begin = monotonicNow()
        // What is given back has less time: the answer to the first question is what counts.
        let schedule = lifetime == 0 ? limits.times.natpmp : limits.times.patientNATPMP
        let limits = limits.within(schedule.end, from: begin)
        var dues = schedule.tries.map { begin + $0 }
        while monotonicNow() < limits.deadline {
            if let due = dues.first, monotonicNow() >= due {
                dues.removeFirst()
                guard
                    session.askMapping(
                        insidePort: wish.insidePort, outsidePort: outsidePort, lifetime: lifetime)
                else { return .silent }
            }
            let ready: [Bool]
            do throws(SocketError) {
                ready = try waitReadable([session.descriptor], until: limits.next(dues.first))
            } catch {
                return .silent
            }
            guard ready[0] else { continue }
            switch session.read() {
            case .closed: return .unsupported
            case .mapping(let inside, let outside, let granted):
                // An answer to an earlier question has another lifetime: the end of a mapping is always 0.
                if inside == wish.insidePort, (granted == 0) == (lifetime == 0) || lifetime != 0 {
                    return .granted(outsidePort: outside, lifetime: granted)
                }
            case .other(let datagram):
                if datagram.version != 0 { return .unsupported }
                if datagram.operation == 130 || datagram.result == 5 { return .result(Int(datagram.result)) }
            case .noise, .nothing: continue
            }
        }
        return .silent
    }
}
