// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import Wire

/// Counts of the API's answers, kept while the service runs. Told on the API's thread, read by whoever asks.
package final class Metrics: Sendable {
    /// Upper bounds of the latency buckets, in seconds; the last bucket has none.
    static let latencyBounds = [0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.01, 0.05, 0.25, 1]

    /// One route's latencies.
    struct Histogram: Sendable {
        /// How many took at most as long as the bound at the same place; the last place counts all that took longer.
        var buckets = [UInt64](repeating: 0, count: Metrics.latencyBounds.count + 1)
        /// All together, in seconds.
        var sum = 0.0
    }

    /// What has been counted.
    struct Counts: Sendable {
        /// By the route's place in the table; shorter than the table while the rest was not called.
        var routes: [Histogram] = []
        /// By HTTP status.
        var statuses: [Int: UInt64] = [:]
    }

    private let state = Mutex(Counts())

    /// Nothing counted yet.
    package init() {}

    /// Takes one answer: `APIServer.Observe`.
    package func answered(route: Int?, status: Int, took: Duration) {
        let seconds = took.seconds
        let bucket = Self.latencyBounds.firstIndex { seconds <= $0 } ?? Self.latencyBounds.count
        state.withLock { counts in
            counts.statuses[status, default: 0] += 1
            guard let route else { return }
            while counts.routes.count <= route { counts.routes.append(Histogram()) }
            counts.routes[route].buckets[bucket] += 1
            counts.routes[route].sum += seconds
        }
    }

    /// All counts of this moment.
    var counts: Counts { state.withLock { $0 } }
}

/// Builds a page in Prometheus' text format, version 0.0.4.
package struct MetricsText: Sendable {
    /// Labels in their order.
    package typealias Labels = [(name: String, value: String)]

    private(set) var text = ""

    /// A number that only grows. Its name ends in `_total`.
    package mutating func counter(
        _ name: String, _ help: String, _ samples: [(labels: Labels, value: UInt64)]
    ) {
        head(name, help, "counter")
        for sample in samples { line(name, sample.labels, "\(sample.value)") }
    }

    /// A number of this moment.
    package mutating func gauge(_ name: String, _ help: String, _ samples: [(labels: Labels, value: Int)]) {
        head(name, help, "gauge")
        for sample in samples { line(name, sample.labels, "\(sample.value)") }
    }

    /// Histograms: for each the counts by bucket (not yet summed up, one more than `bounds`) and the sum of all values.
    package mutating func histogram(
        _ name: String, _ help: String, bounds: [Double],
        _ samples: [(labels: Labels, buckets: [UInt64], sum: Double)]
    ) {
        head(name, help, "histogram")
        for sample in samples {
            var total: UInt64 = 0
            for (count, bound) in zip(sample.buckets, bounds.map { "\($0)" } + ["+Inf"]) {
                total += count
                line(name + "_bucket", sample.labels + [("le", bound)], "\(total)")
            }
            line(name + "_sum", sample.labels, "\(sample.sum)")
            line(name + "_count", sample.labels, "\(total)")
        }
    }

    private mutating func head(_ name: String, _ help: String, _ type: String) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
    }

    private mutating func line(_ name: String, _ labels: Labels, _ value: String) {
        text += name
        if !labels.isEmpty {
            text +=
                "{" + labels.map { "\($0.name)=\"\(Self.escaped($0.value))\"" }.joined(separator: ",") + "}"
        }
        text += " \(value)\n"
    }

    private static func escaped(_ value: String) -> String {
        var out = ""
        for character in value {
            switch character {
            case "\\": out += "\\\\"
            case "\"": out += "\\\""
            case "\n": out += "\\n"
            default: out.append(character)
            }
        }
        return out
    }
}
