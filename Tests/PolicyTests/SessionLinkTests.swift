// SPDX-License-Identifier: Apache-2.0

import LatchkeyStream
import Policy
import Testing
import Wire

/// The suggestion, what is published of a judge's reports, and the words (06 A6 to A8).
struct SessionLinkTests {
    static func running(_ megabits: Int, fps: Int = 60, scale: Int = 2) -> StreamTarget {
        StreamTarget(bitrate: megabits * 1_000_000, fps: fps, captureScale: scale)
    }

    static let suggestions: [(Int?, Int, Int, Int, LinkSuggestion?)] = [
        // 06 A7.
        (30_000, 40, 60, 2, LinkSuggestion(bitrate: 15_000_000)),
        (30_000, 40, 120, 2, LinkSuggestion(bitrate: 8_000_000)),
        (3_000, 40, 60, 2, LinkSuggestion(bitrate: 4_000_000, captureScale: 1)),
        (nil, 40, 60, 2, LinkSuggestion(bitrate: 25_000_000)),
        (nil, 4, 60, 2, LinkSuggestion(bitrate: 4_000_000, captureScale: 1)),
        (5_000, 4, 60, 1, nil), (1_000_000, 30, 60, 2, LinkSuggestion(bitrate: 25_000_000)),
        // The bound: 70 % of what is carried, at 60 and at 120.
        (21_429, 40, 60, 2, LinkSuggestion(bitrate: 15_000_000)),
        (21_428, 40, 60, 2, LinkSuggestion(bitrate: 8_000_000)),
        (42_858, 40, 120, 2, LinkSuggestion(bitrate: 15_000_000)),
        (42_857, 40, 120, 2, LinkSuggestion(bitrate: 8_000_000)),
        (35_715, 40, 60, 1, LinkSuggestion(bitrate: 25_000_000)),
        // Exactly 70 %.
        (50_000, 80, 84, 1, LinkSuggestion(bitrate: 25_000_000)),
        // Low keeps the scale when it is 1 already; strictly below what runs.
        (1, 40, 60, 1, LinkSuggestion(bitrate: 4_000_000)),
        (1_000_000, 15, 60, 2, LinkSuggestion(bitrate: 8_000_000)),
        (nil, 8, 60, 2, LinkSuggestion(bitrate: 4_000_000, captureScale: 1)),
        (nil, 2, 60, 2, LinkSuggestion(bitrate: 2_000_000, captureScale: 1)), (nil, 1, 60, 1, nil),
        (nil, 200, 60, 2, LinkSuggestion(bitrate: 150_000_000)),
        // No rate, and one beyond all.
        (1, 40, 0, 1, LinkSuggestion(bitrate: 4_000_000)),
        (1_000, 40, 0, 2, LinkSuggestion(bitrate: 25_000_000)),
        (Int.max, 40, Int.max, 2, LinkSuggestion(bitrate: 25_000_000)),
    ]

    @Test(arguments: suggestions)
    func suggestion(
        _ carried: Int?, _ megabits: Int, _ fps: Int, _ scale: Int, _ want: LinkSuggestion?
    ) {
        let stream = Self.running(megabits, fps: fps, scale: scale)
        #expect(LinkSuggestion.make(carriedKbps: carried, running: stream) == want)
    }

    /// Plays a trace; what was published after each second that published.
    static func play(
        _ letters: String, _ stream: StreamTarget, on link: inout SessionLink
    ) -> [SessionLink.Step] {
        letters.map { link.close(LinkJudgeTests.second($0), running: stream) }
    }

