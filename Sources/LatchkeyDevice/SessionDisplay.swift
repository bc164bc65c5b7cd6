// SPDX-License-Identifier: Apache-2.0

internal import Wire

/// What a device with a screen shows of the two qualities and of its link (06 B6). Pure.
enum SessionDisplay {
    /// A quality as kind 16 has it.
    struct Pair: Sendable, Equatable {
        var bitrate: Int
        var captureScale: Double
    }

    /// Kind 16's `away`.
    struct Away: Sendable, Equatable {
        var home: Pair
        var away: Pair
        var thisConnectionAway: Bool
        var awayRunning: Bool
    }

    /// Kind 16's `link`, as far as it is shown. States are compared exactly.
    struct Link: Sendable, Equatable {
        var state: String
        var suggestedBitrate: Int?
        var suggestedCaptureScale: Double?
    }

    /// The line that says which quality runs while away.
    enum AwayLine: Sendable, Equatable {
        /// The away pair.
        case away(Pair)
        /// The home pair, since a device at home is connected.
        case homeSinceSomebodyIsThere(Pair)
    }

    /// Nil shows nothing.
    static func awayLine(_ away: Away?) -> AwayLine? {
        guard let away, away.thisConnectionAway else { return nil }
        return away.awayRunning ? .away(away.away) : .homeSinceSomebodyIsThere(away.home)
    }

    /// What is offered while the link is behind.
    enum Callout: Sendable, Equatable {
        /// Away, and the quality of home runs: nothing to press.
        case homeQualityRuns
        /// A button that sends an ordinary change.
        case suggest(bitrate: Int, captureScale: Double?)
        /// Too slow even at Low: nothing to press.
        case tooSlow
    }

    /// Nil shows nothing: "stalled" and words unknown do not.
    static func callout(_ link: Link?, away: Away?) -> Callout? {
        guard let link, link.state == "behind" else { return nil }
        if let away, away.thisConnectionAway, !away.awayRunning { return .homeQualityRuns }
        guard let bitrate = link.suggestedBitrate else { return .tooSlow }
        return .suggest(bitrate: bitrate, captureScale: link.suggestedCaptureScale)
    }
}

/// Whether a remote link to an old host, which says nothing of its own, looks slow (06 B6): by round trips.
struct SlowLinkHint: Sendable {
    /// Seconds looked at.
    static let seconds = 5
    /// More than this is slow.
    static let limit = 0.25

    private var second: Int64?
    private var current: [Double] = []
    private var medians: [Double] = []

    init() {}

    /// A ping's answer took so many seconds.
    mutating func measured(roundTrip seconds: Double, at now: MonotonicTime) {
        endSecond(before: now)
        // Four pings a second; a host may answer more often than asked.
        if current.count < 64 { current.append(seconds) }
    }

    /// Whether to show it; never where the host says `away`, and never at home.
    mutating func shows(isRemote: Bool, hostSaysAway: Bool, at now: MonotonicTime) -> Bool {
        endSecond(before: now)
        guard isRemote, !hostSaysAway, medians.count == Self.seconds else { return false }
        return Self.median(medians) > Self.limit
    }

    private mutating func endSecond(before now: MonotonicTime) {
        let index = now.nanoseconds / 1_000_000_000
        if second != index, !current.isEmpty {
            medians.append(Self.median(current))
            if medians.count > Self.seconds { medians.removeFirst() }
            current = []
        }
        second = index
    }

    private static func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        let middle = sorted.count / 2
        return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }
}

/// The line over the stream that says that the link is behind (06 B6): it lingers a moment, and ends when it is covered.
struct StreamLine: Sendable {
    /// After the report cleared.
    static let linger: Duration = .seconds(2)

    private var hasReport = false
    private var isCovered = false
    private var lingersUntil: MonotonicTime?
    private var wasAnnounced = false

    init() {}

    /// A report came or cleared. Whether to announce it: once for each spell, when it can be seen.
    mutating func report(_ isThere: Bool, at now: MonotonicTime) -> Bool {
        guard isThere != hasReport else { return false }
        hasReport = isThere
        lingersUntil = !isThere && !isCovered ? now + Self.linger : nil
        if !isThere { wasAnnounced = false }
        return announces()
    }

    /// Something covers the stream, or nothing any more.
    mutating func cover(_ isCovered: Bool) -> Bool {
        self.isCovered = isCovered
        if isCovered { lingersUntil = nil }
        return announces()
    }

    /// Whether it shows.
    func shows(at now: MonotonicTime) -> Bool {
        if isCovered { return false }
        return hasReport || lingersUntil.map { now < $0 } ?? false
    }

    private mutating func announces() -> Bool {
        guard hasReport, !isCovered, !wasAnnounced else { return false }
        wasAnnounced = true
        return true
    }
}
