// SPDX-License-Identifier: Apache-2.0

package import APITypes
internal import Sockets
package import Wire

/// An open `GET /v1/events`. It ends when the service stops; ``lastID`` is where the next one resumes.
package struct EventStream: ~Copyable {
    /// How long the service may take to begin the answer.
    private static let openTime = Duration.seconds(10)

    private let connection: Connection
    private var reader: EventReader

    /// Asks for the events after `since`; nil for those that happen from now on.
    init(_ endpoint: Endpoint, since: Int64?) throws(ClientError) {
        var fields = [(name: "Accept", value: "text/event-stream")]
        if let since { fields.append(("Last-Event-ID", String(since))) }
        let request = Request(.get, "/v1/events", fields: fields)
        let deadline = monotonicNow() + Self.openTime
        let connection = try Connection(to: endpoint)
        try connection.send(request.encode(for: endpoint), until: deadline)
        var reader = EventReader(lastID: since)
        while !reader.isOpen {
            switch try connection.receive(until: deadline) {
            case .bytes(let bytes): try reader.take(bytes)
            case .nothingNow: throw .timedOut("GET /v1/events")
            case .end: throw .broken("the service closed the connection instead of answering")
            }
        }
        self.connection = connection
        self.reader = reader
    }

    /// The last event's ID, or where this stream itself resumed; nil before the first.
    package var lastID: Int64? { reader.lastID }

    /// The descriptor that becomes readable when events come, to wait for beside other things.
    package var descriptor: Int32 { connection.descriptor }

    /// The events that are there now; nil when the stream has ended. Does not wait.
    package mutating func ready() throws(ClientError) -> [EventEnvelope]? { try take(waitingUntil: nil) }

    /// The next events, waiting for the first until `deadline`: empty when none came, nil when the stream has
    /// ended.
    package mutating func next(until deadline: MonotonicTime) throws(ClientError) -> [EventEnvelope]? {
        while true {
            guard let events = try take(waitingUntil: deadline) else { return nil }
            if !events.isEmpty || monotonicNow() >= deadline { return events }
        }
    }

    private mutating func take(waitingUntil deadline: MonotonicTime?) throws(ClientError) -> [EventEnvelope]?
    {
        // What came with the answer's head is here already, and no descriptor will announce it.
        if !reader.waiting.isEmpty { return reader.takeWaiting() }
        if reader.hasEnded { return nil }
        switch try connection.receive(until: deadline) {
        case .nothingNow: return []
        case .end: return nil
        case .bytes(let bytes):
            try reader.take(bytes)
            return reader.takeWaiting()
        }
    }
}

/// The answer to `GET /v1/events` as it is read. Pure.
private struct EventReader {
    private var response = HTTPResponseParser()
    private var events = ServerEventParser()
    private var status: Int?
    private var refusal: [UInt8] = []

    /// Events that nobody has taken yet.
    private(set) var waiting: [EventEnvelope] = []
    private(set) var lastID: Int64?
    /// The service has ended the stream.
    private(set) var hasEnded = false

    init(lastID: Int64?) { self.lastID = lastID }

    /// Whether the service has agreed to tell events.
    var isOpen: Bool { status == 200 }

    mutating func takeWaiting() -> [EventEnvelope] {
        defer { waiting = [] }
        return waiting
    }

    /// Throws `.refused` once an error answer is complete.
    mutating func take(_ bytes: [UInt8]) throws(ClientError) {
        let pieces: [HTTPResponseParser.Piece]
        do {
            pieces = try response.feed(bytes[...])
        } catch {
            throw .broken("the events are not as they should be: \(error.what)")
        }
        for piece in pieces {
            switch piece {
            case .head(let head): status = head.status
            case .body(let part) where isOpen: try collect(part)
            case .body(let part): refusal += part
            case .end where isOpen: hasEnded = true
            case .end: throw .refused(Problem(status: status ?? 500, body: refusal))
            }
        }
    }

    private mutating func collect(_ part: [UInt8]) throws(ClientError) {
        do {
            let new = try events.feed(part)
            waiting += new
            lastID = new.last { $0.id != nil }?.id ?? lastID
        } catch {
            throw .broken("an event is longer than the service sends")
        }
    }
}