    @Test func aSpell() {
        var link = SessionLink()
        let stream = Self.running(40)
        var steps = Self.play("sss", stream, on: &link)
        #expect(steps.dropLast().allSatisfy { $0 == SessionLink.Step() })
        let low = LinkSuggestion(bitrate: 4_000_000, captureScale: 1)
        #expect(
            steps.last
                == SessionLink.Step(
                    isPublished: true,
                    log: .behind(
                        quality: "Pro · Retina", withheld: 6, offered: 60, carriedKbps: 800, suggestion: low))
        )
        #expect(
            link.report
                == LinkReport(
                    state: .behind, withheldPerSecond: 6, bitrate: 40_000_000, carriedKbps: 800,
                    suggestion: low))
        steps = Self.play("ccccc", stream, on: &link)
        #expect(steps.last == SessionLink.Step(isPublished: true, log: .recovered))
        #expect(link.report == nil && link.state == .fine)
    }

    @Test func aRateThatMovesAloneIsNotPublished() {
        var link = SessionLink()
        let stream = Self.running(40)
        let slow = LinkJudgeTests.short(taken: 100_000)
        for _ in 0..<3 { _ = link.close(slow, running: stream) }
        let first = link.report
        // 1000 instead of 800: still Low.
        #expect(link.close(LinkJudgeTests.short(taken: 200_000), running: stream) == SessionLink.Step())
        #expect(link.report == first)
        // Enough for another suggestion: published, but no new state to log.
        let fast = LinkJudgeTests.short(taken: 20_000_000)
        let step = link.close(fast, running: stream)
        #expect(step == SessionLink.Step(isPublished: true))
        #expect(link.report?.suggestion == LinkSuggestion(bitrate: 15_000_000))
        #expect(link.report?.carriedKbps == 32_800)
    }

    @Test func stalledAndBack() {
        var link = SessionLink()
        let stream = Self.running(4, scale: 1)
        let steps = Self.play("dddc", stream, on: &link)
        #expect(steps[2] == SessionLink.Step(isPublished: true, log: .stalled(waiting: 900_000)))
        #expect(steps[3].isPublished && link.report?.state == .behind)
        #expect(link.report?.suggestion == nil)
    }

    @Test func theReportNamesTheEncodersTarget() {
        var link = SessionLink()
        let stream = Self.running(15, fps: 120)
        _ = Self.play("sss", stream, on: &link)
        #expect(link.report?.bitrate == 30_000_000)
        #expect(link.report?.holds(for: stream) == true)
        // The answer to the pick that lowers the quality carries none already.
        #expect(link.report?.holds(for: Self.running(8, fps: 120)) == false)
        #expect(link.report?.holds(for: Self.running(30)) == true)
    }

    @Test func aResetTakesBackAndLogsNothing() {
        var link = SessionLink()
        #expect(link.reset() == SessionLink.Step())
        _ = Self.play("sss", Self.running(40), on: &link)
        #expect(link.reset() == SessionLink.Step(isPublished: true))
        #expect(link == SessionLink())
    }

    /// A7 once more, with fractions.
    static func suggested(_ carried: Int?, _ running: StreamTarget) -> LinkSuggestion? {
        let lower = [4, 8, 15, 25, 40, 80, 150].map { $0 * 1_000_000 }.filter { $0 < running.bitrate }
        guard let low = lower.first, let high = lower.last else {
            return running.captureScale == 2
                ? LinkSuggestion(bitrate: running.bitrate, captureScale: 1) : nil
        }
        var bitrate = high
        if let carried {
            let room = Double(carried) * 1000 * 0.7 + 1e-6
            bitrate = lower.last { Double($0) * Double(max(running.fps, 1)) / 60 <= room } ?? low
        }
        let scale = bitrate == 4_000_000 && running.captureScale == 2 ? 1 : nil
        return LinkSuggestion(bitrate: bitrate, captureScale: scale)
    }

    /// A8 once more, over the model of the judge: what is published and what is logged, of random seconds.
    @Test(arguments: 0..<40) func agreesWithTheModel(_ seed: Int) {
        var random = Seeded(state: UInt64(seed) &* 131 &+ 3)
        func one<T>(_ values: [T]) -> T { values[Int.random(in: 0..<values.count, using: &random)] }
        let stream = StreamTarget(
            bitrate: one([2, 4, 12, 15, 40, 150]) * 1_000_000, fps: one([24, 60, 120]),
            captureScale: one([1, 2]))
        var link = SessionLink()
        var model = LinkJudgeTests.Model()
        var published: (state: LinkState, suggestion: LinkSuggestion?)?
        for _ in 0..<60 {
            if Int.random(in: 0..<15, using: &random) == 0 {
                #expect(link.reset() == SessionLink.Step(isPublished: published != nil))
                (model, published) = (LinkJudgeTests.Model(), nil)
            }
            let second = LinkSecond(
                sent: one([0, 20, 54, 60]), withheld: one([0, 1, 2, 3, 6, 30]),
                taken: one([0, 1000, 500_000, 2_500_000]), waiting: one([0, 8000, 300_000]),
                heard: Bool.random(using: &random))
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                let step = link.close(second, running: stream)
                var isPublished = false
                var logs: LinkState?
                if model.close(second) {
                    if model.state == .fine {
                        (isPublished, logs, published) = (published != nil, .fine, nil)
                    } else {
                        let suggestion = Self.suggested(model.carried, stream)
                        let isNewState = published?.state != model.state
                        if isNewState || published?.suggestion != suggestion {
                            isPublished = true
                            published = (model.state, suggestion)
                            if isNewState { logs = model.state }
                            #expect(link.report?.carriedKbps == model.carried)
                            #expect(link.report?.withheldPerSecond == second.withheld)
                        }
                    }
                }
                #expect(step.isPublished == isPublished)
                #expect(step.log.map { Self.state($0) } == logs)
                #expect(link.report?.state == published?.state)
                #expect(link.report?.suggestion == published?.suggestion)
                #expect(link.report.map { $0.bitrate == stream.bitrate * stream.fps / 60 } ?? true)
            }
        }
    }

    private static func state(_ log: SessionLink.Log) -> LinkState {
        switch log {
        case .behind: .behind
        case .stalled: .stalled
        case .recovered: .fine
        }
    }

    static let others: [(StreamTarget?, StreamTarget?, Bool)] = [
        // 06 A6; 40/60/2 each time.
        (running(40), running(40), false),
        (running(40), running(4), true), (running(40), running(40, fps: 120), true),
        (running(40), running(40, scale: 1), true), (running(40), nil, true), (nil, nil, false),
        (nil, running(40), true),
    ]

    @Test(arguments: others)
    func afresh(_ old: StreamTarget?, _ new: StreamTarget?, _ isAnother: Bool) {
        #expect(SessionLink.isAnother(old, new) == isAnother)
    }

    static let rates: [(Int, String)] = [
        (12_000, "12"), (6_449, "6.4"), (6_450, "6.5"), (0, "0"), (49, "0"), (50, "0.1"), (949, "0.9"),
        (950, "1"), (-7, "0"), (Int.max, "9223372036854775.8"),
    ]

    @Test(arguments: rates)
    func megabits(_ kbps: Int, _ words: String) { #expect(LinkWords.megabits(kbps: kbps) == words) }

    static let sizes: [(Int, String)] = [
        (0, "0 kB"), (499, "0 kB"), (500, "1 kB"), (900_000, "900 kB"), (999_499, "999 kB"),
        (999_500, "1000 kB"), (1_000_000, "1 MB"), (1_049_999, "1 MB"), (1_050_000, "1.1 MB"),
        (1_600_000, "1.6 MB"), (-1, "0 kB"),
    ]

    @Test(arguments: sizes)
    func bytes(_ count: Int, _ words: String) { #expect(LinkWords.bytes(count) == words) }

    @Test func logFields() {
        func text(_ log: SessionLink.Log) -> String {
            LinkWords.fields(log).map { "\($0.0)=\($0.1)" }.joined(separator: " ")
        }
        #expect(
            text(
                .behind(
                    quality: "Low · Retina", withheld: 6, offered: 60, carriedKbps: 6450,
                    suggestion: LinkSuggestion(bitrate: 4_000_000, captureScale: 1)))
                == "quality=Low · Retina withheld=6 offered=60 carriedMbps=6.5 suggestion=Low · Standard")
        #expect(
            text(
                .behind(
                    quality: "Low · Standard", withheld: 30, offered: 40, carriedKbps: nil, suggestion: nil))
                == "quality=Low · Standard withheld=30 offered=40 suggestion=none")
        #expect(text(.stalled(waiting: 900_000)) == "seconds=3 waiting=900 kB")
        #expect(text(.recovered).isEmpty)
        #expect(LinkWords.words(LinkSuggestion(bitrate: 15_000_000)) == "Balanced")
    }

    @Test func statusRow() {
        func row(_ state: LinkState?, _ roundTrip: Int? = 40) -> String {
            let report = state.map {
                LinkReport(
                    state: $0, withheldPerSecond: 6, bitrate: 1, carriedKbps: nil, suggestion: nil)
            }
            return LinkWords.status(
                report, fps: 30, quality: "Low", roundTripMilliseconds: roundTrip, route: "through Tailscale")
        }
        #expect(row(.behind) == "30 fps, the link cannot carry Low, 40 ms · through Tailscale")
        #expect(row(.stalled) == "nothing gets through · through Tailscale")
        #expect(row(nil) == "30 fps, 40 ms · through Tailscale")
        #expect(row(.behind, nil) == "30 fps, the link cannot carry Low · through Tailscale")
    }
}

