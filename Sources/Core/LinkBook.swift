// SPDX-License-Identifier: Apache-2.0

internal import LatchkeyStream
internal import Policy
internal import Wire

/// What is known of every session's link, apart from the table of sessions: it is looked at every second.
struct LinkBook: Sendable {
    /// What the stream runs with, as far as anybody said (06 C1).
    enum Running: Sendable, Equatable {
        /// Nobody did: the wanted pair at 60 frames a second.
        case wanted
        /// A streaming process did; nil: it has stopped.
        case posted(StreamTarget?)
    }

    /// Frames of one second that the streaming process of a relayed session counted: they replace the door's estimate.
    struct Frames: Sendable, Equatable {
        var sent: Int
        var withheld: Int
    }

    /// One session's.
    struct Entry: Sendable {
        var link = SessionLink()
        var picks = QualityChangeLimit()
        /// For the door's next seconds, oldest first.
        var frames: [Frames] = []
    }

    /// So many posted seconds of a relayed session may wait for the door's, or as many as the last call brought: a call that
    /// comes each second now falls before the door's tick and now behind it. With more, a clock that is a little faster
    /// than the door's would make the verdict come later and later.
    static let framesBetweenTicks = 2

    var running = Running.wanted
    /// What every judge judges under; another one, and all begin afresh.
    var judged: StreamTarget?
    private(set) var entries: [SessionID: Entry] = [:]

    subscript(id: SessionID) -> Entry? { entries[id] }

    var sessions: Dictionary<SessionID, Entry>.Keys { entries.keys }

    mutating func add(_ id: SessionID) { entries[id] = Entry() }

    mutating func remove(_ id: SessionID) { entries[id] = nil }

    /// Changes an entry where it stands; nil when the session has ended.
    mutating func change<R>(_ id: SessionID, _ body: (inout Entry) -> R) -> R? {
        guard let index = entries.index(forKey: id) else { return nil }
        return body(&entries.values[index])
    }
}

/// How many seconds one call may bring (06 C1).
package enum LinkSeconds {
    /// Oldest first.
    package static let limit = 10
}
