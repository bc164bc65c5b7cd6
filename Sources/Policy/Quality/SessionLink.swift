// SPDX-License-Identifier: Apache-2.0

package import LatchkeyStream

/// What is known of a link that does not keep up: kind 16's `link` and `link.changed` (06 A4, A8).
package struct LinkReport: Sendable, Equatable {
    /// Behind or stalled.
    package var state: LinkState
    /// Frames of the second that it was made in.
    package var withheldPerSecond: Int
    /// The encoder's target it was made under, in bits a second.
    package var bitrate: Int
    /// Kilobits a second.
    package var carriedKbps: Int?
    /// What the link would carry.
    package var suggestion: LinkSuggestion?

    package init(
        state: LinkState, withheldPerSecond: Int, bitrate: Int, carriedKbps: Int?, suggestion: LinkSuggestion?
    ) {
        self.state = state
        self.withheldPerSecond = withheldPerSecond
        self.bitrate = bitrate
        self.carriedKbps = carriedKbps
        self.suggestion = suggestion
    }

    /// Whether it still speaks of the stream: a pick that lowers the quality is answered without it.
    package func holds(for target: StreamTarget) -> Bool { bitrate == target.encoderBitrate }
}

/// One session's judge, and what of its reports is passed on (06 A8).
package struct SessionLink: Sendable, Equatable {
    /// What a second, or a reset, comes to.
    package struct Step: Sendable, Equatable {
        /// What is published is another: a new report, or none any more.
        package var isPublished = false
        /// What to log.
        package var log: Log?

        package init(isPublished: Bool = false, log: Log? = nil) {
            self.isPublished = isPublished
            self.log = log
        }
    }

    /// A line of the log, with the device still to be named.
    package enum Log: Sendable, Equatable {
        /// Of the quality that runs, what was withheld and offered, what was carried, and the suggestion.
        case behind(
            quality: String, withheld: Int, offered: Int, carriedKbps: Int?, suggestion: LinkSuggestion?)
        /// With the bytes that wait.
        case stalled(waiting: Int)
        /// It keeps up again.
        case recovered
    }

    private var judge = LinkJudge()
    /// Nil while the link keeps up.
    package private(set) var report: LinkReport?

    package init() {}

    /// The verdict now.
    package var state: LinkState { judge.state }

    /// A second ended while this ran. `unsentInKernel` bytes are shown and not judged by (06 C2).
    package mutating func close(
        _ second: LinkSecond, running: StreamTarget, unsentInKernel: Int = 0
    ) -> Step {
        guard var verdict = judge.close(second) else { return Step() }
        verdict.waiting += max(unsentInKernel, 0)
        return take(verdict, running)
    }

    /// The stream is another (``isAnother(_:_:)``).
    package mutating func reset() -> Step {
        guard let verdict = judge.reset() else { return Step() }
        return take(verdict, nil)
    }

    /// Whether every session is judged afresh: the stream came back with another bitrate, rate or scale, stopped, or
    /// began. A restart that keeps all three keeps the judgement.
    package static func isAnother(_ old: StreamTarget?, _ new: StreamTarget?) -> Bool { old != new }

    private mutating func take(_ verdict: LinkJudge.Report, _ running: StreamTarget?) -> Step {
        guard verdict.state != .fine, let running else {
            let wasPublished = report != nil
            report = nil
            return Step(isPublished: wasPublished, log: verdict.isReset ? nil : .recovered)
        }
        let suggestion = LinkSuggestion.make(carriedKbps: verdict.carriedKbps, running: running)
        // A carried rate that moves alone never reaches a device.
        if let report, report.state == verdict.state, report.suggestion == suggestion { return Step() }
        let isNewState = report?.state != verdict.state
        report = LinkReport(
            state: verdict.state, withheldPerSecond: verdict.withheld, bitrate: running.encoderBitrate,
            carriedKbps: verdict.carriedKbps, suggestion: suggestion)
        return Step(isPublished: true, log: isNewState ? log(verdict, running, suggestion) : nil)
    }

    private func log(
        _ verdict: LinkJudge.Report, _ running: StreamTarget, _ suggestion: LinkSuggestion?
    ) -> Log {
        if verdict.state == .stalled { return .stalled(waiting: verdict.waiting) }
        let pair = Quality(bitrate: running.bitrate, captureScale: running.captureScale)
        return .behind(
            quality: pair.name, withheld: verdict.withheld, offered: verdict.offered,
            carriedKbps: verdict.carriedKbps, suggestion: suggestion)
    }
}