/// The relay's own count (06 C2, C3).
struct RelayMeterTests {
    static let estimates: [(Int, Int, Int)] = [
        (54, 100, 6), (45, 250, 15), (60, 40, 2), (0, 1000, 60), (10, 1000, 60), (0, 0, 0), (60, 0, 0),
        (0, 500, 30), (0, 8, 0), (0, 9, 1), (60, 999, 120), (1, 999, 120), (1, 500, 1), (1, 499, 0),
        (60, 700, 120), (60, 600, 90), (5, 2000, 60), (5, -3, 0), (Int.max, 5, 120),
    ]

    @Test(arguments: estimates)
    func estimate(_ sent: Int, _ stopped: Int, _ withheld: Int) {
        #expect(WithheldEstimate.withheld(sent: sent, stopped: stopped) == withheld)
    }

    /// A meter whose first picture was taken at 0.
    static func streaming() -> RelayMeter {
        var meter = RelayMeter()
        meter.tookMessage(isVideo: true, isKeyframe: true, at: at(0))
        _ = meter.close(waiting: 0, backendHasBytes: false, at: at(0))
        return meter
    }

    @Test func aSecond() {
        var meter = Self.streaming()
        for _ in 0..<54 { meter.tookMessage(isVideo: true, isKeyframe: false, at: at(0.5)) }
        meter.tookMessage(isVideo: false, isKeyframe: false, at: at(0.5))
        meter.took(bytes: 500)
        meter.took(bytes: 700)
        meter.heardDevice()
        meter.stopped(at: at(0.6))
        meter.stopped(at: at(0.65))
        meter.resumed(backendHadBytes: true, at: at(0.7))
        // The backend had nothing to say: nothing was held back.
        meter.stopped(at: at(0.7))
        meter.resumed(backendHadBytes: false, at: at(0.9))
        #expect(
            meter.close(waiting: 300, backendHasBytes: true, at: at(1))
                == LinkSecond(sent: 54, withheld: 6, taken: 1200, waiting: 300, heard: true))
        #expect(
            meter.close(waiting: 0, backendHasBytes: true, at: at(2))
                == LinkSecond(sent: 0, withheld: 0, taken: 0, waiting: 0, heard: false))
    }

    @Test func stoppedOverTheEndOfASecond() {
        var meter = Self.streaming()
        meter.stopped(at: at(0.75))
        #expect(meter.close(waiting: 1, backendHasBytes: true, at: at(1)).withheld == 15)
        #expect(meter.close(waiting: 1, backendHasBytes: true, at: at(2)).withheld == 60)
        meter.resumed(backendHadBytes: true, at: at(2.1))
        #expect(meter.close(waiting: 1, backendHasBytes: true, at: at(3)).withheld == 6)
        meter.stopped(at: at(3.2))
        #expect(meter.close(waiting: 1, backendHasBytes: false, at: at(4)).withheld == 0)
        // A late tick closes one second only, and never more than one of it.
        #expect(meter.close(waiting: 1, backendHasBytes: true, at: at(9)).withheld == 60)
    }

    @Test func nothingCountsBeforeTheFirstKeyframe() {
        var meter = RelayMeter()
        meter.stopped(at: at(0))
        meter.tookMessage(isVideo: true, isKeyframe: false, at: at(0.1))
        #expect(
            meter.close(waiting: 9, backendHasBytes: true, at: at(1))
                == LinkSecond(sent: 0, withheld: 0, taken: 0, waiting: 9, heard: false))
        // The picture is taken at last; what went before is no verdict on the link.
        meter.tookMessage(isVideo: true, isKeyframe: true, at: at(1.5))
        meter.resumed(backendHadBytes: true, at: at(1.6))
        #expect(
            meter.close(waiting: 9, backendHasBytes: true, at: at(2))
                == LinkSecond(sent: 1, withheld: 0, taken: 0, waiting: 9, heard: false))
    }

    @Test func aSessionWithoutVideoIsNeverShort() {
        var meter = RelayMeter()
        meter.stopped(at: at(0))
        for second in 1..<5 {
            meter.tookMessage(isVideo: false, isKeyframe: true, at: at(Double(second)))
            #expect(meter.close(waiting: 9, backendHasBytes: true, at: at(Double(second))).withheld == 0)
        }
    }

    @Test func afreshInTheMiddle() {
        var meter = Self.streaming()
        meter.tookMessage(isVideo: true, isKeyframe: false, at: at(0.1))
        meter.took(bytes: 77)
        meter.stopped(at: at(0.1))
        meter.reset(at: at(0.9))
        #expect(
            meter.close(waiting: 5, backendHasBytes: true, at: at(1))
                == LinkSecond(sent: 0, withheld: 6, taken: 77, waiting: 5, heard: false))
    }
}
