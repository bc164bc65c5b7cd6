// SPDX-License-Identifier: Apache-2.0

import Policy
import Testing
import Wire

/// 06 A6: seconds, states, the carried rate, what is reported.
struct LinkJudgeTests {
    /// The letters of 06's examples, and a few more for traces.
    static func second(_ letter: Character) -> LinkSecond {
        switch letter {
        case "s": LinkSecond(sent: 54, withheld: 6, taken: 100_000, waiting: 50_000, heard: true)
        case "c": LinkSecond(sent: 60, withheld: 0, taken: 300_000, waiting: 4_000, heard: true)
        case "z": LinkSecond(sent: 0, withheld: 0, taken: 200, waiting: 0, heard: true)
        case "d": LinkSecond(sent: 0, withheld: 40, taken: 0, waiting: 900_000, heard: false)
        // Waits for long, and the device is heard.
        case "w": LinkSecond(sent: 0, withheld: 0, taken: 0, waiting: 1_600_000, heard: true)
        // Dead, with nothing withheld.
        case "D": LinkSecond(sent: 0, withheld: 0, taken: 0, waiting: 900_000, heard: false)
        // A keyframe fills the link for this second, and most frames are withheld.
        case "k": LinkSecond(sent: 20, withheld: 40, taken: 250_000, waiting: 200_000, heard: true)
        // The rest of it goes, and nothing has to be withheld.
        case "r": LinkSecond(sent: 59, withheld: 1, taken: 500_000, waiting: 10_000, heard: true)
        default: LinkSecond(sent: 60, withheld: 0, taken: 500_000, waiting: 0, heard: true)
        }
    }

    static func letter(_ state: LinkState) -> String {
        switch state {
        case .fine: "F"
        case .behind: "B"
        case .stalled: "S"
        }
    }

    static let traces: [(String, String)] = [
        // 06's own.
        ("ss", "FF"), ("sss", "FFB"), ("scscs", "FFFFB"), ("sssccccc", "FFBBBBBF"),
        ("ssscczzc", "FFBBBBBF"), ("ddd", "FFS"), ("dddc", "FFSB"), ("wwww", "FFFF"),
        // Steady.
        ("cccccccc", "FFFFFFFF"),
        // Bursty: two short seconds in five are none too many; the third within five is.
        ("sccccscccc", "FFFFFFFFFF"), ("ssccsscc", "FFFFBBBB"), ("ssccccss", "FFFFFFFF"),
        ("ssccss", "FFFFBB"), ("sccsccscc", "FFFFFFFFF"),
        // A keyframe every two seconds over a thin link: always one short, one not.
        ("krkrkrkr", "FFFFBBBB"), ("krkrkcccccr", "FFFFBBBBBFF"),
        // Four clean ones are too few, and one short one begins them anew.
        ("sssccccsccccc", "FFBBBBBBBBBBF"),
        // A dead path, with and without frames to withhold.
        ("cDDD", "FFFS"), ("cDDwD", "FFFFF"), ("cDDcDDD", "FFFFFFS"), ("sssddd", "FFBBBS"),
        // It recovers: behind while the window still has three short ones, else fine.
        ("dddccc", "FFSBBB"), ("dddcccccc", "FFSBBBBFF"), ("DDDc", "FFSF"), ("dddddc", "FFSSSB"),
        ("DDDDDDz", "FFSSSSF"), ("dddcddd", "FFSBBBS"),
        // Clean seconds count across states: the dead ones here withheld nothing.
        ("sssDDDcc", "FFBBBSFF"), ("sssDDcc", "FFBBBBB"), ("sssccDDD", "FFBBBBBS"), ("sssDDccc", "FFBBBBBF"),
    ]

    @Test(arguments: traces)
    func states(_ seconds: String, _ states: String) {
        var judge = LinkJudge()
        var seen = ""
        for letter in seconds {
            _ = judge.close(Self.second(letter))
            seen += Self.letter(judge.state)
        }
        #expect(seen == states)
    }

