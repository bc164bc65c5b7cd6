// SPDX-License-Identifier: Apache-2.0

package import APITypes
internal import LatchkeyStream
internal import Policy

/// `latchkey quality` for people: both pairs, which runs and why, and how each link does. Pure.
package enum QualityText {
    /// One screen. `sessions` name the devices; one that came or went meanwhile has its ID alone.
    package static func screen(_ item: QualityItem, sessions: [SessionItem], style: Style) -> String {
        let isAway = item.runs == "away"
        var rows = Columns()
        rows.add("Runs", "\(item.runs), \(item.why.reason)", .strong)
        rows.add("Home", pair(item.home))
        rows.add("Away", pair(item.away))
        rows.add("Limit", "\(item.maxFPS) fps")
        rows.add("Stream", stream(item))
        let listed = item.sessions ?? []
        guard !listed.isEmpty else { return rows.text(style) + "\nNo sessions.\n" }
        let pairRuns = Quality(isAway ? item.away : item.home)
        var table = Columns(headings: ["SESSION", "DEVICE", "SETS", "LINK", "WOULD FIT"])
        for session in listed {
            let known = sessions.first { $0.id == session.id }
            table.add([
                .init(session.id, .strong),
                known.map { $0.device.map { .init($0.name) } ?? .init("not paired", .attention) }
                    ?? .init("-"),
                .init(session.away ? "the away pair" : "the home pair"),
                .init(
                    LinkWords.status(
                        session.link.flatMap { LinkReport($0) },
                        fps: item.running?.fps ?? StreamTarget.usualFPS, quality: pairRuns.name,
                        roundTripMilliseconds: nil, route: known?.route),
                    session.link == nil ? nil : .attention),
                .init(session.link.flatMap { suggestion($0) } ?? ""),
            ])
        }
        return rows.text(style) + "\n" + table.text(style)
    }

    /// What `latchkey status` says of it: away only while somebody is (06 A3).
    static func status(runs: String, sessions: Int) -> String {
        runs == "away" && sessions == 0 ? "home (nobody is connected; the last one was away)" : runs
    }

    private static func pair(_ pair: SettingsBody.Quality) -> String {
        "\(Quality(pair).name), \(TimeText.bitrate(pair.bitrate)) at 60 fps"
    }

    private static func stream(_ item: QualityItem) -> String {
        guard let running = item.running else { return "stopped" }
        let target = StreamTarget(
            bitrate: running.bitrate, fps: running.fps, captureScale: running.captureScale)
        let pair = Quality(bitrate: running.bitrate, captureScale: running.captureScale)
        return "\(pair.name), \(running.fps) fps, \(TimeText.bitrate(target.encoderBitrate))"
    }

    private static func suggestion(_ link: LinkReportItem) -> String? {
        link.suggestedBitrate.map {
            LinkWords.words(LinkSuggestion(bitrate: $0, captureScale: link.suggestedCaptureScale))
        }
    }
}

extension Quality {
    init(_ pair: SettingsBody.Quality) {
        self.init(bitrate: pair.bitrate, captureScale: pair.captureScale)
    }
}

extension LinkReport {
    /// Nil for a state of a later service, which reads as keeping up (06 A4).
    init?(_ item: LinkReportItem) {
        guard let state = LinkState(rawValue: item.state) else { return nil }
        self.init(
            state: state, withheldPerSecond: item.withheldPerSecond, bitrate: item.bitrate,
            carriedKbps: item.carriedKbps,
            suggestion: item.suggestedBitrate.map {
                LinkSuggestion(bitrate: $0, captureScale: item.suggestedCaptureScale)
            })
    }
}
