// SPDX-License-Identifier: Apache-2.0

internal import Wire

/// Which of a host's two doors (03 section 1).
public enum HostDoor: String, Sendable {
    /// For devices on the host's own networks.
    case home
    /// For devices that are away.
    case remote
}

/// One message of a session (01 section 1).
public struct SessionMessage: Sendable, Equatable {
    /// 01 section 2.
    public let kind: UInt8
    /// The sender's wall clock, seconds since 1970; never validated.
    public let timestamp: Double
    /// For video: whether decoding can begin here.
    public let isKeyframe: Bool
    /// What it says, in the format of its kind.
    public let payload: [UInt8]
}

/// What a session has seen so far.
public struct SessionSummary: Sendable, Equatable {
    /// Whether the host's signed self-description came, and held.
    public enum HostInfo: String, Sendable { case verified, bad, none }

    /// Whether what the host said about itself is its own word.
    public let hostInfo: HostInfo
    /// How many messages of each kind came.
    public let kinds: [UInt8: Int]
    /// Bytes received, headers included, TLS not.
    public let bytes: Int
    /// Median round trip in milliseconds; nil before the first pong.
    public let roundTripMedian: Double?
    /// The 99th percentile of round trips in milliseconds.
    public let roundTrip99: Double?
    /// The host's goodbye, once there was one.
    public let goodbye: SessionGoodbye?
    /// For display: `TLSv1.3`.
    public let tlsVersion: String
}

/// A session that a host serves: it has sent its first window list.
///
/// Read it with ``next()`` or `for try await message in session`; read on, or the host has to hold its stream back.
/// Pings, pongs and the host's signed self-description are dealt with by themselves (and delivered all the same).
public final class Session: Sendable, AsyncSequence {
    /// What iterating gives: messages in order.
    public typealias Element = SessionMessage

    /// The host as it was saved when the session began.
    public let host: SavedHost
    /// The address that was dialled, with its port.
    public let endpoint: Endpoint
    /// The door it leads to, as far as this side can tell.
    public let door: HostDoor

    /// How it is named to people: `on this network`, `through Tailscale`.
    public let route: String

    let connection: HostConnection

    /// A session over a connection that is served.
    init(host: SavedHost, endpoint: Endpoint, door: HostDoor, route: String, connection: HostConnection) {
        self.host = host
        self.endpoint = endpoint
        self.door = door
        self.route = route
        self.connection = connection
    }

    /// The next message of the host, in order; nil after a goodbye or an orderly end. Throws `lost` or `protocolError`
    /// otherwise. Cancelling the task closes the session.
    public func next() async throws(DeviceError) -> SessionMessage? {
        guard let message = try await connection.next() else { return nil }
        let header = message.header
        return SessionMessage(
            kind: header.kind.rawValue, timestamp: header.timestamp, isKeyframe: header.isKeyframe,
            payload: message.payload)
    }

    /// Sends one message; at most 1 MiB of payload, or the host closes the session. Waits while too much is unsent.
    public func send(kind: UInt8, _ payload: [UInt8]) async throws(DeviceError) {
        guard payload.count <= MessageCaps.fromDevice else {
            throw DeviceError(
                .protocolError, "a message to the host has at most \(MessageCaps.fromDevice) bytes")
        }
        try await connection.send(MessageKind(rawValue: kind), payload)
    }

    /// What has been seen so far; also after the end.
    public func summary() async -> SessionSummary { await connection.summary() }

    /// Ends the session from this side. What came whole can still be read.
    public func close() async { await connection.close() }

    /// Reads the session's one stream; a second iterator shares it.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let session: Session

        /// The same as the session's own ``Session/next()``.
        public mutating func next() async throws(DeviceError) -> SessionMessage? { try await session.next() }
    }

    /// For `for try await`.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(session: self) }
}

extension HostConnection {
    /// What the session has seen; empty on a pairing connection.
    func summary() -> SessionSummary {
        SessionSummary(
            hostInfo: session.flatMap { SessionSummary.HostInfo(rawValue: $0.hostInfo.rawValue) } ?? .none,
            kinds: session?.kinds ?? [:], bytes: session?.bytes ?? 0,
            roundTripMedian: session?.roundTrips.milliseconds(atShare: 0.5),
            roundTrip99: session?.roundTrips.milliseconds(atShare: 0.99),
            goodbye: session?.goodbye.map { SessionGoodbye($0) }, tlsVersion: tlsVersion)
    }
}
