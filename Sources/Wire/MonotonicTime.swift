// SPDX-License-Identifier: Apache-2.0

/// A moment on a clock that never jumps, for every deadline and rule. Only differences mean anything.
package struct MonotonicTime: Hashable, Comparable, Sendable {
    /// Nanoseconds since an origin that all moments of one process share.
    package var nanoseconds: Int64

    /// The moment that many nanoseconds after the origin.
    package init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// The moment that many seconds after the origin, to the nanosecond; tests write times this way.
    package static func seconds(_ seconds: Double) -> MonotonicTime {
        MonotonicTime(nanoseconds: (seconds * 1e9).nearestInteger)
    }

    /// The moment this much later. Ends at the clock's last moment instead of overflowing.
    package static func + (time: MonotonicTime, duration: Duration) -> MonotonicTime {
        let (sum, overflow) = time.nanoseconds.addingReportingOverflow(duration.wholeNanoseconds)
        guard overflow else { return MonotonicTime(nanoseconds: sum) }
        return MonotonicTime(nanoseconds: duration < .zero ? .min : .max)
    }

    /// How much later the left moment is; negative when it is earlier.
    package static func - (left: MonotonicTime, right: MonotonicTime) -> Duration {
        let (difference, overflow) = left.nanoseconds.subtractingReportingOverflow(right.nanoseconds)
        return .nanoseconds(overflow ? (left < right ? .min : .max) : difference)
    }

    package static func < (left: MonotonicTime, right: MonotonicTime) -> Bool {
        left.nanoseconds < right.nanoseconds
    }
}

extension Duration {
    /// The span in seconds, with fractions.
    package var seconds: Double {
        Double(components.seconds) + Double(components.attoseconds) * 1e-18
    }

    /// The span in nanoseconds, rounded towards zero, at the ends of Int64 when it is longer.
    package var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, carry) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
        if overflow || carry { return seconds < 0 ? .min : .max }
        return sum
    }
}
