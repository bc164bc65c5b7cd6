// SPDX-License-Identifier: Apache-2.0

import LatchkeyStream
import Testing

/// When the stream goes over (06 A3).
struct QualitySwitchTests {
    typealias Switch = QualitySwitch<String>
    typealias Outcome = Switch.Outcome

    static let home = QualityPair(bitrate: 40_000_000, captureScale: 2)
    static let away = QualityPair(bitrate: 4_000_000, captureScale: 1)

    static func fresh(home: QualityPair = home, away: QualityPair = away, maxFPS: Int = 120) -> Switch {
        Switch(Switch.Inputs(home: home, away: away, maxFPS: maxFPS))
    }

    static func target(_ pair: QualityPair, _ fps: Int = 60) -> StreamTarget {
        StreamTarget(bitrate: pair.bitrate, fps: fps, captureScale: pair.captureScale)
    }

    /// The example of 06 A4.
    @Test func theExample() {
        var quality = Self.fresh()
        #expect(!quality.wantsAway && !quality.showsAway)
        #expect(quality.joined("phone", isAway: true, at: at(0)) == Outcome(wishChanged: true))
        #expect(quality.wantsAway && !quality.runsAway && quality.showsAway)
        #expect(quality.wantedTarget == Self.target(Self.away))
        #expect(quality.target == Self.target(Self.home))
        #expect(quality.deadline == at(1))
        #expect(
            quality.viewport("phone", fps: 60)
                == Outcome(
                    flip: .init(toAway: true, broughtBy: "phone"), restart: Self.target(Self.away)))
        #expect(quality.deadline == nil)
        #expect(quality.joined("pad", isAway: false, at: at(5)) == Outcome(wishChanged: true))
        #expect(!quality.wantsAway && quality.runsAway)
        // Rate and quality in one restart.
        #expect(
            quality.viewport("pad", fps: 120)
                == Outcome(
                    flip: .init(toAway: false, broughtBy: "pad"), restart: Self.target(Self.home, 120)))
        // The one at home leaves: at once, and with the rate that it takes along.
        #expect(
            quality.left("pad")
                == Outcome(
                    wishChanged: true, flip: .init(toAway: true, broughtBy: "pad"),
                    restart: Self.target(Self.away)))
        // The last one leaves: the next decides.
        #expect(quality.left("phone") == Outcome())
        #expect(quality.wantsAway && quality.runsAway && !quality.showsAway)
        #expect(quality.joined("phone", isAway: true, at: at(9)) == Outcome())
        #expect(quality.showsAway && quality.deadline == nil)
    }

    @Test func withoutAViewportAfterASecond() {
        var quality = Self.fresh()
        _ = quality.joined("phone", isAway: true, at: at(10))
        #expect(quality.tick(at: at(10.999)) == Outcome())
        #expect(
            quality.tick(at: at(11))
                == Outcome(flip: .init(toAway: true, broughtBy: "phone"), restart: Self.target(Self.away)))
        #expect(quality.tick(at: at(12)) == Outcome())
        // Its rate comes late, and is a restart of its own.
        #expect(quality.viewport("phone", fps: 30) == Outcome(restart: Self.target(Self.away, 30)))
    }

    @Test func anotherDevicesViewportIsNotAwaited() {
        var quality = Self.fresh()
        _ = quality.joined("phone", isAway: true, at: at(0))
        _ = quality.viewport("phone", fps: 60)
        _ = quality.joined("pad", isAway: false, at: at(5))
        #expect(quality.viewport("phone", fps: 60) == Outcome())
        // A rate that changes the stream is a restart, and takes it along.
        #expect(
            quality.viewport("phone", fps: 90)
                == Outcome(
                    flip: .init(toAway: false, broughtBy: "pad"), restart: Self.target(Self.home, 90)))
        #expect(quality.viewport("pad", fps: 90) == Outcome())
    }

    @Test func anotherRestartTakesItAlong() {
        var quality = Self.fresh()
        _ = quality.joined("phone", isAway: true, at: at(0))
        #expect(
            quality.restarting()
                == Outcome(flip: .init(toAway: true, broughtBy: "phone"), restart: Self.target(Self.away)))
        #expect(quality.tick(at: at(2)) == Outcome())
        #expect(quality.restarting() == Outcome())
    }

    @Test func onlyASettingsChangeThatRestartsTakesItAlong() {
        var quality = Self.fresh()
        _ = quality.joined("phone", isAway: true, at: at(0))
        // The pair that does not run yet.
        var inputs = Switch.Inputs(
            home: Self.home, away: QualityPair(bitrate: 8_000_000, captureScale: 1), maxFPS: 120)
        #expect(quality.changed(inputs) == Outcome())
        #expect(!quality.runsAway && quality.deadline == at(1))
        inputs.maxFPS = 30
        #expect(
            quality.changed(inputs)
                == Outcome(
                    flip: .init(toAway: true, broughtBy: "phone"),
                    restart: StreamTarget(bitrate: 8_000_000, fps: 30, captureScale: 1)))
        #expect(quality.deadline == nil)
    }

    @Test func whoIsAwaitedLeaves() {
        // Somebody at home joined, and is gone before a word: nothing ever changed.
        var quality = Self.fresh()
        _ = quality.joined("phone", isAway: true, at: at(0))
        _ = quality.viewport("phone", fps: 60)
        _ = quality.joined("pad", isAway: false, at: at(5))
        #expect(quality.left("pad") == Outcome(wishChanged: true))
        #expect(quality.runsAway && quality.wantsAway && quality.deadline == nil)
        // It leaves while another wants the same: the wait ends.
        _ = quality.joined("pad", isAway: false, at: at(6))
        _ = quality.joined("tv", isAway: false, at: at(6.2))
        #expect(quality.deadline == at(7))
        #expect(
            quality.left("pad")
                == Outcome(flip: .init(toAway: false, broughtBy: "pad"), restart: Self.target(Self.home)))
        #expect(quality.deadline == nil)
    }

    @Test func aWishThatComesBackIsNoFlip() {
        var quality = Self.fresh()
        _ = quality.joined("phone", isAway: true, at: at(0))
        #expect(quality.joined("pad", isAway: false, at: at(0.5)) == Outcome(wishChanged: true))
        #expect(quality.deadline == nil)
        #expect(quality.viewport("phone", fps: 60) == Outcome())
        #expect(quality.viewport("pad", fps: 60) == Outcome())
        #expect(quality.tick(at: at(3)) == Outcome())
        #expect(!quality.runsAway)
    }

    @Test func pairsThatGiveTheSameRestartNothing() {
        var quality = Self.fresh(home: Self.away)
        _ = quality.joined("phone", isAway: true, at: at(0))
        #expect(
            quality.viewport("phone", fps: 60) == Outcome(flip: .init(toAway: true, broughtBy: "phone")))
    }

    @Test func anAwayOneBesideAHomeOneChangesNothing() {
        var quality = Self.fresh()
        _ = quality.joined("pad", isAway: false, at: at(0))
        #expect(quality.viewport("pad", fps: 120) == Outcome(restart: Self.target(Self.home, 120)))
        #expect(quality.joined("phone", isAway: true, at: at(1)) == Outcome())
        // The one at home keeps the shared stream at 120 (06 A5).
        #expect(quality.viewport("phone", fps: 60) == Outcome())
        #expect(quality.target == Self.target(Self.home, 120))
        #expect(quality.presence == Presence(away: 1, home: 1))
        #expect(
            quality.left("pad")
                == Outcome(
                    wishChanged: true, flip: .init(toAway: true, broughtBy: "pad"),
                    restart: Self.target(Self.away)))
    }

    @Test func whoIsNotThereChangesNothing() {
        var quality = Self.fresh()
        #expect(quality.viewport("x", fps: 120) == Outcome())
        #expect(quality.left("x") == Outcome())
        _ = quality.joined("pad", isAway: false, at: at(0))
        #expect(quality.joined("pad", isAway: true, at: at(1)) == Outcome())
        #expect(quality.presence == Presence(home: 1))
    }

    @Test(arguments: [-5, 0, 10, Int.max, Int.min]) func absurdRates(_ fps: Int) {
        var quality = Self.fresh()
        _ = quality.joined("pad", isAway: false, at: at(0))
        _ = quality.viewport("pad", fps: fps)
        #expect(quality.target.fps == (fps > 24 ? 120 : 24))
    }

    /// Any order of coming, going and waiting: the wish follows from who is there, no flip is told twice, restarts are
    /// told exactly when what runs is another, and something is awaited exactly while the stream is behind the wish.
    @Test(arguments: 0..<40) func anyOrder(_ seed: Int) {
        var random = Seeded(state: UInt64(seed))
        var quality = Self.fresh()
        var present: [String: Bool] = [:]
        var wish = false
        var running = quality.target
        var runsAway = false
        for step in 0..<400 {
            let now = at(Double(step) * 0.3)
            let id = String(Int.random(in: 0..<5, using: &random))
            let outcome: Switch.Outcome
            switch Int.random(in: 0..<9, using: &random) {
            case 0, 1, 2:
                let isAway = Int.random(in: 0..<4, using: &random) > 0
                outcome = quality.joined(id, isAway: isAway, at: now)
                if present[id] == nil { present[id] = isAway }
            case 3, 4:
                outcome = quality.left(id)
                if present.removeValue(forKey: id) != nil, outcome.wishChanged {
                    #expect(quality.deadline == nil)
                }
            case 5: outcome = quality.viewport(id, fps: [30, 60, 120].randomElement(using: &random) ?? 60)
            case 6 where step % 5 == 0: outcome = quality.restarting()
            default:
                outcome = quality.tick(at: now)
                #expect(quality.deadline.map { $0 > now } ?? true)
            }
            if !present.isEmpty { wish = !present.values.contains(false) }
            #expect(quality.wantsAway == wish)
            #expect(quality.showsAway == (wish && !present.isEmpty))
            if let flip = outcome.flip {
                #expect(flip.toAway != runsAway && flip.broughtBy != nil)
                runsAway = flip.toAway
            }
            #expect(quality.runsAway == runsAway)
            #expect(outcome.restart == (running == quality.target ? nil : quality.target))
            running = quality.target
            #expect((quality.deadline != nil) == (quality.runsAway != quality.wantsAway))
            #expect(quality.deadline.map { $0 <= now + .seconds(1) } ?? true)
        }
    }
}
