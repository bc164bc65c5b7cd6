// SPDX-License-Identifier: Apache-2.0

internal import LatchkeyDevice
internal import Wire

/// How a dial looks, and the changes of a session that is kept.
extension DeviceOutput {
    // MARK: A dial

    /// One object: what it came to, and each attempt in dial order.
    static func json(_ report: DialReport, of host: SavedHost) -> String {
        line { out in
            out.field("hostID", report.host?.id ?? host.id)
            out.field("outcome", word(report))
            out.field("tookMs", milliseconds(report.took))
            if let winner = report.winner {
                let attempt = report.attempts[winner]
                out.field("endpoint", attempt.endpoint.description)
                out.field("door", attempt.door.rawValue)
                out.field("route", ifPresent: report.route)
            }
            out.field("message", ifPresent: report.error?.message)
            out.array("attempts") { list in
                for attempt in report.attempts { list.object { write(attempt, to: &$0) } }
            }
        }
    }

    private static func write(_ attempt: DialReport.Attempt, to out: inout JSONWriter) {
        out.field("endpoint", attempt.endpoint.description)
        out.field("door", attempt.door.rawValue)
        out.field("kind", attempt.kind)
        out.field("outcome", attempt.outcome.rawValue)
        out.field("begunMs", ifPresent: attempt.begunAfter.map { milliseconds($0) })
        out.field("endedMs", ifPresent: attempt.endedAfter.map { milliseconds($0) })
        if let error = attempt.error {
            out.field("reason", error.goodbye?.reason ?? error.code.rawValue)
            out.field("message", error.message)
        }
    }

    private static func word(_ report: DialReport) -> String {
        guard let error = report.error else { return "connected" }
        return error.goodbye?.reason ?? error.code.rawValue
    }

    /// A line for each attempt under headings, then what came of it.
    static func text(_ report: DialReport, of host: SavedHost) -> String {
        var rows = [["", "ADDRESS", "KIND", "DOOR", "BEGAN", "ENDED", "OUTCOME"]]
        for (index, attempt) in report.attempts.enumerated() {
            rows.append([
                "\(index + 1)", attempt.endpoint.description, attempt.kind, attempt.door.rawValue,
                attempt.begunAfter.map { seconds($0) } ?? "-", attempt.endedAfter.map { seconds($0) } ?? "-",
                words(attempt),
            ])
        }
        let name = report.host ?? host
        let end =
            report.winner == nil
            ? "\(name.name) (\(name.id)) is not reached: \(word(report)), after \(seconds(report.took))."
            : "\(name.name) (\(name.id)) serves this device \(report.route ?? ""), after \(seconds(report.took))."
        return columns(rows) + end + "\n"
    }

    private static func words(_ attempt: DialReport.Attempt) -> String {
        switch attempt.outcome {
        case .connected: "connected"
        case .failed: "\(attempt.error?.code.rawValue ?? "failed"): \(attempt.error?.message ?? "")"
        case .ignored: "another machine has this address here"
        case .givenUp: "given up"
        case .notTried: "not tried"
        }
    }

    private static func milliseconds(_ duration: Duration) -> Int {
        Int(duration.components.seconds) * 1000 + Int(duration.components.attoseconds / 1_000_000_000_000_000)
    }

    private static func seconds(_ duration: Duration) -> String {
        let milliseconds = milliseconds(duration)
        let rest = "\(milliseconds % 1000)"
        return "\(milliseconds / 1000).\(String(repeating: "0", count: 3 - rest.count))\(rest) s"
    }

    // MARK: Changes

    /// One change, one object, one line.
    static func json(_ change: SessionChange, at wall: Double) -> String {
        line { out in
            out.field("at", WallTime(seconds: wall).rfc3339)
            out.field("change", change.kind.rawValue)
            out.field("door", ifPresent: change.door?.rawValue)
            out.field("route", ifPresent: change.route)
            out.field("endpoint", ifPresent: change.endpoint?.description)
            out.field("row", ifPresent: change.row)
            out.field("reason", ifPresent: change.reason)
            out.field("message", ifPresent: change.message)
        }
    }

    /// The same for people.
    static func text(_ change: SessionChange, at wall: Double) -> String {
        var parts = [time(wall), change.kind.rawValue]
        if let door = change.door { parts.append("\(door.rawValue) door") }
        if let route = change.route { parts.append(route) }
        if let endpoint = change.endpoint { parts.append("at \(endpoint)") }
        if let row = change.row { parts.append("as \"\(Label.clean(row))\"") }
        if change.kind == .lost, change.reason == "lost", change.message == nil {
            parts.append("the connection broke off")
        } else if let reason = change.reason {
            parts.append("(\(reason))")
        }
        if let message = change.message { parts.append(message) }
        return parts.joined(separator: "  ") + "\n"
    }

    private static func time(_ seconds: Double) -> String {
        String(WallTime(seconds: seconds).rfc3339.dropFirst(11).prefix(8))
    }
}
