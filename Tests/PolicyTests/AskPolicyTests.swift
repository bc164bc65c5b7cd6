// SPDX-License-Identifier: Apache-2.0

import Policy
import Testing
import Wire

/// 03 §12.2, §12.4 and §12.8.
struct AskPolicyTests {
    static func facts(
        locked: Bool = false, seen: Bool = false, claimed: Bool = false, other: Bool = false,
        window: Bool = false, host: Bool = false, quiet: Bool = false, recent: Int = 0
    ) -> AskPolicy.Facts {
        var facts = AskPolicy.Facts()
        facts.isUnlocked = !locked
        facts.cableSeen = seen
        facts.cableClaimed = claimed
        facts.hasOtherKey = other
        facts.windowOpen = window
        facts.isFromThisHost = host
        facts.isQuiet = quiet
        facts.recentWindows = recent
        return facts
    }

    @Test(arguments: [
        (facts(locked: true, seen: true, claimed: true), AskPolicy.Decision.locked),
        (facts(seen: true, claimed: true, window: true, quiet: true, recent: 3), .pairNow),
        (facts(seen: true, window: true), .shownNotOpened),
        (facts(seen: true, claimed: true, other: true), .shownOpened),
        (facts(claimed: true), .shownOpened),
        (facts(host: true, quiet: true, recent: 3), .openOnHost(.thisHost)),
        (facts(quiet: true, recent: 3), .openOnHost(.quiet)),
        (facts(window: true, host: true), .shownNotOpened), (facts(host: true), .openOnHost(.thisHost)),
        (facts(quiet: true), .openOnHost(.quiet)), (facts(recent: 3), .openOnHost(.often)),
        (facts(recent: 2), .shownOpened), (facts(), .shownOpened),
    ])
    func table(_ facts: AskPolicy.Facts, _ decision: AskPolicy.Decision) {
        #expect(AskPolicy.decide(facts) == decision)
    }

    @Test func kind21HasNoCable() {
        let facts = Self.facts(seen: true, claimed: true)
        #expect(AskPolicy.decide(facts, allowsCable: false) == .shownOpened)
    }

    @Test func unknownIsLocked() {
        #expect(AskPolicy.decide(AskPolicy.Facts()) == .locked)
    }

    @Test(arguments: [
        (AskPolicy.Decision.openOnHost(.thisHost), PairingRequest.State?.none), (.pairNow, nil),
        (.shownNotOpened, nil), (.shownOpened, .showing), (.locked, .locked),
        (.openOnHost(.quiet), .limit), (.openOnHost(.often), .limit),
    ])
    func whatIsKept(_ decision: AskPolicy.Decision, _ state: PairingRequest.State?) {
        #expect(AskPolicy.request(for: decision) == state)
    }

    let S = ip("192.168.1.50")
    let other = ip("192.168.1.51")

    @Test func quietByKeyAndBySource() {
        var limits = AskLimits()
        limits.quiet(key: key(1), source: S, at: at(100))
        #expect(limits.quietSince(key: key(1), source: other, at: at(699.9)) == at(100))
        #expect(limits.quietSince(key: key(1), source: other, at: at(700)) == nil)
        #expect(limits.quietSince(key: key(2), source: S, at: at(300)) == at(100))
        #expect(limits.quietSince(key: key(2), source: other, at: at(300)) == nil)
        limits.quiet(key: key(2), source: S, at: at(200))
        #expect(limits.quietSince(key: key(1), source: S, at: at(300)) == at(200))
        // Another close restarts it.
        limits.quiet(key: key(1), source: S, at: at(650))
        #expect(limits.quietSince(key: key(1), source: other, at: at(1249.9)) == at(650))
    }

    @Test func quietOnesAreBounded() throws {
        var limits = AskLimits()
        func key(_ number: Int) throws -> Fingerprint {
            let bytes = [UInt8(number >> 8), UInt8(number & 0xFF)] + [UInt8](repeating: 0, count: 30)
            return try #require(Fingerprint(bytes: bytes))
        }
        for number in 0...4_096 {
            limits.quiet(try key(number), at: at(0))
            limits.quiet(IPAddress(v4: UInt32(number)), at: at(0))
        }
        #expect(limits.quietKeys(at: at(1)).count == 4_096)
        #expect(limits.quietSources(at: at(1)).count == 4_096)
        #expect(try limits.quietSince(key: key(0), source: IPAddress(v4: 0), at: at(1)) == nil)
    }

    @Test func threeWindowsIn600s() {
        var limits = AskLimits()
        for time in [0.0, 100, 200] { limits.windowOpened("\(time)", at: at(time)) }
        #expect(limits.recentWindows(at: at(250)) == 3)
        #expect(limits.recentWindows(at: at(599.9)) == 3)
        #expect(limits.recentWindows(at: at(600)) == 2)
    }

    /// 03 §13.
    @Test(arguments: [
        (LockPolicy.Witness.unlocked, LockPolicy.Witness.silent, true), (.locked, .unlocked, false),
        (.silent, .silent, false), (.silent, .unlocked, true), (.unlocked, .locked, false),
        (.unlocked, .unlocked, true), (.silent, .locked, false), (.locked, .silent, false),
        (.locked, .locked, false),
    ])
    func lock(_ logind: LockPolicy.Witness, _ word: LockPolicy.Witness, _ isUnlocked: Bool) {
        #expect(LockPolicy.isUnlocked(logind: logind, word: word) == isUnlocked)
    }

    @Test func aWordOfUnlockedLasts90s() {
        var word = LockWord()
        #expect(word.witness(at: at(0)) == .silent)
        word.say(locked: false, at: at(10))
        #expect(word.witness(at: at(99.9)) == .unlocked)
        #expect(word.witness(at: at(100)) == .silent)
        word.say(locked: true, at: at(110))
        #expect(word.witness(at: at(100_000)) == .locked)
    }
}