    static let shortSeconds: [(Int, Int, Bool)] = [
        (58, 2, false), (54, 6, true), (17, 3, true), (27, 3, true), (28, 3, false), (0, 2, false),
        (0, 3, true), (0, 0, false), (55, 6, false), (0, 1 << 50, true),
    ]

    @Test(arguments: shortSeconds)
    func short(_ sent: Int, _ withheld: Int, _ isShort: Bool) {
        let second = LinkSecond(sent: sent, withheld: withheld, taken: 0, waiting: 0, heard: true)
        #expect(second.isShort == isShort)
    }

    @Test(arguments: [
        (0, 1, false, true), (0, 0, false, false), (1, 1, false, false), (0, 1, true, false),
    ])
    func dead(_ taken: Int, _ waiting: Int, _ heard: Bool, _ isDead: Bool) {
        let second = LinkSecond(sent: 0, withheld: 0, taken: taken, waiting: waiting, heard: heard)
        #expect(second.isDead == isDead)
    }

    @Test(arguments: [(16_383, false), (16_384, true)]) func measured(_ waiting: Int, _ isMeasured: Bool) {
        let second = LinkSecond(sent: 0, withheld: 0, taken: 9, waiting: waiting, heard: true)
        #expect(second.isMeasured == isMeasured)
    }

    @Test func absurdCountsAreBounded() {
        let second = LinkSecond(sent: -1, withheld: Int.max, taken: Int.max, waiting: Int.min, heard: true)
        #expect(second.sent == 0 && second.waiting == 0 && second.withheld == second.taken)
        var judge = LinkJudge()
        for _ in 0..<9 {
            _ = judge.close(
                LinkSecond(
                    sent: Int.max, withheld: Int.max, taken: Int.max, waiting: Int.max, heard: false))
        }
        #expect(judge.state == .behind && judge.carriedKbps == 8_796_093_022)
    }

    static let carriedRates: [([(Int, Int)], Int?)] = [
        // taken, waiting of each second; the carried rate after the last.
        ([(0, 200_000), (0, 200_000), (2_250_000, 200_000)], 6000),
        ([(0, 200_000), (2_250_000, 200_000)], nil),
        ([(0, 200_000), (0, 200_000), (2_250_000, 16_383)], nil),
        // Seconds that do not measure stand in the window and count for nothing.
        ([(100_000, 50_000), (900_000, 0), (100_000, 50_000), (900_000, 0), (100_000, 50_000)], 800),
        // What left the window is forgotten.
        (
            [(9_000_000, 50_000), (1_000, 50_000), (1_000, 50_000), (1_000, 50_000), (1_000, 0), (1_000, 0)],
            8
        ),
        ([(9_000_000, 50_000), (1, 50_000), (1, 50_000), (1, 0), (1, 0), (1, 0)], nil),
        // 187.5 bytes × 8 ÷ 1000 = 1.5: half away from zero; and one less.
        ([(187, 50_000), (188, 50_000), (187, 50_000), (188, 50_000)], 2),
        ([(187, 50_000), (187, 50_000), (187, 50_000), (188, 50_000)], 1),
        ([(62, 50_000), (62, 50_000), (62, 50_000)], 0), ([(63, 50_000), (63, 50_000), (63, 50_000)], 1),
    ]

    @Test(arguments: carriedRates)
    func carried(_ seconds: [(Int, Int)], _ kbps: Int?) {
        var judge = LinkJudge()
        for (taken, waiting) in seconds {
            _ = judge.close(LinkSecond(sent: 60, withheld: 0, taken: taken, waiting: waiting, heard: true))
        }
        #expect(judge.carriedKbps == kbps)
    }

    static func short(taken: Int, waiting: Int = 50_000) -> LinkSecond {
        LinkSecond(sent: 54, withheld: 6, taken: taken, waiting: waiting, heard: true)
    }

