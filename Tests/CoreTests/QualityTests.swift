// SPDX-License-Identifier: Apache-2.0

import LatchkeyStream
import Policy
import Testing
import Wire

@testable import Core

/// 06 A2 to A4 in the core: who decides which pair runs, what is told of it, and what a device may change.
@Suite struct QualityTests {
    typealias Pick = Core.QualityPick

    private static func driver(_ change: (inout Settings) -> Void = { _ in }) -> Driver {
        var settings = Settings()
        settings.remoteAccess = true
        settings.internetAccess = true
        change(&settings)
        return Driver(settings, devices: [Driver.record("D"), Driver.record("E")])
    }

    // MARK: - Which pair runs

    /// One who comes or goes.
    enum Step: Sendable {
        case joins(String, Door, Driver.From)
        /// Closed by the device.
        case leaves(String)
        /// Told to go.
        case removed(String)
        /// Its streaming process or its worker is gone.
        case crashes(String)
    }

    struct Course: Sendable, CustomTestStringConvertible {
        let name: String
        let steps: [Step]
        /// The wanted flag after each.
        let away: [Bool]
        var testDescription: String { name }
    }

    static let courses: [Course] = [
        Course(
            name: "nobody: it stays as it was, and the next one decides",
            steps: [.joins("a", .remote, .vpn), .leaves("a"), .joins("b", .home, .lan), .leaves("b")],
            away: [true, true, false, false]),
        Course(
            name: "one away", steps: [.joins("a", .remote, .internet)], away: [true]),
        Course(
            name: "two away", steps: [.joins("a", .remote, .internet), .joins("b", .remote, .vpn)],
            away: [true, true]),
        Course(
            name: "one at home is enough",
            steps: [
                .joins("a", .remote, .vpn), .joins("b", .home, .lan), .leaves("b"), .joins("c", .home, .lan),
                .leaves("a"),
            ], away: [true, false, true, false, false]),
        Course(
            name: "by address is at home", steps: [.joins("a", .remote, .vpn), .joins("b", .remote, .lan)],
            away: [true, false]),
        Course(
            name: "the home door is home, wherever from",
            steps: [.joins("a", .home, .host), .joins("b", .remote, .vpn), .crashes("a"), .crashes("b")],
            away: [false, false, true, true]),
        Course(
            name: "one that was told to go is gone",
            steps: [.joins("a", .remote, .vpn), .joins("b", .home, .lan), .removed("b"), .leaves("b")],
            away: [true, false, true, true]),
    ]

    @Test("the wanted pair", arguments: courses)
    func course(_ course: Course) throws {
        let driver = Self.driver()
        var ids: [String: SessionID] = [:]
        var before = false
        for (step, away) in zip(course.steps, course.away) {
            driver.effects = []
            switch step {
            case .joins(let name, let door, let from):
                ids[name] = try #require(driver.session(door, name == "b" ? "E" : "D", from))
            case .leaves(let name):
                let id = try #require(ids[name])
                driver.input { $0.sessionEnded(id, .peerClosed, $1) }
            case .crashes(let name):
                let id = try #require(ids[name])
                driver.input { $0.sessionEnded(id, .peerReset, $1) }
            case .removed(let name):
                _ = try #require(ids[name])
                driver.remove("E")
            }
            #expect(driver.core.quality.runsAway == away, "\(step)")
            // One event and one line for a change, none without.
            #expect(driver.reports.map(\.quality.runsAway) == (away == before ? [] : [away]))
            #expect(driver.lines("quality").count == (away == before ? 0 : 1))
            before = away
        }
    }

    /// Whatever comes and goes, in whatever order: the flag is the rule's, and every change is told once.
    @Test func anyOrder() {
        var generator = PropertyTests.Seeded(state: 6)
        for _ in 0..<20 {
            let driver = Self.driver()
            var connected: [(SessionID, Bool)] = []
            var flag = false
            for _ in 0..<60 {
                driver.effects = []
                if connected.isEmpty || generator.next() % 3 != 0, connected.count < 6 {
                    let isAway = generator.next() % 2 == 0
                    guard let id = driver.session(isAway ? .remote : .home, "D", isAway ? .vpn : .lan)
                    else { continue }
                    connected.append((id, isAway))
                } else {
                    let (id, _) = connected.remove(at: Int(generator.next() % UInt64(connected.count)))
                    driver.input { $0.sessionEnded(id, .peerClosed, $1) }
                }
                let wanted = connected.isEmpty ? flag : connected.allSatisfy(\.1)
                #expect(driver.core.quality.runsAway == wanted)
                #expect(driver.reports.count == (wanted == flag ? 0 : 1))
                flag = wanted
            }
        }
    }

