// SPDX-License-Identifier: Apache-2.0

import LatchkeyStream
import Policy
import Testing
import Wire

@testable import Core

/// 06 A6 to A8 and C1 in the core: whose seconds count, what is published, and when all are judged afresh.
@Suite struct LinkTests {
    static let short = LinkSecond(sent: 54, withheld: 6, taken: 100_000, waiting: 50_000, heard: true)
    static let clean = LinkSecond(sent: 60, withheld: 0, taken: 300_000, waiting: 4_000, heard: true)
    static let dead = LinkSecond(sent: 0, withheld: 40, taken: 0, waiting: 900_000, heard: false)

    static func letter(_ letter: Character) -> LinkSecond {
        switch letter {
        case "s": short
        case "d": dead
        case "z": LinkSecond(sent: 0, withheld: 0, taken: 200, waiting: 0, heard: true)
        default: clean
        }
    }

    struct Trace: Sendable, CustomTestStringConvertible {
        let seconds: String
        let states: String
        var testDescription: String { "\(seconds) is \(states)" }
    }

    /// A6's examples, and those of the issue: steady, bursty, a keyframe every two seconds over a thin link, a dead path
    /// that recovers.
    static let traces: [Trace] = [
        Trace(seconds: "ss", states: "FF"), Trace(seconds: "sss", states: "FFB"),
        Trace(seconds: "scscs", states: "FFFFB"), Trace(seconds: "sssccccc", states: "FFBBBBBF"),
        Trace(seconds: "ssscczzc", states: "FFBBBBBF"), Trace(seconds: "ddd", states: "FFS"),
        Trace(seconds: "dddc", states: "FFSB"), Trace(seconds: "cccccccc", states: "FFFFFFFF"),
        Trace(seconds: "sccccsccccs", states: "FFFFFFFFFFF"),
        Trace(seconds: "scscscscsccccc", states: "FFFFBBBBBBBBBF"),
        Trace(seconds: "dddddcccccc", states: "FFSSSBBBBFF"),
    ]

    @Test("both ways of counting come to the same", arguments: traces, [true, false])
    func trace(_ trace: Trace, _ isRelayed: Bool) throws {
        let (driver, id) = try Self.session(isRelayed)
        var states = ""
        var published: [LinkState] = []
        for letter in trace.seconds {
            driver.effects = []
            driver.second(id, Self.letter(letter), isRelayed)
            let state = try #require(driver.core.session(id)?.link.state)
            states += state == .fine ? "F" : state == .behind ? "B" : "S"
            let told = driver.changes.map { $0.report?.state ?? .fine }
            if let last = told.last, last != published.last { published.append(last) }
            #expect(state == (published.last ?? .fine))
        }
        #expect(states == trace.states)
    }

    /// A streaming process may say any number there is: of what runs, and of its seconds.
    @Test(arguments: [1, 999_999, 4_000_001, 1 << 40, Int.max - 1, Int.max])
    func anyNumbers(_ number: Int) throws {
        for fps in [1, 60, Int.max] {
            let (driver, id) = try Self.session(false)
            let running = StreamTarget(bitrate: number, fps: fps, captureScale: 2)
            for second in [
                LinkSecond(sent: number, withheld: Int.max, taken: number, waiting: Int.max, heard: true),
                LinkSecond(sent: 0, withheld: number, taken: 0, waiting: number, heard: false),
            ] {
                let seconds = Array(repeating: second, count: LinkSeconds.limit)
                driver.input { _ = $0.postSeconds(id, seconds, running: .runs(running), $1) }
            }
            #expect(driver.core.session(id)?.link.state == .stalled)
            #expect(driver.core.qualityReport.running == running)
            #expect(driver.lines("link stalled").count == 1)
        }
    }

