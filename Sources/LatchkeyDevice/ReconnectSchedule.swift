// SPDX-License-Identifier: Apache-2.0

internal import Wire

/// What a device does after a session ended by itself (06 B4): its rows on the network first, then peer-to-peer, then its
/// remote addresses. Pure; asked again at every browser change, path change and due time.
struct ReconnectSchedule: Sendable {
    /// The session that ended.
    struct Loss: Sendable {
        /// The host's ID.
        var hostID: String
        /// The Bonjour name it was last reached under.
        var bonjourName: String?
        /// When.
        var at: MonotonicTime
        /// Whether it was reached by a peer-to-peer link.
        var wasPeerToPeer = false
        /// The goodbye's reason; nil without one.
        var goodbye: String?
        /// Where the goodbye lets a device look.
        var comingBack = SessionGoodbye.ComingBack.everywhere
        /// When the network stopped listing the host; nil when it never did, or lists it now.
        var networkLeftAt: MonotonicTime?
        /// Whether it has remote addresses that may be dialled.
        var hasRemoteAddresses = true
        /// How many sessions just before it ended, like it, soon after they were served.
        var briefBefore = 0

        init(hostID: String, at: MonotonicTime) {
            self.hostID = hostID
            self.at = at
        }
    }

    /// What to do now.
    enum Step: Sendable, Equatable {
        /// Dial this row; a remote dial under way is given up.
        case dialRow(String)
        /// Dial the remote addresses.
        case dialRemote
        /// Ask again then, or at a change.
        case wait(MonotonicTime)
        /// There is nothing to do until something changes.
        case nothing
    }

    /// How long a row is held back that was listed already when the host said that it quits.
    static let quitHold: Duration = .seconds(3)
    /// How long a peer-to-peer row has to be listed as such.
    static let peerToPeerListed: Duration = .seconds(6)
    /// Between the network's last listing and anything else.
    static let networkRest: Duration = .seconds(10)
    /// From the loss to the first remote dial; after a peer-to-peer session.
    static let remoteAfter: Duration = .seconds(3)
    static let remoteAfterPeerToPeer: Duration = .seconds(6)
    /// After failed dials; the last one for all further.
    static let retries: [Duration] = [.seconds(2), .seconds(4), .seconds(8), .seconds(10)]
    /// A session that ends sooner than this is brief. The first one is dialled again at once, as any; a host that serves
    /// and closes again and again is dialled as one that does not serve.
    static let brief: Duration = .seconds(10)
    /// No remote dial from here.
    static let remoteLimit: Duration = .seconds(120)

    private let loss: Loss
    private var book = RowBook()
    private var networkLeftAt: MonotonicTime?
    private var pathChanged = false
    private var isRemoteStopped = false
    private var isDialling = false
    private var failures = 0
    private var retryAt: MonotonicTime?
    private var rowRetries: [String: MonotonicTime] = [:]
    /// The row that is being dialled.
    private var dialledRow: String?

    /// A loss, and the rows that were listed at it with the times since when.
    init(_ loss: Loss, listed: [(row: ListedRow, since: MonotonicTime)] = []) {
        self.loss = loss
        networkLeftAt = loss.networkLeftAt
        for (row, since) in listed {
            book.update(book.entries.map(\.row) + [row], at: since)
        }
    }

    /// What the browser lists now.
    mutating func listed(_ rows: [ListedRow], at now: MonotonicTime) {
        let wasListed = !networkRows.isEmpty
        book.update(rows, at: now)
        if wasListed, networkRows.isEmpty { networkLeftAt = now }
        rowRetries = rowRetries.filter { book[$0.key] != nil }
    }

    /// A row that is known not to be the host, from before.
    mutating func refuse(_ id: String) { book.change(id) { $0.isRefused = true } }

    /// The device's own way to the network changed.
    mutating func pathHasChanged() { pathChanged = true }

    /// `next` said to dial a row, and it is being dialled.
    mutating func rowDialBegan(_ id: String, at now: MonotonicTime) {
        isDialling = false
        dialledRow = id
        book.change(id) {
            $0.tries += 1
            $0.triedAt = now
        }
    }

    /// A row's dial failed. One that showed another key, or refused, is not the host: it is never dialled again while it
    /// is listed, and counts as no listing of the host.
    mutating func rowDialFailed(_ id: String, isLookAlike: Bool, at now: MonotonicTime) {
        if dialledRow == id { dialledRow = nil }
        guard let entry = book[id] else { return }
        if isLookAlike {
            book.change(id) { $0.isRefused = true }
        } else {
            rowRetries[id] = now + Self.retry(entry.tries)
        }
    }

