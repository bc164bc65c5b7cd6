// SPDX-License-Identifier: Apache-2.0

/// How long to wait before the next try, longer each time it fails.
package struct ReconnectPauses: Sendable, Equatable {
    /// For a lost bus, and for a service that does not answer.
    package static let usual = ReconnectPauses([
        .seconds(1), .seconds(2), .seconds(5), .seconds(10), .seconds(30),
    ])

    private let steps: [Duration]
    private var failures = 0

    /// The last of the steps is used over and over; without any it is zero.
    package init(_ steps: [Duration]) { self.steps = steps }

    /// The pause after one more failure.
    package mutating func next() -> Duration {
        let pause = steps.isEmpty ? .zero : steps[min(failures, steps.count - 1)]
        failures += 1
        return pause
    }

    /// It worked: the next failure is the first again.
    package mutating func reset() { failures = 0 }
}
