// SPDX-License-Identifier: Apache-2.0

package import APITypes
package import Wire

/// Sessions for people. Pure.
package enum SessionText {
    package static func list(_ sessions: [SessionItem], now: WallTime, style: Style) -> String {
        if sessions.isEmpty { return "No sessions. Paired devices: latchkey list\n" }
        var table = Columns(headings: ["SESSION", "DEVICE", "ROUTE", "FROM", "STARTED", "IN", "OUT", "LINK"])
        for session in sessions {
            table.add([
                .init(session.id, .strong),
                session.device.map { .init($0.name) } ?? .init("not paired", .attention),
                .init(session.route), .init(session.remote),
                .init(TimeText.relative(session.startedAt, to: now)), .init(TimeText.bytes(session.bytesIn)),
                .init(TimeText.bytes(session.bytesOut)),
                .init(session.link.state, session.link.state == "fine" ? nil : .attention),
            ])
        }
        return table.text(style)
    }
}
