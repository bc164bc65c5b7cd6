// SPDX-License-Identifier: Apache-2.0

import APITypes
import Foundation
import LocalAPI
import Sockets
import Synchronization
import Wire

/// A real server with routes that show what they were asked, on any free port and a Unix socket.
final class TestServer {
    let server: APIServer
    let events = EventHub(firstID: 1_000)
    let path: String
    /// Lines of the log.
    let log = Lines()
    /// Responders that nobody has answered.
    let pending = Pending()
    private let directory: URL

    /// Collects log lines.
    final class Lines: Sendable {
        private let lines = Mutex<[String]>([])
        func append(_ line: String) { lines.withLock { $0.append(line) } }
        var all: [String] { lines.withLock { $0 } }
    }

    /// Keeps responders for tests to answer.
    final class Pending: Sendable {
        private let responders = Mutex<[Responder]>([])
        private let arrived = WakeUpBox()

        func add(_ responder: Responder) {
            responders.withLock { $0.append(responder) }
            arrived.signal()
        }

        /// Waits for the next one.
        func next() -> Responder? {
            while true {
                let found = responders.withLock { $0.isEmpty ? nil : $0.removeFirst() }
                if let found { return found }
                guard arrived.wait() else { return nil }
            }
        }
    }

    /// A flag between threads.
    final class WakeUpBox: Sendable {
        private let wakeUp = try? WakeUp()
        func signal() { wakeUp?.signal() }
        func wait() -> Bool {
            guard let wakeUp, wakeUp.wait(until: monotonicNow() + .seconds(20)) else { return false }
            wakeUp.clear()
            return true
        }
    }

    struct Fault: Error {}

    init(callers: SocketCallers = SocketCallers(ownUser: getuid(), adminGroup: nil)) throws {
        directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("lk-api-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        path = directory.appendingPathComponent("api.sock").path
        let authorize: @Sendable (String) -> Role? = { token in
            switch token {
            case "admin-token": .admin
            case "host-token": .host
            default: nil
            }
        }
        var configuration = APIServer.Configuration(
            callers: callers, authorize: authorize, routes: Self.routes(events, pending), events: events)
        configuration.unixPath = path
        configuration.tcpPort = 0
        configuration.log = { [log] message, fields in
            log.append(message + fields.map { " \($0.0)=\($0.1)" }.joined())
        }
        server = try APIServer(configuration)
    }

    deinit {
        server.stop()
        try? FileManager.default.removeItem(at: directory)
    }

    var port: UInt16 { server.port ?? 0 }

    /// Sends one request over TCP and reads its answer. `headers`: lines without line ends.
    func call(
        _ method: String, _ target: String, token: String? = "admin-token", headers: [String] = [],
        body: String? = nil, host: String? = nil
    ) throws -> RawClient.Response {
        let client = try RawClient(port: port)
        client.send(request(method, target, token: token, headers: headers, body: body, host: host))
        return try client.response(head: method == "HEAD")
    }

    /// The text of a request.
    func request(
        _ method: String, _ target: String, token: String? = "admin-token", headers: [String] = [],
        body: String? = nil, host: String? = nil
    ) -> String {
        var lines = ["\(method) \(target) HTTP/1.1", "Host: \(host ?? "127.0.0.1:\(port)")"]
        if let token { lines.append("Authorization: Bearer \(token)") }
        lines += headers
        if let body { lines.append("Content-Length: \(body.utf8.count)") }
        return lines.joined(separator: "\r\n") + "\r\n\r\n" + (body ?? "")
    }

    private static func routes(_ events: EventHub, _ pending: Pending) -> [APIRoute] {
        [
            APIRoute(.get, "/healthz", .open) { _, responder in responder.send(Health(reasons: [])) },
            APIRoute(.get, "/v1/echo", .host) { request, responder in responder.send(echo(request)) },
            APIRoute(.post, "/v1/echo", .host) { request, responder in responder.send(echo(request)) },
            APIRoute(.get, "/v1/things/{id}", .host) { request, responder in
                responder.send(echo(request))
            },
            APIRoute(.delete, "/v1/things/{id}", .admin) { request, responder in
                responder.send(Answer(204, .json, []))
            },
            APIRoute(.post, "/v1/json", .host) { request, responder in
                let json = try request.json()
                responder.send(Answer(200, .json, Array(try json.requiredString("name").utf8)))
            },
            APIRoute(.post, "/v1/large", .admin, bodyLimit: 200_000) { request, responder in
                responder.send(Answer(200, .text, Array("\(request.body.count)".utf8)))
            },
            APIRoute(.get, "/v1/fault", .admin) { _, _ in throw Fault() },
            APIRoute(.get, "/v1/problem", .admin) { _, _ in
                throw Problem(418, "teapot", "A teapot", detail: "Short and stout.")
            },
            APIRoute(.get, "/v1/later", .host) { _, responder in pending.add(responder) },
            APIRoute(.get, "/v1/events", .host) { request, responder in
                responder.send(
                    .events(events.subscribe(lastSeen: request.lastEventID, resetData: Array("{}".utf8))))
            },
        ]
    }

    private static func echo(_ request: Request) -> Answer {
        var writer = JSONWriter()
        writer.object { object in
            object.field("role", request.role.rawValue)
            object.field("actor", request.actor)
            object.array("parameters") { array in for text in request.parameters { array.element(text) } }
            object.array("query") { array in
                for item in request.query { array.element("\(item.name)=\(item.value)") }
            }
            object.field("body", String(decoding: request.body, as: UTF8.self))
        }
        return Answer(200, .json, writer.bytes)
    }
}
