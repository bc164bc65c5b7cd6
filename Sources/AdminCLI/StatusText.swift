// SPDX-License-Identifier: Apache-2.0

package import APITypes
package import Wire

/// `latchkey status` for people: one screen. Pure.
package enum StatusText {
    package static func screen(_ status: Status, now: WallTime, style: Style) -> String {
        var rows = Columns()
        rows.add("Host", status.name, .strong)
        rows.add("ID", status.hostID)
        rows.add(
            "Service",
            "latchkeyd \(status.version), up \(TimeText.span(Int64(max(0, min(status.uptime, 1e12)))))")
        add(door: "Home door", status.home, &rows)
        add(door: "Remote door", status.remote, &rows)
        rows.add("Window", window(status.window, now), status.window.open == nil ? nil : .attention)
        rows.add("Devices", devices(status.devices))
        rows.add("Sessions", status.sessions == 0 ? "none" : String(status.sessions))
        rows.add("Quality", QualityText.status(runs: status.qualityRuns, sessions: status.sessions))
        rows.add("Desktop", status.lock)
        rows.add("Advertising", status.advertising, status.advertising == "unavailable" ? .attention : nil)
        if let reachability = status.reachability {
            let when = TimeText.relative(reachability.at, to: now)
            rows.add("Reachability", "\(reachability.verdict) (\(when))")
        }
        if let request = status.request {
            rows.add("Wants to pair", wants(request, now), .attention)
        }
        for notice in status.notices { rows.add("Notice", text(notice), .attention) }
        return rows.text(style)
    }

    private static func add(door name: String, _ door: DoorStatus, _ rows: inout Columns) {
        let port = door.port.map { ", port \($0)" } ?? ""
        switch door.state {
        case "open": rows.add(name, "open\(port)", .good)
        // The problem names the port where that matters.
        case "failed": rows.add(name, "failed\(door.problem.map { ": \($0)" } ?? port)", .bad)
        default: rows.add(name, door.state)
        }
    }

    private static func window(_ window: WindowSummary, _ now: WallTime) -> String {
        guard let open = window.open else { return "closed" }
        let left = TimeText.countdown(open.expiresAt.milliseconds - now.milliseconds)
        let doors = open.remote ? "both doors" : "home door"
        let tries = open.triesLeft == 1 ? "1 try" : "\(open.triesLeft) tries"
        return "open by \(open.openedBy) on \(doors), closes in \(left), \(tries) left"
    }

    private static func devices(_ count: Int) -> String {
        count == 0 ? "none yet; pair one with: latchkey pair" : "\(count) paired"
    }

    private static func wants(_ request: PairingRequestItem, _ now: WallTime) -> String {
        let who = "\(request.name), \(request.place), \(TimeText.relative(request.at, to: now))"
        switch request.state {
        case "locked": return "\(who); unlock this desktop to let it ask"
        case "limit": return "\(who); it asked too often: latchkey unlock, or latchkey pair"
        default: return who
        }
    }

    private static func text(_ notice: Notice) -> String {
        let place = notice.place.isEmpty ? "" : " \(notice.place)"
        return notice.kind == "olderDevice"
            ? "a device with an app too old for this host tried to connect\(place); update it"
            : notice.kind + place
    }
}
