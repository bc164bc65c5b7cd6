// SPDX-License-Identifier: Apache-2.0

import Policy
import Testing
import Wire

/// 07: signatures are limited, and told as a count.
struct SignatureLimitsTests {
    /// (time, whether it is taken, how long to wait else) at 4 a second.
    @Test(arguments: [
        [(0.0, 0.0), (0, 0), (0, 0), (0, 0), (0, 0.25), (0.1, 0.15), (0.25, 0), (0.25, 0.25)],
        [(100.0, 0.0), (100, 0), (100, 0), (100.5, 0), (100.5, 0), (100.5, 0), (100.5, 0.25)],
        [(0.0, 0.0), (0.25, 0), (0.5, 0), (0.75, 0), (1, 0), (1.25, 0), (1.5, 0)],
        [(-5.0, 0.0), (-5, 0), (-5, 0), (-5, 0), (-5, 0.25)],
    ])
    func rate(_ steps: [(time: Double, wait: Double)]) {
        var limit = RateLimit(perSecond: 4)
        for step in steps {
            let wait = limit.take(at: at(step.time))
            #expect(wait == (step.wait == 0 ? nil : .nanoseconds(Int64(step.wait * 1e9))))
        }
    }

    @Test func aRateOutOfRangeIsTheNearestInIt() {
        var slow = RateLimit(perSecond: 0)
        #expect(slow.take(at: at(0)) == nil && slow.take(at: at(0.5)) != nil && slow.take(at: at(1)) == nil)
        var fast = RateLimit(perSecond: .max)
        for _ in 0..<1_000 { #expect(fast.take(at: at(0)) == nil) }
    }

    @Test(arguments: [
        ([0.0], ["0 a 1"]), ([0, 10, 20], ["0 a 1", "60 a 2"]),
        ([0, 10, 20, 130], ["0 a 1", "60 a 2", "130 a 1"]),
        ([0, 59.9, 60, 119], ["0 a 1", "60 a 1", "120 a 2"]),
    ])
    func lines(_ times: [Double], _ expected: [String]) {
        var tally = SignatureTally()
        var lines: [String] = []
        func note(_ told: [SignatureTally.Line], _ time: Double) {
            lines += told.map { "\(Int(time)) \($0.actor) \($0.count)" }
        }
        func run(until time: Double) {
            while let deadline = tally.deadline, deadline <= at(time) {
                note(tally.tick(at: deadline), Double(deadline.nanoseconds) / 1e9)
            }
        }
        for time in times {
            run(until: time)
            note(tally.signed("a", at: at(time)), time)
        }
        run(until: 1_000)
        #expect(lines == expected && tally.deadline == nil)
    }

    @Test func fewCallersAreToldApart() {
        var tally = SignatureTally()
        #expect(tally.signed("first", at: at(0)).count == 1)
        for number in 10..<60 { #expect(tally.signed("unix:\(number)", at: at(1)).isEmpty) }
        let lines = tally.tick(at: at(60))
        #expect(lines.count == 17 && lines.map(\.count).reduce(0, +) == 50)
        #expect(lines.first { $0.actor == "others" }?.count == 34)
    }
}
