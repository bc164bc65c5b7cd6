// SPDX-License-Identifier: Apache-2.0

internal import HTTPFetch
internal import Sockets
internal import Wire

/// Calls actions of a router's services from the LAN address.
struct SOAPAsker: Sendable {
    let local: LocalEnd
    let limits: Limits

    /// One call; at most 2 s and 64 KiB.
    func ask(_ call: SOAPCall, of point: ControlPoint) -> SOAPReply { attempt(call, of: point).reply }

    /// All of them at the same time; the answers in the order of the calls. Those that a router broke off (some take one
    /// connection at a time) are asked again one by one.
    func ask(_ calls: [(call: SOAPCall, point: ControlPoint)]) -> [SOAPReply] {
        var replies = [SOAPReply](repeating: .silent, count: calls.count)
        var again: [Int] = []
        do throws(SocketError) {
            let crew = try Crew<(Int, Attempt)>()
            for (index, item) in calls.enumerated() {
                crew.start("igd question") { [self] in (index, attempt(item.call, of: item.point)) }
            }
            crew.join()
            for (index, attempt) in crew.take() {
                replies[index] = attempt.reply
                if attempt.isBroken { again.append(index) }
            }
        } catch {
            again = Array(calls.indices)
        }
        for index in again.sorted() where monotonicNow() < limits.deadline {
            replies[index] = ask(calls[index].call, of: calls[index].point)
        }
        return replies
    }

    private struct Attempt: Sendable {
        var reply: SOAPReply
        /// It ended at once without an answer.
        var isBroken = false
    }

    private func attempt(_ call: SOAPCall, of point: ControlPoint) -> Attempt {
        do throws(HTTPFetch.Failure) {
            let answer = try HTTPFetch.ask(
                call.request(to: point), at: .tcp(point.place.address, from: local),
                until: min(limits.deadline, monotonicNow() + limits.times.question), stop: limits.stop)
            return Attempt(reply: SOAPReply(status: answer.status, body: answer.body))
        } catch {
            switch error {
            case .notReached, .malformed: return Attempt(reply: .silent, isBroken: true)
            case .notAllowed, .silent, .tooLong, .unfit: return Attempt(reply: .silent)
            }
        }
    }
}
