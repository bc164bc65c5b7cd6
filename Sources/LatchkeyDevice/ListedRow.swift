// SPDX-License-Identifier: Apache-2.0

internal import Wire

/// One record of a host that the network browser lists (02 section 7.3).
package struct ListedRow: Sendable, Equatable {
    /// Tells rows apart: name, type and domain, and whatever else makes two records of one name two (``BrowseBook``).
    package var id: String
    /// The record's name, which anybody can take.
    package var name: String
    /// The saved host that its tag names; nil for none.
    package var hostID: String?
    /// Whether it carries a tag at all.
    package var hasTag: Bool
    /// A peer-to-peer link, and no network.
    package var isPeerToPeer: Bool
    /// Its `p` says that the door speaks TLS.
    package var isTLS: Bool
    /// The wired interface it is listed on, if any.
    package var wiredInterface: String?

    /// A row; `hasTag` is inferred from `hostID` when it is not said.
    package init(
        id: String, name: String, hostID: String?, hasTag: Bool? = nil, isPeerToPeer: Bool = false,
        isTLS: Bool = true, wiredInterface: String? = nil
    ) {
        self.id = id
        self.name = name
        self.hostID = hostID
        self.hasTag = hasTag ?? (hostID != nil)
        self.isPeerToPeer = isPeerToPeer
        self.isTLS = isTLS
        self.wiredInterface = wiredInterface
    }

    /// Whether it is this host's: by its tag; only a row without any by the name the host was last reached under. A row
    /// whose tag names no saved host is nobody's.
    package func isOf(hostID: String, bonjourName: String?) -> Bool {
        hasTag ? self.hostID == hostID : bonjourName != nil && name == bonjourName
    }
}

/// The rows of one host while they are listed, and what was learnt about each. A row that is no longer listed is
/// forgotten, refusal and tries with it.
struct RowBook: Sendable {
    /// What is known of one row.
    struct Entry: Sendable {
        var row: ListedRow
        /// Since when it is listed without a break, as what it is now.
        var since: MonotonicTime
        /// Another key answered, another launch, a bad info, a goodbye: it is not dialled again.
        var isRefused = false
        var tries = 0
        /// When it was last dialled.
        var triedAt: MonotonicTime?
    }

    /// In display order.
    private(set) var entries: [Entry] = []

    /// As many rows as are looked at; a network cannot make a device keep more.
    static let limit = 64

    init() {}

    /// What is listed now, in display order.
    mutating func update(_ rows: [ListedRow], at now: MonotonicTime) {
        let old = entries
        entries = rows.prefix(Self.limit).map { row in
            guard var entry = old.first(where: { $0.row.id == row.id }) else {
                return Entry(row: row, since: now)
            }
            if entry.row.isPeerToPeer != row.isPeerToPeer { entry.since = now }
            entry.row = row
            return entry
        }
    }

    /// Changes what is known of a row that is still listed.
    mutating func change(_ id: String, _ body: (inout Entry) -> Void) {
        guard let index = entries.firstIndex(where: { $0.row.id == id }) else { return }
        body(&entries[index])
    }

    /// A row by its ID.
    subscript(id: String) -> Entry? { entries.first { $0.row.id == id } }
}
