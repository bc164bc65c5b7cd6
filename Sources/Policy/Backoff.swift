// SPDX-License-Identifier: Apache-2.0

package import Wire

/// Which sources are closed at once, for one door (03 §7.3).
///
/// A failure at `t` is kept while `now − t < 60 s`; the 5th kept one starts a backoff until `t + 300 s` and clears
/// the list. While it runs nothing of the source is a further failure.
package struct Backoff: Sendable {
    private struct Record: Sendable {
        /// Kept failures, oldest first; never as many as start a backoff.
        var failures: [MonotonicTime] = []
        var until: MonotonicTime?
    }

    private let limits: DoorLimits
    private var records = LinkedTable<IPAddress, Record>()

    package init(_ limits: DoorLimits = .shipped) {
        self.limits = limits
    }

    /// Sources remembered now.
    package var count: Int { records.count }

    /// Whether the source is closed at once.
    package func isBlocked(_ source: IPAddress, at now: MonotonicTime) -> Bool {
        // Nearly always nobody is remembered, and then nothing has to be hashed.
        if records.count == 0 { return false }
        return records[source]?.until.map { now < $0 } ?? false
    }

    /// Whether a failure of the source is kept.
    package func hasFailed(_ source: IPAddress, at now: MonotonicTime) -> Bool {
        if records.count == 0 { return false }
        return records[source]?.failures.contains { now - $0 < limits.failureWindow } ?? false
    }

    /// Counts one failure; true when it started a backoff.
    @discardableResult package mutating func failed(_ source: IPAddress, at now: MonotonicTime) -> Bool {
        dropFinished(at: now)
        var record = records[source] ?? Record()
        if let until = record.until {
            if now < until { return false }
            record.until = nil
        }
        record.failures.removeAll { now - $0 >= limits.failureWindow }
        record.failures.append(now)
        let starts = record.failures.count >= limits.failures
        if starts {
            record.failures = []
            record.until = now + limits.backoff
        }
        records[source] = record
        records.touch(source)
        if records.count > limits.sources, let oldest = records.first { records.remove(oldest.key) }
        return starts
    }

    /// Closes a source at once until then, as it was before a restart.
    package mutating func block(_ source: IPAddress, until end: MonotonicTime) {
        records[source] = Record(until: end)
        records.touch(source)
        if records.count > limits.sources, let oldest = records.first { records.remove(oldest.key) }
    }

    /// The sources that are closed at once, and until when.
    package func blocked(at now: MonotonicTime) -> [(source: IPAddress, until: MonotonicTime)] {
        records.keys.compactMap { source in
            guard let until = records[source]?.until, now < until else { return nil }
            return (source, until)
        }
    }

    /// A paired key reached ready: the source's failures and backoff are forgotten.
    package mutating func clear(_ source: IPAddress) {
        if records.count > 0 { records.remove(source) }
    }

    /// Forgets every source, or one of them (09.32b).
    package mutating func clearAll() { records.removeAll() }

    /// A few at a time, so that no call pays for a flood that is over.
    private mutating func dropFinished(at now: MonotonicTime) {
        for _ in 0..<2 {
            guard let oldest = records.first, isFinished(oldest.value, at: now) else { return }
            records.remove(oldest.key)
        }
    }

    private func isFinished(_ record: Record, at now: MonotonicTime) -> Bool {
        if let until = record.until { return now >= until }
        return record.failures.allSatisfy { now - $0 >= limits.failureWindow }
    }
}
