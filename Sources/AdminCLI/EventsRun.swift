// SPDX-License-Identifier: Apache-2.0

internal import APITypes
internal import LatchkeyClient
internal import Sockets
internal import Wire

/// `latchkey events`.
struct EventsRun {
    let client: Client
    let output: Output

    /// How long the stream must be still before what the service remembers counts as told: it sends that at
    /// once.
    private static let stillness = Duration.milliseconds(400)
    /// Between two tries to reach a service that went away.
    private static let retryTime: Int32 = 1000

    func perform(follow: Bool, since: Int64?) throws -> ExitCode {
        if follow { return try followOn(since: since) }
        // No event is that old, so the service answers with all it remembers.
        var stream = try client.events(since: since ?? 0)
        var isFirst = true
        while let events = try stream.next(until: monotonicNow() + Self.stillness), !events.isEmpty {
            for event in events {
                // Nobody asked for what is no longer remembered.
                let isExpected = isFirst && since == nil && event.type == EventEnvelope.Kind.reset
                isFirst = false
                if !isExpected { show(event) }
            }
        }
        return .done
    }

    /// Until Ctrl-C; over restarts of the service, from where it broke off.
    private func followOn(since: Int64?) throws -> ExitCode {
        let wait = output.console.catchStops()
        var last = since
        var isFirst = true
        while true {
            do {
                var stream = try client.events(since: last)
                if !isFirst { output.remark("the service is back") }
                isFirst = false
                if let stop = try read(&stream, &last, wait) { return stop }
            } catch {
                if isFirst { throw error }
                if case .refused = error { throw error }
                if let stop = pause(wait) { return stop }
                continue
            }
            output.remark("the service closed the stream; trying again until it is back")
            if let stop = pause(wait) { return stop }
        }
    }

    private func read(
        _ stream: inout EventStream, _ last: inout Int64?, _ wait: Console.Wait
    ) throws(ClientError) -> ExitCode? {
        while true {
            do {
                guard let events = try stream.ready() else { return nil }
                for event in events { show(event) }
                last = stream.lastID ?? last
            } catch {
                guard case .broken = error else { throw error }
                return nil
            }
            if let stop = wait(stream.descriptor, 1000) { return exitCode(stop) }
        }
    }

    private func pause(_ wait: Console.Wait) -> ExitCode? { wait(-1, Self.retryTime).map(exitCode) }

    private func exitCode(_ stop: Console.Stop) -> ExitCode {
        switch stop {
        case .interrupt: .interrupted
        case .terminate(let code): code
        }
    }

    private func show(_ event: EventEnvelope) {
        if output.isJSON {
            output.print(body: EventText.json(event))
        } else {
            output.print(EventText.line(event, style: output.style))
        }
    }
}
