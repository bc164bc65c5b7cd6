// SPDX-License-Identifier: Apache-2.0

import Bytes
import Foundation
import Sockets
import Synchronization
import Wire

/// A service in a file: answers on a Unix socket what a test wrote down, and remembers what it was asked.
final class FakeService: Sendable {
    /// One request as it came.
    struct Asked: Sendable {
        var line: String
        var fields: [String: String]
        var body: String
    }

    /// One answer.
    struct Reply: Sendable {
        /// The bytes, in pieces that are written one by one.
        var pieces: [String]
        /// Close after the last piece.
        var closes = false
        /// Events to push into the open stream once the answer is out.
        var pushes: [String] = []

        static func json(_ status: Int, _ body: String, pushes: [String] = []) -> Reply {
            Reply(
                pieces: [
                    "HTTP/1.1 \(status) X\r\nContent-Type: application/json\r\n"
                        + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
                ], pushes: pushes)
        }

        static func problem(_ status: Int, _ code: String, _ detail: String, more: String = "") -> Reply {
            json(
                status,
                #"{"type":"about:blank","title":"T","status":\#(status),"code":"\#(code)","detail":"\#(detail)"\#(more)}"#
            )
        }

        static func raw(_ pieces: String..., closes: Bool = true) -> Reply {
            Reply(pieces: pieces, closes: closes)
        }
    }

    /// Pushed into the stream, it ends the connection as a crash would.
    static let cut = "cut"

    private struct State {
        var routes: [String: [Reply]]
        var asked: [Asked] = []
        var connections = 0
        var isStopped = false
    }

    let path: String
    private let state: Mutex<State>
    private let queue = Mutex<[String]>([])
    private let pushed = DispatchSemaphore(value: 0)

    /// Answers "GET /v1/status" and so on, without query; several replies to one are given in turn, the last
    /// for ever.
    init(_ routes: [String: [Reply]]) throws {
        path = "\(NSTemporaryDirectory())/lk-\(UUID().uuidString.prefix(8)).sock"
        state = Mutex(State(routes: routes))
        let listener = Box(try Socket.unixListener(path: path, mode: 0o600))
        Thread.detachNewThread { self.acceptAll(listener) }
    }

    var asked: [Asked] { state.withLock { $0.asked } }
    var connections: Int { state.withLock { $0.connections } }

    func stop() { state.withLock { $0.isStopped = true } }

    /// Pushes the lines of one event, or ``cut``, into the stream that is open or the next one.
    func push(_ events: [String]) {
        for event in events {
            queue.withLock { $0.append(event) }
            pushed.signal()
        }
    }

    private final class Box: Sendable {
        let socket: Socket
        init(_ socket: consuming Socket) { self.socket = socket }
    }

    private func acceptAll(_ listener: Box) {
        while !state.withLock({ $0.isStopped }) {
            _ = try? listener.socket.wait(for: .readable, until: monotonicNow() + .milliseconds(50))
            guard let socket = try? acceptUnix(on: listener.socket) else { continue }
            state.withLock { $0.connections += 1 }
            let connection = Box(socket)
            Thread.detachNewThread { self.serve(connection) }
        }
        try? removeFile(path)
    }

    private func serve(_ connection: Box) {
        let buffer = ByteBuffer(capacity: 4096)
        while let asked = read(connection, buffer) {
            state.withLock { $0.asked.append(asked) }
            let route = asked.line.split(separator: "?")[0].split(separator: " ").prefix(2).joined(
                separator: " ")
            let scripted: Reply? = state.withLock { state in
                guard let replies = state.routes[route], let first = replies.first else { return nil }
                if replies.count > 1 { state.routes[route]?.removeFirst() }
                return first
            }
            if route == "GET /v1/events", scripted == nil { return stream(connection) }
            let reply = scripted ?? .problem(404, "notFound", "no \(route)")
            for piece in reply.pieces { send(connection, piece) }
            push(reply.pushes)
            if reply.closes { return }
        }
    }

    private func stream(_ connection: Box) {
        send(
            connection,
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        while true {
            if pushed.wait(timeout: .now() + 20) == .timedOut { return }
            let event = queue.withLock { $0.removeFirst() }
            if event == Self.cut { return }
            send(connection, "\(String(event.utf8.count, radix: 16))\r\n\(event)\r\n")
        }
    }

    private func send(_ connection: Box, _ text: String) {
        let buffer = ByteBuffer(capacity: 4096)
        buffer.append(Array(text.utf8))
        while !buffer.isEmpty {
            do {
                if try connection.socket.write(from: buffer) == nil {
                    _ = try connection.socket.wait(for: .writable, until: monotonicNow() + .seconds(5))
                }
            } catch {
                return
            }
        }
    }

    private func read(_ connection: Box, _ buffer: ByteBuffer) -> Asked? {
        while true {
            let text = String(decoding: buffer.bytes, as: UTF8.self)
            if let end = text.range(of: "\r\n\r\n") {
                var lines = text[..<end.lowerBound].components(separatedBy: "\r\n")
                let line = lines.removeFirst()
                var fields: [String: String] = [:]
                for field in lines {
                    let parts = field.split(separator: ":", maxSplits: 1)
                    fields[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces)
                }
                let length = Int(fields["content-length"] ?? "0") ?? 0
                let rest = text[end.upperBound...]
                if rest.utf8.count >= length {
                    buffer.consume(buffer.count)
                    return Asked(line: line, fields: fields, body: String(rest))
                }
            }
            guard (try? connection.socket.wait(for: .readable, until: monotonicNow() + .seconds(20))) == true,
                let count = try? connection.socket.read(into: buffer, max: 65536), count > 0
            else { return nil }
        }
    }
}
