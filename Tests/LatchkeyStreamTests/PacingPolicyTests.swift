// SPDX-License-Identifier: Apache-2.0

import LatchkeyStream
import Testing

/// 06 A9.
struct PacingPolicyTests {
    /// One client and its encoder.
    struct Bench {
        var pacing: PacingPolicy
        var spacing = KeyframeSpacing()

        init(isHome: Bool = false) { pacing = PacingPolicy(isHome: isHome) }

        /// Offers a frame and hands it over if it may go; whether it went.
        @discardableResult mutating func frame(
            _ bytes: Int, key: Bool = false, unacknowledged: Int = 0, at now: Double = 0
        ) -> PacingPolicy.Verdict {
            let verdict = pacing.offer(
                isKeyframe: key, unacknowledged: unacknowledged, spacing: &spacing, at: .seconds(now))
            if verdict == .send {
                pacing.handed(bytes: bytes, isKeyframe: key)
                if key { spacing.keyframe(at: .seconds(now)) }
            }
            return verdict
        }

        /// The sweep of a second; whether it asks.
        mutating func sweep(at now: Double) -> Bool { pacing.sweep(spacing: &spacing, at: .seconds(now)) }

        /// Sent and withheld of the second that ends.
        mutating func counts() -> [Int] {
            let counts = pacing.closeSecond()
            return [counts.sent, counts.withheld]
        }

        /// A client that saw its first picture and took all of it.
        static func watching(isHome: Bool = false) -> Bench {
            var bench = Bench(isHome: isHome)
            bench.frame(100_000, key: true, at: -100)
            bench.pacing.took(bytes: 100_000)
            _ = bench.pacing.closeSecond()
            return bench
        }
    }

    static let lost = PacingPolicy.Verdict.withhold(counts: true, asks: false)
    static let lostAndAsked = PacingPolicy.Verdict.withhold(counts: true, asks: true)

    @Test func beforeTheFirstKeyframeNothingCounts() {
        var bench = Bench()
        #expect(bench.frame(900) == .withhold(counts: false, asks: true))
        #expect(bench.frame(900) == .withhold(counts: false, asks: false))
        #expect(bench.frame(4_000_000, key: true) == .send)
        #expect(bench.counts() == [1, 0])
    }

    /// With nothing of a keyframe on its way: what waits, and whether a frame goes.
    static let backlogs: [(Int, Bool)] = [(256 << 10, true), (256 << 10 + 1, false), (0, true)]

    @Test(arguments: backlogs)
    func budget(_ pending: Int, _ goes: Bool) {
        var bench = Bench.watching()
        bench.pacing.handed(bytes: pending, isKeyframe: false)
        #expect((bench.frame(1) == .send) == goes)
    }

    /// A keyframe of 4 MiB on its way, and what waits beside it.
    static let beside: [(Int, Bool)] = [(512 << 10, true), (512 << 10 + 1, false)]

    @Test(arguments: beside)
    func holdCap(_ beside: Int, _ goes: Bool) {
        var bench = Bench.watching()
        bench.frame(4 << 20, key: true)
        bench.pacing.handed(bytes: beside, isKeyframe: false)
        #expect((bench.frame(1) == .send) == goes)
        // Two of them on their way hold as much.
        var two = Bench.watching()
        two.frame(4 << 20, key: true)
        two.frame(4 << 20, key: true)
        two.pacing.handed(bytes: beside, isKeyframe: false)
        #expect((two.frame(1) == .send) == goes)
        // And so with one and a half of them taken.
        var half = Bench.watching()
        half.frame(4 << 20, key: true)
        half.frame(4 << 20, key: true)
        half.pacing.handed(bytes: beside, isKeyframe: false)
        half.pacing.took(bytes: 6 << 20)
        #expect((half.frame(1) == .send) == goes)
    }

    /// What a keyframe left behind may grow by the slack.
    static let growths: [(Int, Int, Bool)] = [
        (300 << 10, 128 << 10, true), (300 << 10, 128 << 10 + 1, false), (100 << 10, 156 << 10, true),
        (100 << 10, 156 << 10 + 1, false),
    ]

