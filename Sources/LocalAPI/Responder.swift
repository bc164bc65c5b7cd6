// How a handler answers. SPDX-License-Identifier: Apache-2.0

internal import Synchronization
package import APITypes

/// Takes the answer to one request, once: during the handler's call, or later from any thread.
///
/// A second answer is ignored. A request nobody answers is answered 503 after a minute.
package final class Responder: Sendable {
    private enum State {
        /// The handler is still in its call.
        case handling
        /// The handler returned without an answer; the connection is suspended.
        case waiting
        /// There is an answer that the server has not taken yet.
        case answered(Answer)
        /// The server is to make the answer itself.
        case promised(@Sendable () -> Answer)
        /// The server took it, or gave up.
        case done
    }

    /// Names the request within the server.
    let number: UInt64
    private let mailbox: Mailbox?
    private let state = Mutex(State.handling)

    init(number: UInt64, mailbox: Mailbox?) {
        self.number = number
        self.mailbox = mailbox
    }

    /// A responder without a server, for tests of handlers: read it with `taken`.
    package convenience init() { self.init(number: 0, mailbox: nil) }

    /// Answers.
    package func send(_ answer: Answer) { settle(.answered(answer)) }

    /// Answers with what `make` gives on the server's thread, a moment later: for a caller that holds a lock `make`
    /// needs.
    package func send(later make: @escaping @Sendable () -> Answer) { settle(.promised(make)) }

    private func settle(_ settled: State) {
        let wake = state.withLock { state in
            switch state {
            case .handling:
                state = settled
                return false
            case .waiting:
                state = settled
                return true
            case .answered, .promised, .done: return false
            }
        }
        if wake { mailbox?.answered(number) }
    }

    /// Answers with an object.
    package func send(_ object: some APIObject, status: Int = 200) { send(.object(object, status: status)) }

    /// Answers with an error.
    package func refuse(_ problem: Problem) { send(.problem(problem)) }

    /// The answer, if there is one by now; afterwards further ones are ignored. For tests of handlers.
    package var taken: Answer? { take(orWait: false) }

    /// The answer, once; nil when there is none, and then one that comes later goes to the mailbox if `orWait`.
    func take(orWait: Bool) -> Answer? {
        let settled: State? = state.withLock { state in
            switch state {
            case .answered, .promised:
                // Exchanged, not copied: an answer holds several references.
                var taken = State.done
                swap(&taken, &state)
                return taken
            case .handling, .waiting:
                if orWait { state = .waiting }
                return nil
            case .done: return nil
            }
        }
        switch settled {
        case .answered(let answer): return answer
        case .promised(let make): return make()
        default: return nil
        }
    }

    /// Ignores whatever comes from now on.
    func close() { state.withLock { $0 = .done } }
}