    @Test func theReport() {
        var judge = LinkJudge()
        #expect(judge.close(Self.short(taken: 100_000)) == nil)
        #expect(judge.close(Self.short(taken: 100_000)) == nil)
        #expect(
            judge.close(Self.short(taken: 100_000))
                == LinkJudge.Report(
                    state: .behind, withheld: 6, offered: 60, carriedKbps: 800, waiting: 50_000))
    }

    static let reportedRates: [(Int, Int?)] = [
        // What the fourth second took, and the mean of four that is reported: from 800, by a quarter either way.
        (100_000, nil), (199_700, nil), (199_800, 1000), (200_000, 1000), (300, nil), (249, 600),
        (0, 600),
    ]

    @Test(arguments: reportedRates)
    func reportedAgain(_ taken: Int, _ kbps: Int?) {
        var judge = LinkJudge()
        for _ in 0..<3 { _ = judge.close(Self.short(taken: 100_000)) }
        #expect(judge.close(Self.short(taken: taken))?.carriedKbps == kbps)
    }

    @Test func theLastReportedOneIsWhatCounts() {
        var judge = LinkJudge()
        for _ in 0..<3 { _ = judge.close(Self.short(taken: 100_000)) }
        #expect(judge.close(Self.short(taken: 0))?.carriedKbps == 600)
        // 725 is a fifth more than that; 750 a quarter.
        #expect(judge.close(Self.short(taken: 153_000)) == nil)
        #expect(judge.carriedKbps == 725)
        #expect(judge.close(Self.short(taken: 115_700))?.carriedKbps == 750)
    }

    @Test func theFirstRateOfASpellIsReported() {
        var judge = LinkJudge()
        for _ in 0..<2 { _ = judge.close(Self.short(taken: 100_000, waiting: 0)) }
        #expect(judge.close(Self.short(taken: 100_000, waiting: 0))?.carriedKbps == nil)
        #expect(judge.state == .behind)
        #expect(judge.close(Self.short(taken: 100_000)) == nil)
        #expect(judge.close(Self.short(taken: 100_000)) == nil)
        #expect(judge.close(Self.short(taken: 100_000))?.carriedKbps == 800)
        #expect(judge.close(Self.short(taken: 100_000)) == nil)
    }

    @Test func afterZeroEveryMeasuredSecondReports() {
        var judge = LinkJudge()
        for _ in 0..<3 { _ = judge.close(Self.short(taken: 10)) }
        #expect(judge.carriedKbps == 0)
        #expect(judge.close(Self.short(taken: 10))?.carriedKbps == 0)
        #expect(judge.close(Self.short(taken: 10))?.carriedKbps == 0)
    }

    @Test func betweenBehindAndStalledItIsRememberedAnew() {
        var judge = LinkJudge()
        for _ in 0..<3 { _ = judge.close(Self.short(taken: 100_000)) }
        var reports: [LinkJudge.Report] = []
        for _ in 0..<4 { if let report = judge.close(Self.second("d")) { reports.append(report) } }
        // Down by a quarter; by a fifth, which is nothing; stalled; by a half of what was said then.
        #expect(reports.map(\.carriedKbps) == [600, 320, 160])
        #expect(reports.map(\.state) == [.behind, .stalled, .stalled])
        #expect(reports.last?.withheld == 40 && reports.last?.offered == 40)
        #expect(reports.last?.waiting == 900_000)
    }

    @Test func fineForgetsWhatWasReported() {
        var judge = LinkJudge()
        for letter in "sssccccc" { _ = judge.close(Self.second(letter)) }
        #expect(judge.state == .fine)
        for _ in 0..<2 { #expect(judge.close(Self.second("s")) == nil) }
        #expect(judge.close(Self.second("s"))?.state == .behind)
    }

    @Test func inAFineStateNothingIsReported() {
        var judge = LinkJudge()
        for taken in [1000, 1_000_000, 10, 5_000_000, 0, 100_000] {
            #expect(
                judge.close(
                    LinkSecond(sent: 60, withheld: 0, taken: taken, waiting: 99_999, heard: true)) == nil)
        }
    }

    @Test func resets() {
        var judge = LinkJudge()
        #expect(judge.reset() == nil)
        for _ in 0..<2 { _ = judge.close(Self.second("s")) }
        #expect(judge.reset() == nil)
        // The window is empty again.
        for _ in 0..<2 { _ = judge.close(Self.second("s")) }
        #expect(judge.state == .fine)
        _ = judge.close(Self.second("s"))
        #expect(judge.state == .behind)
        let report = judge.reset()
        #expect(report?.state == .fine && report?.isReset == true)
        #expect(judge == LinkJudge())
        for _ in 0..<2 { _ = judge.close(Self.second("d")) }
        _ = judge.reset()
        _ = judge.close(Self.second("d"))
        #expect(judge.state == .fine)
    }

    /// The rules once more, by keeping everything.
    struct Model {
        var seconds: [LinkSecond] = []
        var state = LinkState.fine
        var last: Int??

        var window: ArraySlice<LinkSecond> { seconds.suffix(5) }
        var carried: Int? {
            let measured = window.filter { $0.waiting >= 16_384 }
            guard measured.count >= 3 else { return nil }
            let kbps = Double(measured.map(\.taken).reduce(0, +)) / Double(measured.count) * 8 / 1000
            return Int(kbps.rounded(.toNearestOrAwayFromZero))
        }

        mutating func close(_ second: LinkSecond) -> Bool {
            func isShort(_ s: LinkSecond) -> Bool {
                s.withheld >= 3 && Double(s.withheld) >= 0.1 * Double(s.sent + s.withheld) - 1e-9
            }
            func isDead(_ s: LinkSecond) -> Bool { s.taken == 0 && s.waiting > 0 && !s.heard }
            seconds.append(second)
            let dead = seconds.reversed().prefix { isDead($0) }.count
            let clean = seconds.reversed().prefix { !isShort($0) }.count
            let shorts = window.count { isShort($0) }
            let before = state
            switch state {
            case .fine: state = dead >= 3 ? .stalled : shorts >= 3 ? .behind : .fine
            case .behind: state = dead >= 3 ? .stalled : clean >= 5 ? .fine : .behind
            case .stalled: if dead == 0 { state = shorts >= 3 ? .behind : .fine }
            }
            if state != before {
                last = state == .fine ? nil : .some(carried)
                return true
            }
            guard state != .fine, let carried else { return false }
            if case .some(.some(let known)) = last, Double(abs(carried - known)) < 0.25 * Double(known) {
                return false
            }
            last = .some(carried)
            return true
        }
    }

    /// The model check of 06 C4.1.
    @Test(arguments: 0..<60) func agreesWithTheModel(_ seed: Int) {
        var random = Seeded(state: UInt64(seed) &* 977 &+ 5)
        func one<T>(_ values: [T]) -> T { values[Int.random(in: 0..<values.count, using: &random)] }
        var judge = LinkJudge()
        var model = Model()
        for _ in 0..<60 {
            if Int.random(in: 0..<12, using: &random) == 0 {
                #expect((judge.reset() != nil) == (model.state != .fine))
                model = Model()
            }
            let second = LinkSecond(
                sent: one([0, 20, 54, 60]), withheld: one([0, 1, 2, 3, 6, 30]),
                taken: one([0, 1000, 500_000]),
                waiting: one([0, 8000, 300_000]), heard: Bool.random(using: &random))
            for _ in 0..<Int.random(in: 1...40, using: &random) {
                let report = judge.close(second)
                let reports = model.close(second)
                #expect((report != nil) == reports)
                #expect(judge.state == model.state)
                #expect(judge.carriedKbps == model.carried)
                if let report {
                    #expect(report.state == model.state && report.carriedKbps == model.carried)
                    #expect(report.withheld == second.withheld && !report.isReset)
                }
            }
        }
    }
}
