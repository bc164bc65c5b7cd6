// SPDX-License-Identifier: Apache-2.0

import Testing
import Wire

@Suite struct MonotonicTimeTests {
    @Test func arithmetic() {
        let start = MonotonicTime.seconds(100)
        #expect(start.nanoseconds == 100_000_000_000)
        #expect(start + .seconds(600) == .seconds(700))
        #expect(start + .milliseconds(-250) == .seconds(99.75))
        #expect(.seconds(699.9) - start == .milliseconds(599_900))
        #expect(start - .seconds(101) == .seconds(-1))
        #expect(.seconds(1) < start)
    }

    @Test func saturatesAtTheEnds() {
        let last = MonotonicTime(nanoseconds: .max)
        let first = MonotonicTime(nanoseconds: .min)
        #expect(last + .seconds(1) == last)
        #expect(first + .seconds(-1) == first)
        #expect(MonotonicTime.seconds(0) + .seconds(Int64.max) == last)
        #expect(MonotonicTime.seconds(0) + .seconds(Int64.min) == first)
        #expect(last - first == .nanoseconds(Int64.max))
        #expect(first - last == .nanoseconds(Int64.min))
    }

    @Test func durationsInSeconds() {
        #expect(Duration.milliseconds(1500).seconds == 1.5)
        #expect(Duration.milliseconds(-250).seconds == -0.25)
        #expect(Duration.milliseconds(-1500).wholeNanoseconds == -1_500_000_000)
    }
}