    /// `next` said to dial the remote addresses, and they are being dialled.
    mutating func remoteDialBegan() { isDialling = true }

    /// That dial failed.
    mutating func remoteDialFailed(_ failure: DialFailure, at now: MonotonicTime) {
        isDialling = false
        failures += 1
        if failure.stopsRemoteDials { isRemoteStopped = true }
        retryAt = now + Self.retry(failures)
    }

    /// What to do now.
    func next(at now: MonotonicTime) -> Step {
        guard loss.comingBack != .never else { return .nothing }
        if dialledRow != nil { return .nothing }
        var times: [MonotonicTime] = []
        let network = networkRows.map { ($0, due: rowDue($0, held: heldBack($0))) }
        if let id = Self.first(network, at: now) { return .dialRow(id) }
        times += network.map(\.due)
        // Its own network rows come first, also those that are held back.
        if networkRows.isEmpty {
            let peers = peerRows.map { entry in
                let rested = networkLeftAt.map { $0 + Self.networkRest } ?? entry.since
                return (entry, due: max(rowDue(entry, held: entry.since + Self.peerToPeerListed), rested))
            }
            if let id = Self.first(peers, at: now) { return .dialRow(id) }
            times += peers.map(\.due)
        }
        if networkRows.isEmpty, peerRows.isEmpty, let due = remoteDue {
            if now >= due, now < loss.at + Self.remoteLimit { return .dialRemote }
            if now < due { times.append(due) }
        }
        return times.min().map { .wait($0) } ?? .nothing
    }

    /// Of the rows that are due the one with the fewest tries, then as displayed: two that say the host's tag and do not
    /// answer must not take every turn.
    private static func first(_ rows: [(RowBook.Entry, due: MonotonicTime)], at now: MonotonicTime) -> String?
    {
        rows.filter { now >= $0.due }.enumerated().min {
            ($0.element.0.tries, $0.offset) < ($1.element.0.tries, $1.offset)
        }?.element.0.row.id
    }

    private var ownRows: [RowBook.Entry] {
        book.entries.filter {
            !$0.isRefused && $0.row.isOf(hostID: loss.hostID, bonjourName: loss.bonjourName)
        }
    }
    private var networkRows: [RowBook.Entry] { ownRows.filter { !$0.row.isPeerToPeer } }
    private var peerRows: [RowBook.Entry] { ownRows.filter(\.row.isPeerToPeer) }

    private func heldBack(_ entry: RowBook.Entry) -> MonotonicTime {
        loss.goodbye == "quit" && entry.since < loss.at ? loss.at + Self.quitHold : entry.since
    }

    private func rowDue(_ entry: RowBook.Entry, held: MonotonicTime) -> MonotonicTime {
        [rowRetries[entry.row.id], rest].compactMap { $0 }.reduce(held) { max($0, $1) }
    }

    /// Nothing is dialled before, after brief sessions in a row.
    private var rest: MonotonicTime? {
        loss.briefBefore > 0 ? loss.at + Self.retry(loss.briefBefore) : nil
    }

    /// Nil when no remote dial will ever be due.
    private var remoteDue: MonotonicTime? {
        guard loss.comingBack == .everywhere, loss.hasRemoteAddresses, !isRemoteStopped, !isDialling else {
            return nil
        }
        var due = loss.at + (loss.wasPeerToPeer ? Self.remoteAfterPeerToPeer : Self.remoteAfter)
        if !pathChanged, let networkLeftAt { due = max(due, networkLeftAt + Self.networkRest) }
        if let retryAt { due = max(due, retryAt) }
        if let rest { due = max(due, rest) }
        return due < loss.at + Self.remoteLimit ? due : nil
    }

    private static func retry(_ failures: Int) -> Duration {
        retries[min(max(failures, 1), retries.count) - 1]
    }
}

/// When a saved host that no browser lists shows a row of its own (06 B4).
enum RemoteRowRule {
    /// After searching began.
    static let patience: Duration = .seconds(3)

    /// Whether it shows now.
    static func shows(
        isListed: Bool, searchingSince: MonotonicTime, isLocalNetworkDenied: Bool, at now: MonotonicTime
    ) -> Bool {
        !isListed && (isLocalNetworkDenied || now - searchingSince >= patience)
    }
}
