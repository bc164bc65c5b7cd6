// SPDX-License-Identifier: Apache-2.0

package import APITypes
internal import Sockets
package import Wire

/// An open `GET /v1/events`. It ends when the service stops; ``lastID`` is where the next one resumes.
package struct EventStream: ~Copyable {
    /// How long the service may take to begin the answer.
    private static let openTime = Duration.seconds(10)

    private let connection: Connection
    private var response = ResponseParser()
    private var events = ServerEventParser()
    private var waiting: [EventEnvelope] = []

    /// The last event's ID, or where this stream itself resumed; nil before the first.
    package private(set) var lastID: Int64?

    /// Asks for the events after `since`; nil for those that happen from now on.
    init(_ endpoint: Endpoint, since: Int64?) throws(ClientError) {
        var fields = [(name: "Accept", value: "text/event-stream")]
        if let since { fields.append(("Last-Event-ID", String(since))) }
        let request = Request(.get, "/v1/events", fields: fields)
        let deadline = monotonicNow() + Self.openTime
        connection = try Connection(to: endpoint)
        lastID = since
        try connection.send(request.encode(for: endpoint), until: deadline)
        try open(until: deadline)
    }

    /// The descriptor that becomes readable when events come, to wait for beside other things.
    package var descriptor: Int32 { connection.descriptor }

    /// The events that are there now; nil when the stream has ended. Does not wait.
    package mutating func ready() throws(ClientError) -> [EventEnvelope]? {
        try take(waitingUntil: nil)
    }

    /// The next events, waiting for the first until `deadline`: empty when none came, nil when the stream has ended.
    package mutating func next(until deadline: MonotonicTime) throws(ClientError) -> [EventEnvelope]? {
        while true {
            guard let events = try take(waitingUntil: deadline) else { return nil }
            if !events.isEmpty || monotonicNow() >= deadline { return events }
        }
    }

    private mutating func take(waitingUntil deadline: MonotonicTime?) throws(ClientError) -> [EventEnvelope]? {
        if !waiting.isEmpty {
            defer { waiting = [] }
            return waiting
        }
        switch try connection.receive(until: deadline) {
        case .nothingNow: return []
        case .end: return nil
        case .bytes(let bytes):
            let ended = try digest(bytes)
            if ended, waiting.isEmpty { return nil }
            defer { waiting = [] }
            return waiting
        }
    }

    /// Reads the answer's head; what of the stream came with it waits for the first caller.
    private mutating func open(until deadline: MonotonicTime) throws(ClientError) {
        var status: Int?
        var refusal: [UInt8] = []
        while true {
            let bytes: [UInt8]
            switch try connection.receive(until: deadline) {
            case .bytes(let some): bytes = some
            case .nothingNow: throw .timedOut("GET /v1/events")
            case .end: throw .broken("the service closed the connection instead of answering")
            }
            for piece in try pieces(bytes) {
                switch piece {
                case .head(let head): status = head.status
                case .body(let part) where status == 200: try collect(part)
                case .body(let part): refusal += part
                case .end where status == 200: return
                case .end: throw .refused(Problem(status: status ?? 500, body: refusal))
                }
            }
            if status == 200 { return }
        }
    }

    private mutating func digest(_ bytes: [UInt8]) throws(ClientError) -> Bool {
        var ended = false
        for piece in try pieces(bytes) {
            switch piece {
            case .body(let part): try collect(part)
            case .end: ended = true
            case .head: break
            }
        }
        return ended
    }

    private mutating func pieces(_ bytes: [UInt8]) throws(ClientError) -> [ResponseParser.Piece] {
        do {
            return try response.feed(bytes[...])
        } catch {
            throw .broken("the events are not as they should be: \(error.what)")
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
