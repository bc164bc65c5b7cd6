// SPDX-License-Identifier: Apache-2.0

import Bytes
import Sockets
import Wire

/// An HTTP client that sends exactly the bytes it is given.
final class RawClient {
    /// What came back.
    struct Response {
        var status: Int
        var headers: [(name: String, value: String)]
        var body: String

        subscript(_ name: String) -> String? { headers.first { $0.name == name.lowercased() }?.value }

        /// The problem's code.
        var code: String? { (try? JSON.parse(body))?["code"]?.string }
    }

    /// The server closed or sent nothing in time, or what came was no HTTP.
    struct Failure: Error { var why: String }

    /// Long beyond any real answer; only a broken server waits for it.
    private static let patience: Duration = .seconds(20)

    private let socket: Socket
    private let received = ByteBuffer(capacity: 4096)

    init(port: UInt16, over address: String = "127.0.0.1") throws {
        guard let ip = IPAddress(address) else { throw Failure(why: "no address") }
        socket = try Socket.tcpConnect(SocketAddress(ip: ip, port: port), nonblocking: false)
    }

    init(path: String) throws { socket = try Socket.unixConnect(path: path, nonblocking: false) }

    /// Sends all of it; false when the server has closed.
    @discardableResult func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    /// Sends all of it; false when the server has closed.
    @discardableResult func send(_ bytes: [UInt8]) -> Bool {
        let out = ByteBuffer(capacity: bytes.count)
        out.append(bytes)
        while !out.isEmpty {
            guard let sent = try? socket.write(from: out), sent > 0 else { return false }
        }
        return true
    }

    /// Reads what is there; false at the end of the stream.
    private func readMore() throws -> Bool {
        guard try socket.wait(for: .readable, until: monotonicNow() + Self.patience) else {
            throw Failure(why: "nothing came")
        }
        do {
            return try socket.read(into: received, max: 65_536) != 0
        } catch {
            return false
        }
    }

    /// Reads until `text` has come, and gives back everything up to and with it.
    func read(through text: String) throws -> String {
        let wanted = Array(text.utf8)
        var searched = 0
        while true {
            let bytes = received.bytes
            if let end = bytes[searched...].firstEnd(of: wanted) {
                return String(decoding: received.take(end), as: UTF8.self)
            }
            searched = max(0, bytes.count - wanted.count)
            guard try readMore() else { throw Failure(why: "closed before \(text.debugDescription)") }
        }
    }

    /// Reads until the server closes, and says what the last bytes were.
    func readToEnd() throws -> String {
        while try readMore() {
            if received.count > 1000 { received.consume(received.count - 1000) }
        }
        return String(decoding: received.bytes, as: UTF8.self)
    }

    /// Reads one response; `head`: it has no body whatever it says.
    func response(head: Bool = false) throws -> Response {
        let lines = try read(through: "\r\n\r\n").split(separator: "\r\n")
        guard let status = lines.first?.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else {
            throw Failure(why: "no status line")
        }
        let headers = lines.dropFirst().compactMap { line -> (name: String, value: String)? in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            let value = line[line.index(after: colon)...].drop { $0 == " " }
            return (line[..<colon].lowercased(), String(value))
        }
        var response = Response(status: status, headers: headers, body: "")
        if !head, let length = response["content-length"].flatMap({ Int($0) }) {
            while received.count < length {
                guard try readMore() else { throw Failure(why: "closed in the body") }
            }
            response.body = String(decoding: received.take(length), as: UTF8.self)
        }
        return response
    }

    /// Whether the server closes, with no byte more.
    func isClosed() throws -> Bool {
        guard received.isEmpty else { return false }
        return try !readMore()
    }

    /// Ends this side's stream.
    func finishSending() { socket.shutdownWrite() }
}

extension ArraySlice<UInt8> {
    /// Where the first `part` ends.
    fileprivate func firstEnd(of part: [UInt8]) -> Int? {
        guard !part.isEmpty, count >= part.count else { return nil }
        return (startIndex...(endIndex - part.count))
            .first { self[$0] == part[0] && self[$0..<($0 + part.count)].elementsEqual(part) }
            .map { $0 + part.count }
    }
}