    @Test(arguments: growths)
    func slack(_ left: Int, _ growth: Int, _ goes: Bool) {
        var bench = Bench.watching()
        bench.frame(1 << 20, key: true)
        bench.pacing.handed(bytes: left, isKeyframe: false)
        bench.pacing.took(bytes: 1 << 20)
        bench.pacing.handed(bytes: growth, isKeyframe: false)
        #expect((bench.frame(1) == .send) == goes)
    }

    @Test func theFloorFollowsTheBacklogDown() {
        var bench = Bench.watching()
        bench.frame(1 << 20, key: true)
        bench.pacing.handed(bytes: 400 << 10, isKeyframe: false)
        bench.pacing.took(bytes: 1 << 20)
        bench.pacing.took(bytes: 100 << 10)
        // 300 KiB wait, and so 428 may: up to there, and no further.
        bench.pacing.handed(bytes: 128 << 10, isKeyframe: false)
        #expect(bench.frame(1) == .send)
        #expect(bench.frame(1) == Self.lost)
    }

    @Test func afterALossAKeyframe() {
        var bench = Bench.watching()
        bench.frame(300 << 10)
        #expect(bench.frame(10) == Self.lost)
        bench.pacing.took(bytes: 300 << 10 - (16 << 10) - 1)
        // One byte too many waits to ask.
        #expect(bench.frame(10, at: 1) == Self.lost)
        bench.pacing.took(bytes: 1)
        #expect(bench.frame(10, at: 1.1) == Self.lostAndAsked)
        #expect(bench.frame(10, at: 3) == Self.lost)
        #expect(bench.frame(10, at: 3.1) == Self.lostAndAsked)
        #expect(bench.frame(50_000, key: true, at: 3.2) == .send)
        #expect(bench.frame(10, at: 3.3) == .send)
        #expect(bench.counts() == [3, 5])
    }

    @Test func anAwaitedKeyframeHasToFit() {
        var bench = Bench.watching()
        bench.frame(300 << 10)
        bench.frame(10)
        #expect(bench.frame(10, key: true) == Self.lost)
        bench.pacing.took(bytes: 44 << 10 - 1)
        #expect(bench.frame(10, key: true) == Self.lost)
        bench.pacing.took(bytes: 1)
        #expect(bench.pacing.pending == 256 << 10)
        #expect(bench.frame(10, key: true) == .send)
        // The first since a restart goes at once.
        bench.frame(300 << 10)
        bench.pacing.restarted()
        #expect(bench.frame(10) == .withhold(counts: false, asks: false))
        #expect(bench.frame(10, key: true) == .send)
    }

    @Test func theSweepAsksWhenThePictureIsStill() {
        var bench = Bench.watching()
        #expect(bench.sweep(at: 0) == false)
        bench.frame(300 << 10)
        bench.frame(10)
        #expect(bench.sweep(at: 1) == false)
        bench.pacing.took(bytes: 300 << 10)
        #expect(bench.sweep(at: 2) == true)
        #expect(bench.sweep(at: 3.9) == false)
        #expect(bench.sweep(at: 4) == true)
    }

    @Test func besideAClientAtHomeItIsAskedForLessOften() {
        var bench = Bench.watching()
        bench.spacing.hasHomeClient = true
        bench.frame(300 << 10)
        bench.frame(10)
        bench.pacing.took(bytes: 300 << 10)
        bench.spacing.keyframe(at: .seconds(1))
        #expect(bench.frame(10, at: 4.9) == Self.lost)
        #expect(bench.frame(10, at: 5) == Self.lostAndAsked)
        #expect(bench.frame(10, at: 8.9) == Self.lost)
        #expect(bench.frame(10, at: 9) == Self.lostAndAsked)
        bench.spacing.hasHomeClient = false
        #expect(bench.frame(10, at: 10.9) == Self.lost)
        #expect(bench.frame(10, at: 11) == Self.lostAndAsked)
    }

    /// A client that came, or whose stream began anew, may be the only one: nobody else would ask.
    @Test func atHomeTheFirstKeyframeIsAskedForOnce() {
        var bench = Bench(isHome: true)
        for _ in 1...2 {
            #expect(bench.frame(10) == .withhold(counts: false, asks: true))
            #expect(bench.frame(10) == .withhold(counts: false, asks: false))
            bench.pacing.restarted()
        }
    }

