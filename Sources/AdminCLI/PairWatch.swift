// SPDX-License-Identifier: Apache-2.0

internal import APITypes
internal import LatchkeyClient
internal import Wire

/// What became of a pairing window.
enum WindowEnd {
    /// A device proved that it saw the code.
    case paired(Reply<Device>)
    /// Another end, by the API's word for it: `expired`, `stopped`, `cancelled`, `withdrawn`.
    case closed(outcome: String)
    /// This command was asked to stop, and the window was cancelled for it.
    case stopped(Console.Stop)
}

/// Waits beside an open window, counting down for a person.
struct PairWatch {
    let client: Client
    let output: Output
    let window: Window

    /// After this much more than its life, a window whose end was not told is asked for. In milliseconds.
    private static let overdue: Int64 = 2000
    /// How often the countdown is drawn again. In milliseconds.
    private static let tick: Int32 = 1000

    /// Returns when the window has ended. The window never outlives a Ctrl-C.
    func watch(_ events: inout EventStream, _ wait: Console.Wait) throws -> WindowEnd {
        defer { clearCountdown() }
        while true {
            let left = window.expiresAt.milliseconds - output.console.now().milliseconds
            drawCountdown(left)
            if let batch = try ready(&events) {
                if let end = try end(in: batch) { return unlessStopped(end, wait) }
            } else if let end = try lookAgain() {
                // The stream broke off: either the service stopped, which ends every window, or it did not.
                return unlessStopped(end, wait)
            } else {
                events = try client.events(since: events.lastID)
            }
            if left < -Self.overdue, let end = try lookAgain() { return end }
            if let stop = wait(events.descriptor, Self.tick) {
                clearCountdown()
                _ = try? client.closeWindow()
                return .stopped(stop)
            }
        }
    }

    /// Ctrl-C reaches every program of a script: a window that ends with it was not cancelled elsewhere.
    private func unlessStopped(_ end: WindowEnd, _ wait: Console.Wait) -> WindowEnd {
        guard case .closed = end, let stop = wait(-1, 0) else { return end }
        return .stopped(stop)
    }

    private func ready(_ events: inout EventStream) throws(ClientError) -> [EventEnvelope]? {
        do {
            return try events.ready()
        } catch {
            if case .broken = error { return nil }
            throw error
        }
    }

    private func end(in batch: [EventEnvelope]) throws -> WindowEnd? {
        for event in batch {
            switch event.type {
            case EventEnvelope.Kind.reset:
                if let end = try lookAgain() { return end }
            case EventEnvelope.Kind.pairingClosed:
                guard let closed = try? WindowEvent(json: event.data), closed.id == window.id else {
                    continue
                }
                return try end(closed.outcome ?? "cancelled", device: closed.device)
            default: break
            }
        }
        return nil
    }

    /// Asks the service whether the window is still open; nil when it is.
    private func lookAgain() throws -> WindowEnd? {
        let last: LastWindow?
        do {
            // Another window in its place means that ours was replaced.
            return try client.window().value.id == window.id ? nil : .closed(outcome: "cancelled")
        } catch {
            switch error {
            case .refused(let problem) where problem.code == "noWindow": last = problem.last ?? nil
            case .notRunning:
                throw Failure(
                    .notRunning, "the service stopped, and its window with it",
                    advice: ["Start it again, then: latchkey pair"])
            default: throw error
            }
        }
        return try end(last?.outcome ?? "cancelled", device: last?.device)
    }

    private func end(_ outcome: String, device: String?) throws -> WindowEnd {
        guard outcome == "used", let device else { return .closed(outcome: outcome) }
        return .paired(try client.device(device))
    }

    private var countsDown: Bool { output.console.outputIsTerminal && !output.isJSON }

    private func drawCountdown(_ left: Int64) {
        if countsDown { output.print("\r\u{1B}[K\(WindowText.countdown(left))") }
    }

    private func clearCountdown() {
        if countsDown { output.print("\r\u{1B}[K") }
    }
}
