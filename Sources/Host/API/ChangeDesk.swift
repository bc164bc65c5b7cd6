// SPDX-License-Identifier: Apache-2.0

package import Core
internal import APITypes
internal import LocalAPI
internal import Synchronization

/// Callers who wait for their change to be committed. As bounded as the requests are: one entry a request.
package final class ChangeDesk: Sendable {
    private let waiting = Mutex<[ChangeID: @Sendable (ChangeOutcome) -> Void]>([:])

    /// An empty desk.
    package init() {}

    /// Takes effect `changeDone`; called under the core's lock, so it only enqueues.
    package func done(_ id: ChangeID, _ outcome: ChangeOutcome) {
        let answer = waiting.withLock { $0.removeValue(forKey: id) }
        answer?(outcome)
    }

    /// Must be called inside the core's entry that proposed the change: its effects, and so `done`, come only after.
    func expect(_ id: ChangeID, _ answer: @escaping @Sendable (ChangeOutcome) -> Void) {
        waiting.withLock { $0[id] = answer }
    }
}

extension APIServices {
    /// Proposes a change and answers when it is committed, or at once when it is refused. `answer` makes the answer to
    /// a commit that succeeded, on the server's thread; nil for an outcome of another kind. Whether it is on its way.
    @discardableResult func propose(
        _ change: Change, _ request: Request, _ responder: Responder,
        _ answer: @escaping @Sendable (ChangeOutcome) -> Answer?
    ) -> Bool {
        propose(request, responder, making: { _ in .success(change) }, answer)
    }

    /// The same for a change that rests on what is stored now: `make` is asked in the entry that proposes its change, so
    /// that no other change comes between the two and is undone.
    @discardableResult func propose(
        _ request: Request, _ responder: Responder, making make: (inout Core) -> Result<Change, Problem>,
        _ answer: @escaping @Sendable (ChangeOutcome) -> Answer?
    ) -> Bool {
        let actor = Actor(request)
        return core.enter { core, moment in
            let change: Change
            switch make(&core) {
            case .success(let made): change = made
            case .failure(let problem):
                responder.refuse(problem)
                return false
            }
            switch core.propose(change, actor: actor, moment) {
            case .refused(let refusal):
                responder.refuse(APIProblems.refusal(refusal))
                return false
            case .pending(let id):
                changes.expect(id) { outcome in
                    responder.send(later: {
                        if case .failed(let message) = outcome {
                            return .problem(APIProblems.storeUnavailable(message))
                        }
                        return answer(outcome)
                            ?? .problem(APIProblems.storeUnavailable("the change came to another end"))
                    })
                }
                return true
            }
        }
    }
}

extension Actor {
    /// The caller of a request.
    init(_ request: Request) { self.init(text: request.actor, isHostRole: request.role == .host) }
}
