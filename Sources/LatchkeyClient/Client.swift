// SPDX-License-Identifier: Apache-2.0

package import APITypes
internal import Sockets
package import Wire

/// Calls of one service's local API (spec 07). Blocks its thread; one call at a time, on one kept connection.
public final class Client {
    /// An answer that is no error.
    package struct Answer: Sendable {
        package let status: Int
        /// As it came.
        package let body: [UInt8]

        /// The body read as one of the API's objects. Throws `.broken` when it is not one.
        package func read<Body: APIObject>(_ type: Body.Type) throws(ClientError) -> Reply<Body> {
            let json = try json()
            do {
                return Reply(value: try Body(json: json), body: body)
            } catch {
                throw .broken("the service's answer is not as it should be: \(error)")
            }
        }

        /// The body read as JSON; an empty one is an empty object. Throws `.broken` for anything else.
        package func json() throws(ClientError) -> JSON {
            if body.isEmpty { return .object([]) }
            do {
                return try JSON.parse(body)
            } catch {
                throw .broken("the service's answer is not JSON: \(error)")
            }
        }
    }

    /// The longest answer that is taken in: an export of 100,000 devices fits.
    static let bodyLimit = 64 << 20
    /// The longest wait for an answer; the slowest call is a probe of the router (spec 05).
    static let answerTime = Duration.seconds(60)

    /// Where the service is.
    public let endpoint: Endpoint
    private var kept: Kept?

    /// A connection that is open between two calls; a class, so that an optional property can let it go.
    private final class Kept {
        let connection: Connection
        /// Whether it has carried a call: then the service may have closed it meanwhile.
        var wasUsed = false
        init(_ connection: consuming Connection) { self.connection = connection }
    }

    /// Does not connect yet.
    public init(_ endpoint: Endpoint) { self.endpoint = endpoint }

    /// Dials now, so that a service that is not there shows before the first call.
    package func connect() throws(ClientError) {
        if kept == nil { kept = Kept(try Connection(to: endpoint)) }
    }

    /// One call whose bodies are the API's own JSON as text, for programs that read it themselves.
    ///
    /// `path` is the path with its query, as `docs/api.md` lists it. Error answers are answers like any
    /// other: look at the status. Throws when no answer came.
    public func call(
        method: String, path: String, body: String? = nil
    ) throws(CallFailure) -> (status: Int, body: String) {
        let isPlain = path.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
        guard let method = Request.Method(rawValue: method), isPlain, path.hasPrefix("/") else {
            throw CallFailure(message: "the API has no such call")
        }
        do {
            let answer = try sendAgainWhenLost(Request(method, path, body: body.map { Array($0.utf8) }))
            return (answer.status, String(decoding: answer.body, as: UTF8.self))
        } catch {
            throw CallFailure(message: error.message)
        }
    }

    /// One call; throws `.refused` for every answer from 400 up.
    package func send(_ request: Request) throws(ClientError) -> Answer {
        let answer = try sendAgainWhenLost(request)
        guard answer.status < 400 else { throw .refused(Problem(status: answer.status, body: answer.body)) }
        return answer
    }

    /// Opens the stream of events on a connection of its own.
    package func events(since: Int64? = nil) throws(ClientError) -> EventStream {
        try EventStream(endpoint, since: since)
    }

    /// A used connection may have been closed while it lay idle. Then a new one is tried, if asking twice is
    /// safe; a call that is not gets a fresh connection from the start.
    private func sendAgainWhenLost(_ request: Request) throws(ClientError) -> Answer {
        let kept = kept
        self.kept = nil
        if let kept, !kept.wasUsed { return try exchange(request, on: kept) }
        if let kept, request.isRepeatable {
            do {
                return try exchange(request, on: kept)
            } catch {
                guard case .broken = error else { throw error }
            }
        }
        return try exchange(request, on: Kept(Connection(to: endpoint)))
    }

    private func exchange(_ request: Request, on kept: Kept) throws(ClientError) -> Answer {
        let deadline = monotonicNow() + Self.answerTime
        let what = "\(request.method.rawValue) \(request.path)"
        try kept.connection.send(request.encode(for: endpoint), until: deadline)
        var parser = HTTPResponseParser()
        var status = 0
        var body: [UInt8] = []
        while true {
            let pieces: [HTTPResponseParser.Piece]
            let received = try kept.connection.receive(until: deadline)
            do {
                switch received {
                case .bytes(let bytes): pieces = try parser.feed(bytes[...])
                case .end: pieces = try parser.finish()
                case .nothingNow: throw ClientError.timedOut(what)
                }
            } catch let error as HTTPResponseParser.Malformed {
                throw .broken("the answer to \(what) cannot be read: \(error.what)")
            } catch {
                throw .timedOut(what)
            }
            for piece in pieces {
                switch piece {
                case .head(let head): status = head.status
                case .body(let part):
                    body += part
                    guard body.count <= Self.bodyLimit else {
                        throw .broken("the answer to \(what) is too long")
                    }
                case .end(let reusable):
                    kept.wasUsed = true
                    if reusable { self.kept = kept }
                    return Answer(status: status, body: body)
                }
            }
        }
    }
}

/// An answer read, beside its bytes as they came: what `--json` prints (spec 09 point 29).
package struct Reply<Value: Sendable>: Sendable {
    package let value: Value
    package let body: [UInt8]

    package init(value: Value, body: [UInt8]) {
        self.value = value
        self.body = body
    }
}

/// A call that brought no answer.
public struct CallFailure: Error, Sendable {
    /// One sentence for people.
    public let message: String
}
