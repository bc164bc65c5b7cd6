// SPDX-License-Identifier: Apache-2.0

internal import Wire

/// When a remote session moves to the host's home door, and to which row (06 B7): make the new connection before the
/// old one is broken. Pure.
struct HomeComing: Sendable {
    /// How a move ended.
    enum MoveEnd: Sendable, Equatable {
        /// The session is at the home door.
        case completed
        /// No answer, no path, the time was up: another time.
        case failed
        /// It is not this session's host: the row is not dialled again while it is listed.
        case refused
    }

    /// What to do now.
    enum Step: Sendable, Equatable {
        /// Move to this row; its wired interface, if it has one, is tried first.
        case move(String)
        /// Ask again then, or at a change of what is listed.
        case wait(MonotonicTime)
        /// Nothing until something changes.
        case nothing
    }

    /// How long the host has to be listed without a break.
    static let listed: Duration = .seconds(2)
    /// A row's wired interface alone.
    static let wiredLimit: Duration = .milliseconds(2500)
    /// The dial as the row is listed.
    static let dialLimit: Duration = .seconds(5)
    /// The hand-over from the old connection to the new one.
    static let fenceLimit: Duration = .seconds(3)

    /// The whole dial of a row.
    static func limit(isWired: Bool) -> Duration { isWired ? dialLimit + wiredLimit : dialLimit }

    /// How a row is dialled: its wired interface alone, then as it is listed; without a move as any place (06 B3).
    static func pace(isWired: Bool, isMove: Bool) -> DialRace.Pace {
        var pace = DialRace.Pace.dial
        if isWired { pace.whole = wiredLimit } else if isMove { pace.whole = dialLimit }
        return pace
    }

    /// After so many moves in a row that did not complete: from the start of the last one.
    static func rest(afterFailures count: Int) -> Duration {
        count <= 0 ? .zero : min(.seconds(5 << min(count, 4)), .seconds(60))
    }

    private let hostID: String
    private let mayMove: Bool
    private var book = RowBook()
    /// Since when some row names the host.
    private var since: MonotonicTime?
    private var isMoving = false
    /// The listing that the move under way belongs to.
    private var movingSince: MonotonicTime?
    private var failures = 0
    private var lastStart: MonotonicTime?

    /// A remote session with a host. It stays where it is when its user asked for just that, when the host turned this
    /// device away, or was set up again with another key.
    init(host: SavedHost, isConnectRemotely: Bool) {
        hostID = host.id
        mayMove = !isConnectRemotely && !host.revoked && !host.newKey && host.pin != nil
    }

    /// What the browser lists now, in display order.
    mutating func listed(_ rows: [ListedRow], at now: MonotonicTime) {
        // By the tag, never by the name; and a peer-to-peer link is not home.
        book.update(rows.filter { $0.hostID == hostID && !$0.isPeerToPeer }, at: now)
        if book.entries.isEmpty {
            since = nil
            failures = 0
            lastStart = nil
        } else if since == nil {
            since = now
        }
    }

    /// The move that `next` named begins.
    mutating func began(_ id: String, at now: MonotonicTime) {
        isMoving = true
        movingSince = since
        lastStart = now
        book.change(id) { $0.tries += 1 }
    }

    /// It ended.
    mutating func ended(_ id: String, _ end: MoveEnd) {
        isMoving = false
        if end == .refused { book.change(id) { $0.isRefused = true } }
        // Of another listing it says nothing.
        guard since == movingSince else { return }
        failures = end == .completed ? 0 : failures + 1
    }

    /// A row that is known not to be the host, from before.
    mutating func refuse(_ id: String) { book.change(id) { $0.isRefused = true } }

    /// What to do now.
    func next(at now: MonotonicTime) -> Step {
        guard mayMove, !isMoving, let since, let row = row else { return .nothing }
        var due = since + Self.listed
        if let lastStart { due = max(due, lastStart + Self.rest(afterFailures: failures)) }
        return now >= due ? .move(row) : .wait(due)
    }

    /// Fewest tries first, then as displayed; at a door that speaks TLS.
    private var row: String? {
        let usable = book.entries.filter { $0.row.isTLS && !$0.isRefused }
        return usable.enumerated().min { ($0.element.tries, $0.offset) < ($1.element.tries, $1.offset) }?
            .element.row.id
    }
}

/// Whether a connection at the home door is the same session's host (06 B7).
struct HomeMove: Sendable {
    /// The launch of the session.
    let launchID: String
    /// The saved key.
    let pin: Fingerprint
    /// `issuedAt` of the newest host info that the remote session had when the move began.
    let newestInfo: Double

    /// What the new connection is.
    enum Verdict: Sendable, Equatable {
        /// More has to come: the window list, or the host info.
        case wait
        /// The session goes there.
        case accept
        /// It is another host, or another launch of it.
        case refuse
    }

    /// What has come of the new connection so far.
    struct Seen: Sendable {
        /// The key that its TLS showed.
        var key: Fingerprint?
        /// The window list, with the launch it names.
        var windowList: WindowList?
        /// The first kind 18.
        var info: Info?
        /// A goodbye came.
        var hasGoodbye = false

        struct WindowList: Sendable, Equatable { var launchID: String? }
        enum Info: Sendable {
            case bad
            case verified(VerifiedHostInfo)
        }
    }

    /// Judges what is known; a refusal is final.
    func judge(_ seen: Seen) -> Verdict {
        if seen.hasGoodbye { return .refuse }
        if let key = seen.key, key != pin { return .refuse }
        if let list = seen.windowList, list.launchID != launchID { return .refuse }
        switch seen.info {
        case .bad: return .refuse
        case .verified(let verified):
            guard verified.signer == pin, verified.info.issuedAt >= newestInfo else { return .refuse }
            return seen.windowList == nil || seen.key == nil ? .wait : .accept
        case nil: return .wait
        }
    }
}
