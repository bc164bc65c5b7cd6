// SPDX-License-Identifier: Apache-2.0

internal import Wire

/// How the store has fared: for `healthz` and metrics.
package struct StoreHealth: Sendable {
    /// Whether the last commit that was tried reached the disk.
    package internal(set) var isWritable = true
    /// Why it did not, for people; nil while writable.
    package internal(set) var lastError: String?
    /// Commits on disk since the start.
    package internal(set) var commits = 0
    /// Commits of which nothing was applied.
    package internal(set) var failures = 0
    /// Transactions since the start; several commits may share one.
    package internal(set) var transactions = 0
    /// How many transactions took at most as long as the bound at the same place of `latencyBounds`; the last place
    /// counts all that took longer.
    package internal(set) var latencies = [Int](repeating: 0, count: Self.latencyBounds.count + 1)
    /// All transactions together, in seconds.
    package internal(set) var totalSeconds = 0.0
    /// A try to write again is on its way.
    var isProbing = false

    /// In seconds; from a fast disk's sync to one in trouble.
    package static let latencyBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1]

    mutating func note(_ results: [Result<Void, StoreError>], took: Duration) {
        let failed = results.compactMap(\.error)
        failures += failed.count
        commits += results.count - failed.count
        transactions += 1
        totalSeconds += took.seconds
        let place = Self.latencyBounds.firstIndex { took.seconds <= $0 } ?? Self.latencyBounds.count
        latencies[place] += 1
        // A row the schema refused says nothing about the disk.
        if let error = failed.last(where: { !$0.isOneCommitsOwn }) {
            isWritable = false
            lastError = error.message
        } else if failed.count < results.count {
            isWritable = true
            lastError = nil
        }
    }
}
