// SPDX-License-Identifier: Apache-2.0

internal import Wire

/// One dial: which address is tried when, until one is ready or the time is up (06 B3). Pure; whoever runs it opens and
/// closes what it says.
struct DialRace: Sendable {
    /// What to do now.
    enum Step: Sendable, Equatable {
        /// Begin the attempt at the address of this index.
        case start(Int)
        /// Give the attempt up.
        case cancel(Int)
    }

    /// How it stands.
    enum Outcome: Sendable, Equatable {
        case running
        /// The attempt at this index was ready first.
        case won(Int)
        /// No attempt was.
        case failed
    }

    /// Between the starts of two attempts.
    static let stagger: Duration = .seconds(1)
    /// One connect.
    static let connectLimit: Duration = .seconds(10)
    /// The whole dial.
    static let limit: Duration = .seconds(20)
    /// The winner's first window list.
    static let servedLimit: Duration = .seconds(10)
    /// A pairing's answer, after the proof.
    static let answerLimit: Duration = .seconds(15)

    /// How fast attempts follow each other, and how long they may take.
    struct Pace: Sendable, Equatable {
        /// Between the starts of two attempts.
        var stagger = DialRace.stagger
        /// One attempt.
        var attempt = DialRace.connectLimit
        /// All of them.
        var whole = DialRace.limit

        /// The places of a host (06 B3).
        static let dial = Pace()
    }

    private struct Attempt: Sendable {
        var index: Int
        var until: MonotonicTime
    }

    private let count: Int
    /// Pairing: strictly one address at a time, since a window can be used once.
    private let isSequential: Bool
    private let pace: Pace
    private let end: MonotonicTime
    private var next = 0
    private var nextStart: MonotonicTime
    private var attempts: [Attempt] = []
    /// How it stands.
    private(set) var outcome = Outcome.running

    /// A dial of so many addresses that begins now. `advance` makes its first step.
    init(count: Int, isSequential: Bool = false, pace: Pace = .dial, at now: MonotonicTime) {
        self.count = count
        self.isSequential = isSequential
        self.pace = pace
        end = now + pace.whole
        nextStart = now
    }

    /// The attempts that have begun and not ended.
    var underWay: [Int] { attempts.map(\.index) }

    /// When to call `advance` next; nil when the dial is over.
    var deadline: MonotonicTime? {
        guard outcome == .running else { return nil }
        let starts = next < count && !(isSequential && !attempts.isEmpty) ? [nextStart] : []
        return (starts + attempts.map(\.until) + [end]).min()
    }

    /// Time passed, or the dial begins.
    mutating func advance(at now: MonotonicTime) -> [Step] {
        guard outcome == .running else { return [] }
        if now >= end { return finish(.failed) }
        var steps: [Step] = []
        for attempt in attempts where now >= attempt.until {
            steps.append(.cancel(attempt.index))
            drop(attempt.index, at: now)
        }
        return steps + begin(at: now)
    }

    /// An attempt ended by itself, without having been ready.
    mutating func ended(_ index: Int, at now: MonotonicTime) -> [Step] {
        guard outcome == .running, attempts.contains(where: { $0.index == index }) else { return [] }
        drop(index, at: now)
        return begin(at: now)
    }

    /// An attempt is ready with the pinned key: the others are given up.
    mutating func ready(_ index: Int) -> [Step] {
        guard outcome == .running, attempts.contains(where: { $0.index == index }) else { return [] }
        attempts.removeAll { $0.index == index }
        return finish(.won(index))
    }

    private mutating func drop(_ index: Int, at now: MonotonicTime) {
        // The newest one: its successor need not wait any longer.
        if attempts.last?.index == index, now < nextStart { nextStart = now }
        attempts.removeAll { $0.index == index }
    }

    private mutating func begin(at now: MonotonicTime) -> [Step] {
        var steps: [Step] = []
        while next < count, now >= nextStart, !(isSequential && !attempts.isEmpty) {
            attempts.append(Attempt(index: next, until: now + pace.attempt))
            steps.append(.start(next))
            next += 1
            nextStart = now + pace.stagger
        }
        return next == count && attempts.isEmpty ? steps + finish(.failed) : steps
    }

    private mutating func finish(_ outcome: Outcome) -> [Step] {
        self.outcome = outcome
        defer { attempts = [] }
        return attempts.map { .cancel($0.index) }
    }
}
