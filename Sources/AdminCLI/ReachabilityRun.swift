// SPDX-License-Identifier: Apache-2.0

internal import APITypes
internal import LatchkeyClient
internal import Wire

/// `latchkey reachability`.
struct ReachabilityRun {
    let client: Client
    let output: Output

    /// Between two looks at the terminal's size and at a service that went away, in milliseconds.
    private static let tick: Int32 = 1000

    /// What `--check` ends with (spec 09 point 38).
    static func exitCode(_ report: Reachability) -> ExitCode {
        switch report.severity {
        case "ok": .done
        case "maybe": .maybe
        default: .blocked
        }
    }

    /// Once.
    func show(refresh: Bool, checks: Bool) throws -> ExitCode {
        let report = try client.reachability(refresh: refresh)
        output.print(report) { ReachabilityText.screen($0, columns: output.width, style: output.style) }
        return checks ? Self.exitCode(report.value) : .done
    }

    /// Until Ctrl-C, over restarts of the service: again whenever it changes, and at each new size of the terminal.
    func watch(refresh: Bool) throws -> ExitCode {
        let wait = output.console.catchStops()
        var drawing = Drawing(output: output)
        var refresh = refresh
        var hasShown = false
        var isGone = false
        while true {
            do throws(ClientError) {
                // Before the report, so that no change falls between the two.
                var events = try client.events()
                let report = try client.reachability(refresh: refresh)
                if isGone { output.remark("the service is back") }
                (isGone, hasShown, refresh) = (false, true, false)
                drawing.draw(report)
                if let stop = try follow(&events, &drawing, wait) { return stop }
            } catch {
                // What it refuses once it refuses again, and what was never there need not come.
                if case .refused = error { throw error }
                if !hasShown { throw error }
            }
            if !isGone { output.remark("the service is gone; trying again until it is back") }
            isGone = true
            if let stop = wait(-1, Self.tick) { return exitCode(stop) }
        }
    }

    /// Returns nil when the stream has ended.
    private func follow(
        _ events: inout EventStream, _ drawing: inout Drawing, _ wait: Console.Wait
    ) throws(ClientError) -> ExitCode? {
        while true {
            guard let batch = try events.ready() else { return nil }
            let isNews = batch.contains {
                $0.type == EventEnvelope.Kind.reachabilityChanged || $0.type == EventEnvelope.Kind.reset
            }
            if isNews { drawing.draw(try client.reachability()) } else { drawing.redraw() }
            if let stop = wait(events.descriptor, Self.tick) { return exitCode(stop) }
        }
    }

    private func exitCode(_ stop: Console.Stop) -> ExitCode {
        switch stop {
        case .interrupt: .interrupted
        case .terminate(let code): code
        }
    }
}

/// The report that stands on the terminal; elsewhere each one follows the other.
private struct Drawing {
    let output: Output
    private var report: Reply<Reachability>?
    private var drawn: String?

    init(output: Output) { self.output = output }

    /// A new report.
    mutating func draw(_ report: Reply<Reachability>) {
        self.report = report
        if output.isJSON { return output.print(body: report.body) }
        redraw()
    }

    /// The same report, if the terminal has another size.
    mutating func redraw() {
        guard let report, !output.isJSON else { return }
        let text = ReachabilityText.screen(report.value, columns: output.width, style: output.style)
        guard output.console.outputIsTerminal else {
            if text != drawn { output.print((drawn == nil ? "" : "\n") + text) }
            drawn = text
            return
        }
        let shown = Self.cut(text, rows: output.console.rows())
        if shown != drawn {
            // Over the old text, line by line and then what is left of it, so that nothing flickers.
            let lines = shown.replacing("\n", with: "\u{1B}[K\n")
            output.print((drawn == nil ? "\u{1B}[2J" : "") + "\u{1B}[H\(lines)\u{1B}[J")
        }
        drawn = shown
    }

    /// The head of the text, so that the verdict is never scrolled away.
    private static func cut(_ text: String, rows: Int?) -> String {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        guard let rows, rows > 2, lines.count >= rows else { return text }
        return lines.prefix(rows - 2).joined(separator: "\n") + "\n(more: make the window taller)\n"
    }
}
