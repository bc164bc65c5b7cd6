// SPDX-License-Identifier: Apache-2.0

internal import Bytes
package import Sockets
package import Wire

/// One question over HTTP/1.1 (RFC 9112) to a place on the home network or on this machine, with a limit to everything:
/// time, bytes, and where it goes. Follows no redirect, resolves no name, keeps no connection.
package enum HTTPFetch {
    /// Where to ask.
    package enum Place: Sendable, Hashable {
        /// `from` pins this end, so that no route of a VPN changes who is asked (05 B13.2).
        case tcp(SocketAddress, from: LocalEnd? = nil)
        case unix(path: String)
    }

    /// What to ask.
    package struct Request: Sendable {
        package var method = "GET"
        /// Begins with `/`.
        package var target: String
        /// The `Host` field.
        package var host: String
        /// Further fields; the body's length is added.
        package var fields: [(name: String, value: String)] = []
        package var body: [UInt8] = []

        package init(_ target: String, host: String) {
            self.target = target
            self.host = host
        }
    }

    /// What came back.
    package struct Answer: Sendable {
        package var status: Int
        package var head: HTTPResponseParser.Head
        package var body: [UInt8]
    }

    /// Why nothing of use came back. The words are about this side: nothing that was sent to us is in them.
    package enum Failure: Error, Sendable, Equatable {
        /// Nobody listens, or there is no way there.
        case notReached(errno: Int32)
        /// The socket's mode keeps this user out.
        case notAllowed
        /// No whole answer in time.
        case silent
        /// The answer has more bytes than it may.
        case tooLong
        /// It is no HTTP, or breaks off.
        case malformed
        /// The request itself cannot be sent: a line break in it.
        case unfit
    }

    /// 05 B6: 64 KiB for each answer, 2 s for each question.
    package static let usualBytes = 64 * 1024
    package static let usualTime = Duration.seconds(2)

    private static let readSize = 16 * 1024

    /// Asks, and waits for the whole answer on the calling thread: at most `bytes` of body, at most until `deadline`, or
    /// until somebody raises `stop`, which counts as silence.
    package static func ask(
        _ request: Request, at place: Place, until deadline: MonotonicTime, bytes limit: Int = usualBytes,
        stop: WakeUp? = nil
    ) throws(Failure) -> Answer {
        guard let text = request.bytes else { throw .unfit }
        let limits = Limits(deadline: deadline, stop: stop)
        let socket = try connect(place, limits)
        let outgoing = ByteBuffer(capacity: text.count)
        outgoing.append(text)
        // Some answer before they have read it all, and close: what they say still counts.
        while !outgoing.isEmpty {
            let isFull: Bool
            do throws(SocketError) { isFull = try socket.write(from: outgoing) == nil } catch { break }
            if isFull { try wait(socket, for: .writable, limits) }
        }
        return try answer(from: socket, limits, limit: limit)
    }

    private struct Limits {
        let deadline: MonotonicTime
        let stop: WakeUp?
    }

    private static func answer(
        from socket: borrowing Socket, _ limits: Limits, limit: Int
    ) throws(Failure) -> Answer {
        var parser = HTTPResponseParser()
        var head: HTTPResponseParser.Head?
        var body: [UInt8] = []
        var received = 0
        while true {
            let bytes = try read(socket, limits)
            received += bytes.count
            // Heads, chunk sizes and trailers count too.
            guard received <= limit + HTTPResponseParser.headLimit else { throw .tooLong }
            for piece in try pieces(of: bytes, &parser) {
                switch piece {
                case .head(let found): head = found
                case .body(let part):
                    body += part
                    guard body.count <= limit else { throw .tooLong }
                case .end:
                    guard let head else { throw .malformed }
                    return Answer(status: head.status, head: head, body: body)
                }
            }
            if bytes.isEmpty { throw .malformed }
        }
    }

    private static func pieces(
        of bytes: [UInt8], _ parser: inout HTTPResponseParser
    ) throws(Failure) -> [HTTPResponseParser.Piece] {
        do throws(HTTPResponseParser.Malformed) {
            return bytes.isEmpty ? try parser.finish() : try parser.feed(bytes[...])
        } catch {
            throw .malformed
        }
    }

    /// The next bytes; none at the end.
    private static func read(
        _ socket: borrowing Socket, _ limits: Limits
    ) throws(Failure) -> [UInt8] {
        let incoming = ByteBuffer(capacity: readSize)
        while true {
            do throws(SocketError) {
                if try socket.read(into: incoming, max: readSize) != nil {
                    return incoming.take(incoming.count)
                }
            } catch {
                throw .malformed
            }
            try wait(socket, for: .readable, limits)
        }
    }

    /// Bytes that trickle in do not keep it past its time either.
    private static func wait(
        _ socket: borrowing Socket, for readiness: Readiness, _ limits: Limits
    ) throws(Failure) {
        let isReady: Bool
        do throws(SocketError) {
            isReady = try socket.wait(for: readiness, until: limits.deadline, stop: limits.stop)
        } catch {
            throw .malformed
        }
        guard isReady, monotonicNow() < limits.deadline else { throw .silent }
    }

    private static func connect(
        _ place: Place, _ limits: Limits
    ) throws(Failure) -> Socket {
        do throws(SocketError) {
            switch place {
            case .unix(let path): return try Socket.unixConnect(path: path, nonblocking: true)
            case .tcp(let address, let local):
                return try Socket.tcpConnect(
                    address, from: local, timeout: limits.deadline - monotonicNow(), stop: limits.stop)
            }
        } catch {
            if error.isTimedOut { throw .silent }
            if error.isNotAllowed { throw .notAllowed }
            throw .notReached(errno: error.errno)
        }
    }
}

extension HTTPFetch.Request {
    /// As it goes out; nil when a text of it would begin another line.
    fileprivate var bytes: [UInt8]? {
        var lines = ["\(method) \(target) HTTP/1.1", "Host: \(host)", "Connection: close"]
        lines += fields.map { "\($0.name): \($0.value)" }
        if !body.isEmpty || method == "POST" { lines.append("Content-Length: \(body.count)") }
        guard target.hasPrefix("/"), !target.utf8.contains(0x20),
            lines.allSatisfy({ $0.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } })
        else { return nil }
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body
    }
}
