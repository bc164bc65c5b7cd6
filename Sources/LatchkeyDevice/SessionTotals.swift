// SPDX-License-Identifier: Apache-2.0

/// What several connections of one session have seen, as one.
struct SessionTotals: Sendable {
    /// As they came.
    private(set) var summary = SessionSummary(
        hostInfo: .none, kinds: [:], bytes: 0, roundTripMedian: nil, roundTrip99: nil, goodbye: nil,
        tlsVersion: "")

    /// A connection's, after those before it: counts add up, a bad info stays one, and the rest is the last one's.
    mutating func add(_ next: SessionSummary) {
        let infos = [summary.hostInfo, next.hostInfo]
        summary = SessionSummary(
            hostInfo: infos.contains(.bad) ? .bad : infos.contains(.verified) ? .verified : .none,
            kinds: summary.kinds.merging(next.kinds) { $0 + $1 }, bytes: summary.bytes + next.bytes,
            roundTripMedian: next.roundTripMedian ?? summary.roundTripMedian,
            roundTrip99: next.roundTrip99 ?? summary.roundTrip99, goodbye: next.goodbye,
            tlsVersion: next.tlsVersion)
    }
}