    @Test func aFlipSaysWhyAndWhoBroughtIt() throws {
        let driver = Self.driver()
        _ = try #require(driver.session(.remote, "D", .vpn))
        #expect(
            driver.fields("quality")
                == [
                    "runs": "away", "why": "1 device away, none at home", "away": "Low · Standard",
                    "home": "Balanced · Retina", "session": "s1",
                    "device": Driver.key("D").shortName, "route": "through Tailscale",
                ])
        driver.effects = []
        _ = try #require(driver.session(.home, "E"))
        let fields = driver.fields("quality")
        #expect(fields["runs"] == "home" && fields["why"] == "1 device at home, 1 away")
        #expect(fields["session"] == "s2" && fields["away"] == nil)
        let report = try #require(driver.reports.first)
        #expect(report.presence == Presence(away: 1, home: 1) && report.sessions?.count == 2)
        #expect(report.sessions?.map(\.quality.awayRunning) == [false, false])
        // No settings changed.
        #expect(driver.lines("settings").isEmpty)
    }

    /// The example of A4: what the only device is told, away; and what both are told when one joins at home.
    @Test func theExample() throws {
        let driver = Self.driver { $0.home = Quality(bitrate: 40_000_000, captureScale: 2) }
        let phone = try #require(driver.session(.remote, "D", .vpn))
        let away = try #require(driver.core.qualityReport.sessions)
        let pairs = (
            Quality(bitrate: 40_000_000, captureScale: 2), Quality(bitrate: 4_000_000, captureScale: 1)
        )
        #expect(away.map(\.session) == [phone])
        #expect(away.map(\.quality.settings) == [pairs.1])
        #expect(away.map(\.quality.home) == [pairs.0] && away.map(\.quality.away) == [pairs.1])
        #expect(away[0].quality.thisConnectionAway && away[0].quality.awayRunning)
        #expect(
            driver.core.qualityReport.running == StreamTarget(bitrate: 4_000_000, fps: 60, captureScale: 1))
        #expect(driver.core.qualityReport.running?.megabits == 4)

        let pad = try #require(driver.session(.home, "E"))
        let both = try #require(driver.core.qualityReport.sessions)
        #expect(both.map(\.session) == [phone, pad])
        #expect(both.map(\.quality.settings) == [pairs.1, pairs.0])
        #expect(both.map(\.quality.thisConnectionAway) == [true, false])
        #expect(both.map(\.quality.awayRunning) == [false, false])
    }

    /// The one that registers decides before its catalog: what it is answered has the flag already (A3).
    @Test func aRegistrationIsAnsweredWithTheFlagItBrings() throws {
        let driver = Self.driver()
        let id = try #require(driver.delegatedSession(.remote, "D", .vpn))
        let view = try #require(driver.core.session(id))
        let report = driver.core.qualityReport(of: view)
        #expect(report.quality.runsAway && report.sessions?.map(\.quality.awayRunning) == [true])
    }

    @Test func aChangedPairIsToldAndIsNoFlip() {
        let driver = Self.driver()
        _ = driver.session(.home, "D")
        driver.effects = []
        driver.set { $0.away.bitrate = 8_000_000 }
        #expect(driver.reports.map(\.quality.away.bitrate) == [8_000_000])
        #expect(driver.lines("quality").isEmpty)
    }

    @Test func manySessionsAreNotListedInAnEvent() throws {
        var settings = Settings()
        settings.requirePairing = false
        let driver = Driver(settings)
        for number in 0..<(Core.sessionsInEvent + 1) { _ = driver.session(.home, "k\(number)", .lan(9)) }
        let count = driver.core.qualityReport.sessions?.count ?? 0
        try #require(count == Core.sessionsInEvent + 1)
        driver.effects = []
        driver.set { $0.maxFPS = 60 }
        #expect(driver.reports.map { $0.sessions == nil } == [true])
        // Those that were told to go are not listed, and so do not count.
        let id = try #require(driver.core.qualityReport.sessions?.first?.session)
        _ = driver.input { $0.disconnect(id, message: nil, actor: Actor(text: "unix:0"), $1) }
        driver.effects = []
        driver.set { $0.maxFPS = 120 }
        #expect(driver.reports.map { $0.sessions?.count } == [Core.sessionsInEvent])
    }

    // MARK: - What a device may change

    struct PickCase: Sendable, CustomTestStringConvertible {
        let change: QualityChange
        let isAway: Bool
        let applied: [String]
        let refused: [String]
        let home: Quality
        let away: Quality
        var testDescription: String { "\(isAway ? "away" : "home") \(applied) not \(refused)" }
    }

    /// The table of A4, on {home 40 Mbps/2, away 4 Mbps/1}.
    static let picks: [PickCase] = [
        PickCase(
            change: QualityChange(maxFPS: 60, bitrate: 15_000_000, captureScale: 2), isAway: true,
            applied: ["maxFPS", "bitrate", "captureScale"], refused: [],
            home: Quality(bitrate: 40_000_000, captureScale: 2),
            away: Quality(bitrate: 15_000_000, captureScale: 2)),
        PickCase(
            change: QualityChange(bitrate: 25_000_000), isAway: true, applied: ["bitrate"], refused: [],
            home: Quality(bitrate: 40_000_000, captureScale: 2),
            away: Quality(bitrate: 25_000_000, captureScale: 1)),
        PickCase(
            change: QualityChange(bitrate: 15_000_000, captureScale: 2), isAway: false,
            applied: ["bitrate", "captureScale"], refused: [],
            home: Quality(bitrate: 15_000_000, captureScale: 2),
            away: Quality(bitrate: 4_000_000, captureScale: 1)),
        PickCase(
            change: QualityChange(bitrate: 12_000_000, captureScale: 1.5, directWireless: true),
            isAway: true, applied: [], refused: ["bitrate", "captureScale", "directWireless"],
            home: Quality(bitrate: 40_000_000, captureScale: 2),
            away: Quality(bitrate: 4_000_000, captureScale: 1)),
    ]

    @Test("A4's table", arguments: picks)
    func pick(_ row: PickCase) throws {
        let driver = Self.driver { $0.home = Quality(bitrate: 40_000_000, captureScale: 2) }
        let id = try #require(driver.session(row.isAway ? .remote : .home, "D", row.isAway ? .vpn : .lan))
        driver.effects = []
        let answer = driver.pick(id, row.change)
        let wanted = Pick(
            applied: row.applied, refused: row.refused, isAwayPair: row.isAway, isLimited: false)
        switch answer {
        case .pending(_, let pick): #expect(pick == wanted && !row.applied.isEmpty)
        case .done(let pick, _): #expect(pick == wanted && row.applied.isEmpty)
        default: Issue.record("\(answer)")
        }
        #expect(driver.core.settings.home == row.home && driver.core.settings.away == row.away)
        // Committed under the device's name before anybody hears of it.
        let rows = driver.commits.flatMap(\.audit).filter { $0.action == "quality.pick" }
        #expect(rows.map(\.device) == (row.applied.isEmpty ? [] : [Driver.key("D").id.text]))
        #expect(
            driver.fields("quality pick")["refused"]
                == (row.refused.isEmpty ? nil : row.refused.joined(separator: ", ")))
        let told = driver.core.qualityReport.sessions?.first?.quality.settings
        #expect(told == (row.isAway ? row.away : row.home))
    }

    /// What a device did, and what was done about one, says how it came.
    @Test func auditRowsNameTheRoute() throws {
        let driver = Self.driver()
        let away = try #require(driver.session(.remote, "D", .vpn))
        let home = try #require(driver.session(.home, "E"))
        _ = driver.pick(away, QualityChange(bitrate: 15_000_000, captureScale: 2))
        _ = driver.input { $0.disconnect(away, message: "Lunch", actor: Actor(text: "unix:0"), $1) }
        _ = driver.input { $0.disconnect(home, message: nil, actor: Actor(text: "unix:0"), $1) }
        driver.openWindow()
        #expect(driver.pair(.remote, "P", driver.proof("P"), .internet)?.ok == true)
        let rows = driver.commits.flatMap(\.audit).map { "\($0.action): \($0.detail ?? "-")" }
        for row in [
            "quality.pick: away bitrate 4 → 15 Mbps per 60 fps, away points → Retina, through Tailscale",
            "session.close: Lunch, through Tailscale", "session.close: on this network",
            "device.pair: qr, P, over the internet",
        ] {
            #expect(rows.contains(row))
        }
    }

    @Test func fourPicksASecond() throws {
        let driver = Self.driver()
        let id = try #require(driver.session(.home, "D"))
        let rates = QualityPreset.allCases.map(\.rawValue)
        for rate in rates.prefix(4) { _ = driver.pick(id, QualityChange(bitrate: rate)) }
        #expect(driver.core.settings.home.bitrate == rates[3])
        driver.effects = []
        for rate in rates.suffix(2) {
            guard case .done(let pick, let settings) = driver.pick(id, QualityChange(bitrate: rate)) else {
                Issue.record("not answered at once")
                continue
            }
            #expect(pick == Pick(applied: [], refused: [], isAwayPair: false, isLimited: true))
            #expect(settings.home.bitrate == rates[3])
        }
        #expect(driver.lines("quality pick").count == 1)
        // Another session has its own four.
        let other = try #require(driver.session(.home, "E"))
        _ = driver.pick(other, QualityChange(bitrate: rates[5]))
        #expect(driver.core.settings.home.bitrate == rates[5])
        driver.wait(until: 1)
        _ = driver.pick(id, QualityChange(bitrate: rates[6]))
        #expect(driver.core.settings.home.bitrate == rates[6])
    }

    /// The later of two picks holds, whatever the store still has to do for the earlier one.
    @Test func picksAreMadeFromThoseOnTheirWay() throws {
        let driver = Self.driver()
        let id = try #require(driver.session(.home, "D"))
        driver.store = nil
        _ = driver.pick(id, QualityChange(bitrate: 25_000_000))
        _ = driver.pick(id, QualityChange(captureScale: 1))
        _ = driver.pick(id, QualityChange(bitrate: 15_000_000))
        _ = driver.pick(id, QualityChange(bitrate: 25_000_000))
        #expect(driver.core.settings.home == Quality(bitrate: 15_000_000, captureScale: 2))
        #expect(driver.waiting.count == 4)
        for change in driver.waiting { driver.input { $0.committed(change, .committed, $1) } }
        #expect(driver.core.settings.home == Quality(bitrate: 25_000_000, captureScale: 1))
    }

    /// Answered when it is stored, and stored though the earlier one fails.
    @Test func aPickLikeOneOnItsWayIsNotAnsweredBeforeIt() throws {
        let driver = Self.driver()
        let id = try #require(driver.session(.home, "D"))
        driver.store = nil
        driver.effects = []
        let pick = Pick(applied: ["bitrate"], refused: [], isAwayPair: false, isLimited: false)
        for _ in 0..<3 {
            guard case .pending(_, let answer) = driver.pick(id, QualityChange(bitrate: 25_000_000)) else {
                Issue.record("answered before anything was stored")
                return
            }
            #expect(answer == pick)
        }
        #expect(driver.waiting.count == 3 && driver.outcomes.isEmpty)
        driver.input { $0.committed(driver.waiting[0], .failed(message: "disk full"), $1) }
        #expect(driver.core.settings.home.bitrate == 15_000_000)
        driver.input { $0.committed(driver.waiting[1], .committed, $1) }
        #expect(driver.core.settings.home.bitrate == 25_000_000)
        driver.input { $0.committed(driver.waiting[2], .committed, $1) }
        #expect(driver.outcomes.count == 3)
        // What changed nothing any more is not told again.
        #expect(driver.reports.count == 1 && driver.lines("settings").count == 1)
        driver.store = .committed
        guard case .done(let answer, let settings) = driver.pick(id, QualityChange(bitrate: 25_000_000))
        else {
            Issue.record("stored again")
            return
        }
        #expect(answer == pick && settings.home.bitrate == 25_000_000)
    }

    /// Two on their way undo each other, and the second may fail: the third holds all the same.
    @Test func aPickOfWhatIsInForceHoldsWhateverIsOnItsWay() throws {
        let driver = Self.driver()
        let id = try #require(driver.session(.home, "D"))
        driver.store = nil
        for rate in [25_000_000, 15_000_000, 15_000_000] { _ = driver.pick(id, QualityChange(bitrate: rate)) }
        #expect(driver.waiting.count == 3)
        let results: [CommitResult] = [.committed, .failed(message: "disk full"), .committed]
        for (change, result) in zip(driver.waiting, results) {
            driver.input { $0.committed(change, result, $1) }
        }
        #expect(driver.core.settings.home.bitrate == 15_000_000)
        // What it does not name is nobody's.
        driver.waiting = []
        _ = driver.pick(id, QualityChange(maxFPS: 60))
        guard case .done = driver.pick(id, QualityChange(captureScale: 2)) else {
            Issue.record("waits for a change of something else")
            return
        }
        #expect(driver.waiting.count == 1)
    }

    @Test func theAuditNamesWhatTheLastOnItsWayMakes() throws {
        let driver = Self.driver()
        let id = try #require(driver.session(.home, "D"))
        driver.store = nil
        for rate in [25_000_000, 40_000_000, 8_000_000] { _ = driver.pick(id, QualityChange(bitrate: rate)) }
        let details = driver.commits.flatMap(\.audit).filter { $0.action == "quality.pick" }.map(\.detail)
        #expect(
            details == [
                "bitrate 15 → 25 Mbps per 60 fps, on this network",
                "bitrate 25 → 40 Mbps per 60 fps, on this network",
                "bitrate 40 → 8 Mbps per 60 fps, on this network",
            ])
    }

    /// What is stored already may be on its way once more, before something else.
    @Test func theLastOnItsWayIsWhatTheNextIsMadeFrom() throws {
        let driver = Self.driver()
        let id = try #require(driver.session(.home, "D"))
        driver.store = nil
        for _ in 0..<2 { _ = driver.pick(id, QualityChange(bitrate: 25_000_000)) }
        driver.input { [change = driver.waiting.removeFirst()] in $0.committed(change, .committed, $1) }
        _ = driver.pick(id, QualityChange(bitrate: 15_000_000))
        guard case .pending = driver.pick(id, QualityChange(bitrate: 25_000_000)) else {
            Issue.record("taken for what is on its way no more")
            return
        }
        for change in driver.waiting { driver.input { $0.committed(change, .committed, $1) } }
        #expect(driver.core.settings.home.bitrate == 25_000_000)
    }

    @Test func aPickThatCannotBeStoredChangesNothing() throws {
        let driver = Self.driver()
        let id = try #require(driver.session(.home, "D"))
        driver.store = .failed(message: "disk full")
        driver.effects = []
        _ = driver.pick(id, QualityChange(bitrate: 25_000_000))
        #expect(driver.core.settings.home.bitrate == 15_000_000 && driver.reports.isEmpty)
    }

    @Test func onlyAConnectedSessionPicks() throws {
        let driver = Self.driver()
        #expect(driver.pick(SessionID(text: "none"), QualityChange(maxFPS: 60)) == .notFound)
        let id = try #require(driver.session(.home, "D"))
        driver.remove("D")
        #expect(driver.pick(id, QualityChange(maxFPS: 60)) == .closing)
        driver.input { $0.sessionEnded(id, .goodbye, $1) }
        #expect(driver.pick(id, QualityChange(maxFPS: 60)) == .notFound)
        #expect(driver.core.settings.maxFPS == 120)
    }
}

extension Driver {
    func pick(_ id: SessionID, _ change: QualityChange) -> Core.QualityPickAnswer {
        input { $0.pickQuality(id, change, actor: Actor(text: "token:host", isHostRole: true), $1) }
    }

    /// What `quality.changed` said since the last look.
    var reports: [QualityReport] {
        effects.compactMap { if case .event(.qualityChanged(let report)) = $0 { report } else { nil } }
    }

    /// The fields of the first line of these words.
    func fields(_ message: String) -> [String: String] { lines(message).first ?? [:] }
}
