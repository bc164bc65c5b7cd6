// SPDX-License-Identifier: Apache-2.0

import Testing
import Wire

@testable import LatchkeyDevice

/// 06 B6.
@Suite("What a device shows")
struct SessionDisplayTests {
    static func at(_ seconds: Double) -> MonotonicTime { .seconds(seconds) }
    static let home = SessionDisplay.Pair(bitrate: 40_000_000, captureScale: 2)
    static let away = SessionDisplay.Pair(bitrate: 4_000_000, captureScale: 1)

    static func state(_ isAway: Bool, _ runs: Bool) -> SessionDisplay.Away {
        SessionDisplay.Away(home: home, away: away, thisConnectionAway: isAway, awayRunning: runs)
    }

    static let lines: [(SessionDisplay.Away?, SessionDisplay.AwayLine?)] = [
        (state(true, true), .away(away)), (state(true, false), .homeSinceSomebodyIsThere(home)),
        (state(false, true), nil), (state(false, false), nil), (nil, nil),
    ]

    @Test("the away line", arguments: lines)
    func awayLine(_ away: SessionDisplay.Away?, _ want: SessionDisplay.AwayLine?) {
        #expect(SessionDisplay.awayLine(away) == want)
    }

    static let callouts: [(String?, Int?, SessionDisplay.Away?, SessionDisplay.Callout?)] = [
        ("behind", 8_000_000, state(true, true), .suggest(bitrate: 8_000_000, captureScale: 1)),
        ("behind", 8_000_000, state(true, false), .homeQualityRuns),
        ("behind", nil, state(true, false), .homeQualityRuns), ("behind", nil, state(true, true), .tooSlow),
        ("behind", 8_000_000, state(false, false), .suggest(bitrate: 8_000_000, captureScale: 1)),
        ("behind", 8_000_000, nil, .suggest(bitrate: 8_000_000, captureScale: 1)),
        ("stalled", 8_000_000, state(true, true), nil), ("Behind", 8_000_000, nil, nil), ("", nil, nil, nil),
        (nil, nil, state(true, false), nil),
    ]

    @Test("the callout", arguments: callouts)
    func callout(
        _ state: String?, _ bitrate: Int?, _ away: SessionDisplay.Away?, _ want: SessionDisplay.Callout?
    ) {
        let link = state.map {
            SessionDisplay.Link(
                state: $0, suggestedBitrate: bitrate, suggestedCaptureScale: bitrate == nil ? nil : 1)
        }
        #expect(SessionDisplay.callout(link, away: away) == want)
    }

    /// Plays seconds of pings, four each; nil is a second without a pong.
    static func hint(_ seconds: [Double?], isRemote: Bool = true, saysAway: Bool = false) -> Bool {
        var hint = SlowLinkHint()
        for (second, trip) in seconds.enumerated() {
            guard let trip else { continue }
            for quarter in 0..<4 {
                // One slow pong of four moves no median.
                hint.measured(
                    roundTrip: quarter == 3 ? 9 : trip, at: at(Double(second) + Double(quarter) * 0.25))
            }
        }
        return hint.shows(isRemote: isRemote, hostSaysAway: saysAway, at: at(Double(seconds.count)))
    }

    @Test("the hint for old hosts")
    func slowLink() {
        #expect(Self.hint([0.3, 0.3, 0.3, 0.3, 0.3]))
        #expect(!Self.hint([0.25, 0.25, 0.25, 0.25, 0.25]))
        #expect(Self.hint([0.1, 0.1, 0.251, 0.3, 0.3]))
        #expect(!Self.hint([0.1, 0.1, 0.1, 0.3, 0.3]))
        #expect(!Self.hint([0.3, 0.3, 0.3, 0.3]))
        #expect(!Self.hint([0.3, 0.3, nil, 0.3, 0.3]))
        #expect(Self.hint([0.3, nil, 0.3, nil, nil, 0.3, 0.3, 0.3]))
        #expect(!Self.hint([0.3, 0.3, 0.3, 0.1, 0.1, 0.1]))
        #expect(!Self.hint([0.3, 0.3, 0.3, 0.3, 0.3], isRemote: false))
        #expect(!Self.hint([0.3, 0.3, 0.3, 0.3, 0.3], saysAway: true))
    }

    @Test("the stream line lingers two seconds")
    func lingers() {
        var line = StreamLine()
        #expect(!line.shows(at: Self.at(0)))
        #expect(line.report(true, at: Self.at(1)) == true)
        #expect(line.report(true, at: Self.at(1.5)) == false)
        #expect(line.shows(at: Self.at(100)))
        #expect(line.report(false, at: Self.at(10)) == false)
        #expect(line.shows(at: Self.at(11.99)) && !line.shows(at: Self.at(12)))
        // Another spell is announced again.
        #expect(line.report(true, at: Self.at(20)) == true)
    }

    @Test("covered, it ends at once")
    func covered() {
        var line = StreamLine()
        #expect(line.cover(true) == false)
        #expect(line.report(true, at: Self.at(1)) == false)
        #expect(!line.shows(at: Self.at(1)))
        #expect(line.cover(false) == true)
        #expect(line.cover(true) == false)
        #expect(line.cover(false) == false)
        #expect(line.shows(at: Self.at(2)))
        _ = line.cover(true)
        _ = line.report(false, at: Self.at(3))
        _ = line.cover(false)
        #expect(!line.shows(at: Self.at(3.1)))
        _ = line.report(true, at: Self.at(4))
        _ = line.report(false, at: Self.at(5))
        _ = line.cover(true)
        _ = line.cover(false)
        #expect(!line.shows(at: Self.at(5.1)))
    }
}
