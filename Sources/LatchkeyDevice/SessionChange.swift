// SPDX-License-Identifier: Apache-2.0

/// What became of a session that is kept.
public struct SessionChange: Sendable, Equatable {
    /// The kinds of changes.
    public enum Kind: String, Sendable {
        /// The host serves it: at its beginning, and after each loss.
        case connected
        /// It ended by itself; what follows is looked for.
        case lost
        /// The host is dialled again.
        case dialling
        /// That dial failed; another may follow.
        case failed
        /// A connection at home is being made, beside the one that serves.
        case moving
        /// It is at the home door, and the remote connection is closed.
        case moved
        /// It stays where it is: the move came to nothing.
        case stayed
        /// Nothing brings it back by itself.
        case over
    }

    /// What happened.
    public let kind: Kind
    /// How the session is named to people now; nil while there is none.
    public var route: String?
    /// The door it is served at.
    public var door: HostDoor?
    /// Where it was dialled.
    public var endpoint: Endpoint?
    /// The row of the network that it is about.
    public var row: String?
    /// Why, as a word: a goodbye's reason, a failure's code, `lost`, `launch`, `hostInfo`, `nothingLeft`.
    public var reason: String?
    /// The same for people.
    public var message: String?

    init(_ kind: Kind, row: String? = nil, reason: String? = nil, message: String? = nil) {
        self.kind = kind
        self.row = row
        self.reason = reason
        self.message = message
    }
}