    @Test func aReportIsPublishedOnceAndLoggedWhenTheStateIsNew() throws {
        let (driver, id) = try Self.session(true)
        for _ in 0..<3 { driver.second(id, Self.short, true) }
        let change = try #require(driver.changes.first)
        #expect(driver.changes.count == 1 && change.session == id && change.device?.name == "iPad")
        #expect(
            change.report
                == LinkReport(
                    state: .behind, withheldPerSecond: 6, bitrate: 15_000_000, carriedKbps: 800,
                    suggestion: LinkSuggestion(bitrate: 4_000_000, captureScale: 1)))
        #expect(
            driver.fields("link behind")
                == [
                    "session": id.text, "device": Driver.key("D").shortName, "name": "iPad",
                    "quality": "Balanced · Retina", "withheld": "6", "offered": "60", "carriedMbps": "0.8",
                    "suggestion": "Low · Standard",
                ])
        let link = try #require(driver.core.qualityReport.sessions?.first?.link)
        #expect(link == change.report)
        driver.effects = []
        // Twice the rate, still the lowest suggestion: nothing reaches a device.
        for _ in 0..<3 {
            driver.second(
                id, LinkSecond(sent: 54, withheld: 6, taken: 200_000, waiting: 50_000, heard: true), true)
        }
        #expect(driver.changes.isEmpty)
        for _ in 0..<5 { driver.second(id, Self.clean, true) }
        #expect(
            driver.changes.map { $0.report == nil } == [true] && driver.lines("link recovered").count == 1)
    }

    @Test func whatTheKernelHoldsIsShownAndNotJudgedBy() throws {
        let (driver, id) = try Self.session(true)
        // Nothing waits here: not dead, whatever the kernel holds.
        let quiet = LinkSecond(sent: 0, withheld: 0, taken: 0, waiting: 0, heard: false)
        for _ in 0..<4 {
            driver.input {
                $0.linkSeconds([SessionSecond(session: id, second: quiet, unsentInKernel: 500_000)], $1)
            }
        }
        #expect(driver.core.session(id)?.link.state == .fine)
        for _ in 0..<3 {
            driver.input {
                $0.linkSeconds([SessionSecond(session: id, second: Self.dead, unsentInKernel: 700_000)], $1)
            }
        }
        #expect(driver.fields("link stalled")["waiting"] == "1.6 MB")
    }

    // MARK: - Afresh

    struct Afresh: Sendable, CustomTestStringConvertible {
        let from: StreamTarget?
        let to: StreamTarget?
        let isAfresh: Bool
        var testDescription: String { "\(String(describing: from)) to \(String(describing: to))" }
    }

    private static func target(_ bitrate: Int, _ fps: Int, _ scale: Int) -> StreamTarget {
        StreamTarget(bitrate: bitrate * 1_000_000, fps: fps, captureScale: scale)
    }

    static let afresh: [Afresh] = [
        Afresh(from: target(40, 60, 2), to: target(40, 60, 2), isAfresh: false),
        Afresh(from: target(40, 60, 2), to: target(4, 60, 2), isAfresh: true),
        Afresh(from: target(40, 60, 2), to: target(40, 120, 2), isAfresh: true),
        Afresh(from: target(40, 60, 2), to: target(40, 60, 1), isAfresh: true),
        Afresh(from: target(40, 60, 2), to: nil, isAfresh: true),
        Afresh(from: nil, to: target(40, 60, 2), isAfresh: true),
        Afresh(from: nil, to: nil, isAfresh: false),
    ]

    @Test("another stream is judged afresh", arguments: afresh)
    func another(_ row: Afresh) throws {
        let (driver, id) = try Self.session(true)
        let other = try #require(driver.session(.home, "E"))
        driver.post(id, row.from)
        for _ in 0..<3 { driver.second(other, Self.short, true) }
        let before = driver.core.session(other)?.link.state
        // Without a stream nobody is judged.
        #expect(before == (row.from == nil ? .fine : .behind))
        driver.effects = []
        driver.post(id, row.to)
        #expect(driver.meterResets == (row.isAfresh ? 1 : 0))
        // Taken back for every session, and not called a recovery.
        let takenBack = row.isAfresh && row.from != nil
        #expect(driver.changes.map { $0.report == nil } == (takenBack ? [true] : []))
        #expect(driver.lines("link recovered").isEmpty)
        #expect(driver.core.session(other)?.link.state == (takenBack || row.from == nil ? .fine : .behind))
    }

    @Test func untilOneIsPostedTheWantedPairRuns() throws {
        let (driver, id) = try Self.session(true)
        for _ in 0..<3 { driver.second(id, Self.short, true) }
        driver.effects = []
        // Not the pair that runs.
        driver.set { $0.away.bitrate = 8_000_000 }
        #expect(driver.meterResets == 0 && driver.core.session(id)?.link.state == .behind)
        driver.set { $0.home.bitrate = 8_000_000 }
        #expect(driver.meterResets == 1 && driver.core.session(id)?.link.state == .fine)
        #expect(driver.core.qualityReport.running == Self.target(8, 60, 2))
    }

    @Test func aReportOfAnotherTargetIsLeftOut() throws {
        let (driver, id) = try Self.session(true)
        driver.post(id, Self.target(15, 120, 2))
        for _ in 0..<3 { driver.second(id, Self.short, true) }
        #expect(driver.core.qualityReport.sessions?.first?.link?.bitrate == 30_000_000)
        // The pick that lowers the quality is answered without it, though the stream has not come back yet.
        _ = driver.pick(id, QualityChange(bitrate: 4_000_000))
        #expect(driver.core.qualityReport.sessions?.first?.link == nil)
        #expect(driver.core.session(id)?.link.state == .behind)
        _ = driver.pick(id, QualityChange(bitrate: 15_000_000))
        #expect(driver.core.qualityReport.sessions?.first?.link != nil)
    }

    /// The limit is part of the target: a pick that lowers it lowers the quality too.
    @Test func aLowerLimitIsAnotherTarget() throws {
        let (driver, id) = try Self.session(true)
        driver.post(id, Self.target(15, 120, 2))
        for _ in 0..<3 { driver.second(id, Self.short, true) }
        #expect(driver.core.qualityReport.sessions?.first?.link?.bitrate == 30_000_000)
        _ = driver.pick(id, QualityChange(maxFPS: 60))
        #expect(driver.core.qualityReport.sessions?.first?.link == nil)
        _ = driver.pick(id, QualityChange(maxFPS: 120))
        #expect(driver.core.qualityReport.sessions?.first?.link != nil)
    }

    /// What nobody posted runs at 60, whatever the limit (06 C1).
    @Test func theLimitIsNoTargetOfAStreamThatNobodyPosted() throws {
        let (driver, id) = try Self.session(true)
        driver.set { $0.maxFPS = 24 }
        for _ in 0..<3 { driver.second(id, Self.short, true) }
        #expect(driver.core.qualityReport.running == Self.target(15, 60, 2))
        #expect(driver.core.qualityReport.sessions?.first?.link?.bitrate == 15_000_000)
    }

    @Test func aProcessThatStartsAnewHasSaidNothing() throws {
        let (driver, id) = try Self.session(false)
        driver.post(id, Self.target(40, 120, 1))
        #expect(driver.core.qualityReport.running == Self.target(40, 120, 1))
        _ = driver.input { $0.deleteDelegatedSessions($1) }
        #expect(driver.core.qualityReport.running == Self.target(15, 60, 2))
    }

    // MARK: - Who counts

    /// In relay mode what is posted replaces the door's frames, second by second, and nothing else of it.
    @Test func postedFramesReplaceTheDoorsEstimate() throws {
        let (driver, id) = try Self.session(true)
        driver.post(
            id, seconds: Array(repeating: Self.short, count: 3) + Array(repeating: Self.clean, count: 5))
        #expect(driver.core.session(id)?.link.state == .fine)
        for _ in 0..<3 { driver.second(id, Self.clean, true) }
        #expect(driver.core.session(id)?.link.state == .behind)
        // And frames that all went take back what the door believes.
        for _ in 0..<5 { driver.second(id, Self.short, true) }
        #expect(driver.core.session(id)?.link.state == .fine)
        for _ in 0..<3 { driver.second(id, Self.short, true) }
        #expect(driver.core.session(id)?.link.state == .behind)
    }

    /// A process whose second is a little shorter than the door's: what it says still counts at once.
    @Test func postedFramesDoNotFallBehind() throws {
        let (driver, id) = try Self.session(true)
        for second in 0..<60 {
            // Twice in every tenth second; now before the tick, now behind it.
            for _ in 0..<(second % 10 == 0 ? 2 : 1) { driver.post(id, seconds: [Self.clean]) }
            driver.second(id, Self.clean, true)
        }
        for _ in 0..<5 {
            driver.post(id, seconds: [Self.short])
            driver.second(id, Self.clean, true)
        }
        #expect(driver.core.session(id)?.link.state == .behind)
        // Two that come between two ticks count both.
        driver.post(id, Self.target(15, 120, 2))
        for _ in 0..<2 {
            driver.post(id, seconds: [Self.short])
            driver.post(id, seconds: [Self.short])
            for _ in 0..<2 { driver.second(id, Self.clean, true) }
        }
        #expect(driver.core.session(id)?.link.state == .behind)
    }

    @Test func postedFramesOfAnotherStreamSayNothing() throws {
        let (driver, id) = try Self.session(true)
        driver.post(id, seconds: Array(repeating: Self.short, count: 3))
        driver.post(id, Self.target(15, 120, 2))
        for _ in 0..<3 { driver.second(id, Self.clean, true) }
        #expect(driver.core.session(id)?.link.state == .fine)
    }

    @Test func noMoreIsKeptThanOneCallBrings() throws {
        let (driver, id) = try Self.session(true)
        driver.post(id, seconds: Array(repeating: Self.short, count: LinkSeconds.limit))
        // One that says nothing of seconds takes none away.
        driver.post(id, seconds: [])
        #expect(driver.core.links[id]?.frames.count == LinkSeconds.limit)
        driver.post(id, seconds: Array(repeating: Self.clean, count: 5))
        #expect(driver.core.links[id]?.frames.map(\.withheld) == [0, 0, 0, 0, 0])
        driver.input { $0.sessionEnded(id, .peerClosed, $1) }
        #expect(driver.core.links[id] == nil)
    }

    @Test func aSessionThatIsGoneHasNoLink() throws {
        let (driver, id) = try Self.session(false)
        #expect(driver.input { $0.deleteSession(id, $1) } == .done)
        driver.effects = []
        #expect(driver.input { $0.postSeconds(id, [Self.short], running: .unsaid, $1) } == nil)
        driver.input {
            $0.linkSeconds(Array(repeating: SessionSecond(session: id, second: Self.short), count: 4), $1)
        }
        #expect(driver.changes.isEmpty)
    }

    /// What it says of the stream holds all the same.
    @Test func aSessionThatWasToldToGoIsNotJudged() throws {
        let (driver, id) = try Self.session(false)
        for _ in 0..<2 { driver.second(id, Self.short, false) }
        _ = driver.input { $0.disconnect(id, message: nil, actor: Actor(text: "unix:0"), $1) }
        driver.effects = []
        for _ in 0..<3 { driver.second(id, Self.short, false) }
        #expect(driver.changes.isEmpty && driver.core.session(id)?.link.state == .fine)
        driver.post(id, Self.target(40, 120, 1))
        #expect(driver.core.qualityReport.running == Self.target(40, 120, 1))
    }

    private static func session(_ isRelayed: Bool) throws -> (Driver, SessionID) {
        let driver = Driver(
            Settings(), devices: [Driver.record("D", name: "iPad"), Driver.record("E")])
        let id = isRelayed ? driver.session(.home, "D") : driver.delegatedSession(.home, "D")
        return (driver, try #require(id))
    }
}

extension Driver {
    fileprivate func second(_ id: SessionID, _ second: LinkSecond, _ isRelayed: Bool) {
        if isRelayed {
            input { $0.linkSeconds([SessionSecond(session: id, second: second)], $1) }
        } else {
            post(id, seconds: [second])
        }
    }

    fileprivate func post(_ id: SessionID, seconds: [LinkSecond]) {
        _ = input { $0.postSeconds(id, seconds, running: .unsaid, $1) }
    }

    fileprivate func post(_ id: SessionID, _ running: StreamTarget?) {
        _ = input { $0.postSeconds(id, [], running: running.map { .runs($0) } ?? .stopped, $1) }
    }

    fileprivate var changes: [LinkChange] {
        effects.compactMap { if case .event(.linkChanged(let change)) = $0 { change } else { nil } }
    }

    fileprivate var meterResets: Int {
        effects.count { if case .judgeAfresh = $0 { true } else { false } }
    }
}
