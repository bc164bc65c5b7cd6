// SPDX-License-Identifier: Apache-2.0

import Policy
import Testing
import Wire

/// 03 §7.1 and §7.3.
struct BackoffTests {
    let source = ip("203.0.113.9")

    @Test(arguments: [
        ([0.0, 10, 20, 30], 30.0, false), ([0, 10, 20, 30, 59.9], 359.8, true),
        ([0, 10, 20, 30, 59.9], 359.9, false), ([0, 10, 20, 30, 60], 60, false),
        ([0, 10, 20, 30, 59.9], 59.9, true),
    ])
    func table(_ failures: [Double], _ time: Double, _ isBlocked: Bool) {
        var backoff = Backoff(.reference)
        for failure in failures { backoff.failed(source, at: at(failure)) }
        #expect(backoff.isBlocked(source, at: at(time)) == isBlocked)
    }

    @Test func aPairedKeyClears() {
        var backoff = Backoff(.reference)
        for time in 0..<4 { backoff.failed(source, at: at(Double(time))) }
        backoff.clear(source)
        for time in 4..<8 { backoff.failed(source, at: at(Double(time))) }
        #expect(!backoff.isBlocked(source, at: at(8)))
    }

    @Test func theFifthStartsItOnce() {
        var backoff = Backoff(.reference)
        let started = (0..<5).map { backoff.failed(source, at: at(Double($0))) }
        #expect(started == [false, false, false, false, true])
        // A failure of a connection that was already under way does not extend it.
        backoff.failed(source, at: at(100))
        #expect(backoff.isBlocked(source, at: at(303.9)))
        #expect(!backoff.isBlocked(source, at: at(304)))
    }

    @Test func sourcesAreBounded() {
        var limits = DoorLimits.shipped
        limits.sources = 100
        var backoff = Backoff(limits)
        for index in 0..<1_000 {
            let other = ip("198.51.\(index / 250).\(index % 250)")
            for _ in 0..<5 { backoff.failed(other, at: at(1)) }
        }
        #expect(backoff.count == 100)
        #expect(!backoff.isBlocked(ip("198.51.0.0"), at: at(2)))
        #expect(backoff.isBlocked(ip("198.51.3.249"), at: at(2)))
    }

    /// The one that failed longest ago is forgotten, not the one that failed first.
    @Test func theSourceThatFailedLastStays() {
        var limits = DoorLimits.shipped
        limits.sources = 2
        var backoff = Backoff(limits)
        let (first, second, third) = (ip("192.0.2.1"), ip("192.0.2.2"), ip("192.0.2.3"))
        for source in [first, second, first, third, first, first, first] {
            backoff.failed(source, at: at(1))
        }
        #expect(backoff.isBlocked(first, at: at(2)))
    }

    /// Its failures are spent, however short it is; also while one that failed before it keeps it in the table.
    @Test(arguments: [false, true]) func aBackoffClearsTheList(_ isBehindAnother: Bool) {
        var limits = DoorLimits.reference
        limits.backoff = .seconds(10)
        var backoff = Backoff(limits)
        if isBehindAnother { backoff.failed(ip("203.0.113.10"), at: at(0)) }
        for time in 0..<5 { backoff.failed(source, at: at(Double(time))) }
        for time in 14..<18 { backoff.failed(source, at: at(Double(time))) }
        #expect(!backoff.isBlocked(source, at: at(18)))
    }

    @Test func finishedRecordsAreDropped() {
        var backoff = Backoff(.shipped)
        for index in 0..<100 { backoff.failed(ip("198.51.100.\(index)"), at: at(0)) }
        for index in 100..<200 { backoff.failed(ip("198.51.100.\(index)"), at: at(60)) }
        #expect(backoff.count == 100)
    }

    /// Against a list of all failures, read the way the text says it.
    @Test func againstTheTextWithRandomFailures() {
        var random = Seeded(state: 7)
        for _ in 0..<200 {
            var backoff = Backoff(.reference)
            var kept: [Double] = []
            var until = -1.0
            var time = 0.0
            for _ in 0..<60 {
                time += Double.random(in: 0...25, using: &random)
                let isBlocked = time < until
                #expect(backoff.isBlocked(source, at: at(time)) == isBlocked)
                if isBlocked { continue }
                kept = kept.filter { time - $0 < 60 } + [time]
                if kept.count == 5 {
                    until = time + 300
                    kept = []
                }
                backoff.failed(source, at: at(time))
            }
        }
    }

    @Test(arguments: [
        ("2001:db8:2:3:ff04::1", Origin.internet, "2001:db8:2:3::"),
        ("2001:db8:2:3::1", .lan, "2001:db8:2:3::1"),
        ("2001:db8:2:3::1", .vpn, "2001:db8:2:3::1"), ("203.0.113.9", .internet, "203.0.113.9"),
        ("fe80::9%3", .lan, "fe80::9"), ("::ffff:203.0.113.9", .internet, "203.0.113.9"),
    ])
    func whatALimitCountsBy(_ source: String, _ origin: Origin, _ expected: String) {
        #expect(Source.limited(ip(source), origin) == ip(expected))
    }

    @Test func aFailureIsKnownForAMinute() {
        var backoff = Backoff()
        let source = ip("198.51.100.4")
        #expect(!backoff.hasFailed(source, at: .seconds(0)))
        backoff.failed(source, at: .seconds(10))
        #expect(backoff.hasFailed(source, at: .seconds(69.9)) && !backoff.hasFailed(source, at: .seconds(70)))
        #expect(!backoff.hasFailed(ip("198.51.100.5"), at: .seconds(10)))
        backoff.clear(source)
        #expect(!backoff.hasFailed(source, at: .seconds(10)))
    }
}
