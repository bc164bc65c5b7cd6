// The server's limits in one list. SPDX-License-Identifier: Apache-2.0

/// Numbers of spec 07, and those that keep the server's memory bounded.
enum ServerLimits {
    /// Request line and headers; above: 431.
    static let headerBytes = 16_384
    /// The HTTP library's arena for one connection: the headers, what it parsed from them, and the answer's headers.
    /// Above it the library itself answers 431. It is cleared after every request, so it is no larger than needed.
    static let connectionMemory = 20_480
    /// Connections over all listeners; the newest is closed.
    static let connections: UInt32 = 256
    /// Of these, the most that may come over TCP; the others are kept for the Unix socket.
    static let tcpConnections = 224
    /// Connections of one address; the newest is closed.
    static let connectionsPerAddress: UInt32 = 64
    /// Seconds without a byte after which a connection is closed.
    static let idleSeconds: UInt32 = 30
    /// How much of a body above its limit is read and thrown away, so that the answer is not lost in a reset.
    static let drainedBytes = 1_048_576
    /// Seconds a handler may leave a request unanswered; then it is 503.
    static let answerSeconds: Int64 = 60
    /// Events kept for clients that come back (spec 07).
    static let keptEvents = 1_000
    /// Bytes given to the HTTP library at once from an event stream.
    static let streamBlock = 16_384
    /// Seconds between two comments on a quiet event stream.
    static let commentSeconds: Int64 = 15
    /// Rounds of requests served before listeners and notes have a turn.
    static let roundsAtOnce = 16
    /// Connections accepted from one listener before the others have a turn.
    static let acceptedAtOnce = 32
}
