// SPDX-License-Identifier: Apache-2.0

internal import Policy
internal import Wire

/// A device's connection to a door, by its address and port: what tells two connections of a streaming process apart.
struct PeerKey: Hashable, Sendable {
    let door: Door
    /// As a relayed connection would have it: a link-local one carries its interface's index.
    let remote: SocketAddress
}

/// What the core keeps about connections that a streaming process holds itself (03 §6). Every table is bounded, whatever
/// the process asks and never finishes.
struct DelegatedBook: Sendable {
    /// Asked about before TLS and not since.
    struct Pending: Sendable {
        let id: ConnectionID
        /// When it is forgotten; counts nothing.
        let ends: MonotonicTime
    }

    /// Judged a session or a pairing connection, and not registered or heard since.
    struct Judged: Sendable {
        /// Its stage says what it was judged.
        var connection: Connection
        /// From here on it is judged anew.
        let ends: MonotonicTime
    }

    /// How long a verdict at ready is remembered: the gate, and a device that takes its time with kind 19.
    static let judgedFor: Duration = .seconds(10)
    /// Verdicts remembered; of more the oldest is forgotten, and its connection judged anew.
    static let judgedLimit = 1_024
    /// How long a process may take to end a session that it was told to end.
    static let closingFor: Duration = .seconds(10)
    /// Sessions a process may have registered at once.
    static let sessionLimit = 4_096

    /// Bounded by the doors' limits: each is in `pending` of its door's book and in the core's `connections`.
    var pending = LinkedTable<PeerKey, Pending>()
    /// Oldest first.
    private(set) var judged = LinkedTable<PeerKey, Judged>()
    /// Sessions that were told to go, and when they are dropped; oldest first.
    var closing = LinkedTable<SessionID, MonotonicTime>()
    private var lastSerial: UInt64 = 0

    /// A name for one more connection.
    mutating func nextID() -> ConnectionID {
        lastSerial += 1
        return ConnectionID(owner: ConnectionID.delegated, serial: lastSerial)
    }

    mutating func remember(_ key: PeerKey, _ connection: Connection, at now: MonotonicTime) {
        judged[key] = Judged(connection: connection, ends: now + Self.judgedFor)
        judged.touch(key)
        if judged.count > Self.judgedLimit, let oldest = judged.first { judged.remove(oldest.key) }
    }

    /// The host has another key: what began with the old one is no session any more, and no pairing.
    mutating func identityRotated() {
        for key in judged.keys {
            guard var old = judged[key], case .admitted = old.connection.stage else {
                judged.remove(key)
                continue
            }
            old.connection.isOfOldIdentity = true
            judged[key] = old
        }
    }

    /// What a connection was judged, once.
    mutating func takeJudged(_ key: PeerKey, at now: MonotonicTime) -> Connection? {
        // Asked in the API's hot call, most often in vain.
        if judged.isEmpty { return nil }
        guard let found = judged.remove(key), now < found.ends else { return nil }
        return found.connection
    }
}