    @Test func atHome() {
        var bench = Bench.watching(isHome: true)
        #expect(bench.frame(9 << 20, unacknowledged: 2) == .send)
        #expect(bench.frame(10, unacknowledged: 3) == Self.lostAndAsked)
        // Asked once; nothing before the keyframe, which always goes.
        #expect(bench.frame(10, unacknowledged: 0) == Self.lost)
        #expect(bench.frame(10, key: true, unacknowledged: 2) == .send)
        #expect(bench.frame(10, unacknowledged: 3, at: 0.1) == Self.lostAndAsked)
        #expect(bench.sweep(at: 9) == false)
        #expect(bench.frame(10, key: true, unacknowledged: 2) == .send)
        // One that nobody waits for is no delta.
        #expect(bench.frame(10, key: true, unacknowledged: 9) == .send)
    }

    /// Else a client that takes nothing would be handed one keyframe after the other.
    @Test func atHomeAnAwaitedKeyframeWaitsForRoom() {
        var bench = Bench.watching(isHome: true)
        bench.pacing.handed(bytes: 256 << 10 + 1, isKeyframe: false)
        #expect(bench.frame(10, unacknowledged: 3) == Self.lostAndAsked)
        #expect(bench.frame(10, key: true, unacknowledged: 3) == Self.lost)
        // Asked for once more, when there is room.
        #expect(bench.frame(10, unacknowledged: 3) == Self.lost)
        #expect(bench.frame(10, unacknowledged: 2) == Self.lostAndAsked)
        #expect(bench.frame(10, unacknowledged: 2) == Self.lost)
        bench.pacing.took(bytes: 1)
        #expect(bench.frame(10, key: true, unacknowledged: 3) == .send)
    }

    /// What a process may say that is not so, and what comes of it.
    @Test func oddCounts() {
        var bench = Bench.watching()
        bench.pacing.took(bytes: 1 << 30)
        #expect(bench.pacing.pending == 0)
        bench.pacing.handed(bytes: -1, isKeyframe: false)
        bench.pacing.took(bytes: -1)
        #expect(bench.pacing.pending == 0)
        bench.pacing.handed(bytes: .max, isKeyframe: false)
        bench.pacing.handed(bytes: .max, isKeyframe: false)
        #expect(bench.pacing.pending == 2 << 33)
        bench.pacing.took(bytes: .max)
        #expect(bench.pacing.pending == 0)
    }

    @Test func whatWaitsIsMeasured() {
        var bench = Bench.watching()
        bench.frame(1000)
        bench.pacing.took(leaving: 1001)
        #expect(bench.pacing.pending == 1000)
        bench.pacing.took(leaving: 300)
        #expect(bench.pacing.pending == 300)
        // More waits than before, for another reason than frames.
        bench.pacing.took(leaving: 400)
        #expect(bench.pacing.pending == 300)
        bench.pacing.took(leaving: -1)
        #expect(bench.pacing.pending == 0)
    }

    /// A link of 4 Mbit/s under a stream of 15 with a keyframe whenever it is asked for: what waits stays bounded, frames
    /// go on coming, and without the rule the backlog grows without end.
    @Test func aSlowLinkShowsFewerFramesAndNoGrowingDelay() {
        var bench = Bench.watching()
        let frame = 15_000_000 / 8 / 60
        let perFrame = 4_000_000 / 8 / 60
        var worst = 0
        var wanted = false
        var gap = 0
        var longest = 0
        for step in 0..<(60 * 60) {
            let now = Double(step) / 60
            let isKey = wanted
            wanted = false
            let verdict = bench.frame(isKey ? 150_000 : frame, key: isKey, at: now)
            if case .withhold(_, true) = verdict { wanted = true }
            gap = verdict == .send ? 0 : gap + 1
            longest = max(longest, gap)
            bench.pacing.took(bytes: perFrame)
            worst = max(worst, bench.pacing.pending)
        }
        let (sent, withheld) = bench.pacing.closeSecond()
        // The hold cap, the keyframe and a frame: 0.9 s at most of a link that would be 165 s behind.
        #expect(worst <= PacingPolicy.holdCap + 150_000 + frame)
        #expect(longest <= 120)
        #expect(sent > 500 && sent + withheld == 3600)
    }
}
