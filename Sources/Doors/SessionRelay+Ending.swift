// SPDX-License-Identifier: Apache-2.0

internal import Core
internal import Policy
internal import Wire

/// How a relayed session ends, from whichever side (09.4, 09.9).
extension SessionRelay {
    func backendBroke(isClean: Bool) {
        worker.failures.note("it sent a message above the cap", session: id, at: worker.now())
        let wasEnding = if case .no = ending { false } else { true }
        finish(.backendFailed)
        guard isClean, !wasEnding, !fromHost.backendSaidGoodbye else { return }
        say(.noHost("The streaming program on this host failed."))
        connection.startTimer(worker.context.times.goodbye)
    }

    /// The backend's stream is over (09.9): a goodbye between messages, none into a cut message or behind its own.
    func backendEnded(_ problem: String?) {
        guard let backend else { return }
        backend.hasEnded = true
        if case .goodbye(_, let why) = ending { return finish(why) }
        guard case .no = ending else { return }
        // A device that left first is why the session ended; the backend only followed it.
        if deviceHasEnded { return finish(.peerClosed) }
        if fromHost.backendSaidGoodbye { return finish(.backendEnded) }
        let isEarly = !backend.hasSpoken && worker.now() - admittedAt < .seconds(1)
        if isEarly {
            return fail(
                "The streaming program on this host does not take new connections now.",
                problem: problem ?? "it closed before reading")
        }
        if let problem { worker.failures.note(problem, session: id, at: worker.now()) }
        requestGoodbye(.noHost("The stream on this host has ended."), .backendEnded)
    }

    /// There is no backend to be had: `noHost`, and one line.
    func fail(_ message: String, problem: String) {
        worker.failures.note(problem, session: id, at: worker.now())
        requestGoodbye(.noHost(message), .backendFailed)
    }

    /// Says goodbye between two messages and closes when it is written; after 100 ms it closes in any case (09.4).
    func requestGoodbye(_ goodbye: Goodbye, _ why: SessionEnd) {
        guard case .no = ending else { return }
        ending = .goodbye(goodbye, why)
        connection.startTimer(worker.context.times.goodbye)
        fromHost.requestGoodbye()
        passDownstream(worker.empty)
        if case .goodbye = ending, fromHost.backendSaidGoodbye || backend?.hasEnded ?? true {
            // Nothing may follow the backend's own goodbye, and nobody will end a message that was cut.
            finish(why)
        }
        settle()
    }

    /// Ends at once, without a word.
    func cut(_ why: SessionEnd) {
        if case .done = ending { return }
        ended(why)
        connection.closeNow()
    }

    /// Reports the end, once, and lets the backend go. For the connection, when it closes by itself.
    func ended(_ why: SessionEnd) {
        if case .done = ending { return }
        ending = .done
        backend?.close()
        backend = nil
        worker.sessionEnded()
        let id = id
        worker.context.core.enter { core, moment in core.sessionEnded(id, why, moment) }
    }

    /// Nothing more will be said: closes as soon as the device has taken what there is.
    func finish(_ why: SessionEnd) {
        switch ending {
        case .done, .flushing: return
        case .no:
            connection.cancelTimer()
            ending = .flushing(why)
        case .goodbye: ending = .flushing(why)  // its 100 ms go on
        }
    }

    func timeout() {
        switch ending {
        case .no where backend?.isConnecting == true:
            fail(
                "The streaming program on this host does not answer.",
                problem: "it did not accept within 5 s")
        case .no:
            fromHost.hostInfoWaitEnded()
            passDownstream(worker.empty)
            settle()
        case .goodbye(_, let why), .flushing(let why): cut(why)
        case .done: break
        }
    }
}
