// SPDX-License-Identifier: Apache-2.0

import Foundation
import Sockets
import Testing
import Wire

@testable import HTTPFetch

@Suite("Asking over HTTP")
struct HTTPFetchTests {
    /// Long beyond any real answer.
    static let patience: Duration = .seconds(30)

    private func ask(
        _ steps: [LoopbackServer.Step], patience: Duration = patience, limit: Int = HTTPFetch.usualBytes,
        early: Bool = false
    ) throws -> HTTPFetch.Answer {
        let server = try LoopbackServer(steps, answersEarly: early)
        defer { server.end() }
        return try HTTPFetch.ask(
            HTTPFetch.Request("/d.xml", host: "h"), at: .tcp(server.address),
            until: monotonicNow() + patience,
            bytes: limit)
    }

    private func failure(
        _ steps: [LoopbackServer.Step], patience: Duration = patience
    ) throws -> HTTPFetch.Failure? {
        do {
            _ = try ask(steps, patience: patience)
            return nil
        } catch let failure as HTTPFetch.Failure {
            return failure
        }
    }

    @Test("a request that would be two is not sent", arguments: ["/a b", "/a\r\nX: y", "", "a"])
    func unfit(_ target: String) {
        #expect(throws: HTTPFetch.Failure.unfit) {
            try HTTPFetch.ask(
                HTTPFetch.Request(target, host: "h"), at: .unix(path: "/nowhere"),
                until: monotonicNow() + .seconds(1))
        }
    }

    @Test(
        "every way of ending a body",
        arguments: [
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\n\r\n",
            "HTTP/1.0 200 OK\r\n\r\nhello",
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
            "HTTP/1.1 200\r\nServer: x\r\ncontent-length:5\r\n\r\nhello",
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        ])
    func bodies(_ text: String) throws {
        let answer = try ask([.send(text)])
        #expect(answer.status == 200)
        #expect(answer.body == Array("hello".utf8))
    }

    @Test("an answer whose body has its length is whole before the connection ends")
    func kept() throws {
        let answer = try ask([.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .hold])
        #expect(answer.body == Array("ok".utf8))
    }

    @Test("a redirect is an answer, and nobody goes there")
    func redirect() throws {
        let answer = try ask([
            .send("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n")
        ])
        #expect(answer.status == 302)
        #expect(answer.head["location"] == "http://127.0.0.1:1/")
        #expect(answer.body.isEmpty)
    }

    @Test("an error is an answer with its body")
    func error() throws {
        let answer = try ask([.send("HTTP/1.1 500 Oops\r\nContent-Length: 3\r\n\r\nbad")])
        #expect(answer.status == 500)
        #expect(answer.body == Array("bad".utf8))
    }

    @Test("what is longer than it may be", arguments: [true, false])
    func tooLong(_ announces: Bool) throws {
        let megabyte = String(repeating: "x", count: 1 << 20)
        let length = announces ? "Content-Length: 1048576\r\n" : ""
        #expect(try failure([.send("HTTP/1.1 200 OK\r\n\(length)\r\n" + megabyte)]) == .tooLong)
    }

    @Test(
        "what never ends is cut by its bytes",
        arguments: [
            ("HTTP/1.1 200 OK\r\n\r\n", "<x/>"),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "1;abcdef\r\nx\r\n"),
        ])
    func endless(_ head: String, _ piece: String) throws {
        #expect(try failure([.send(head), .repeating(piece)]) == .tooLong)
    }

    @Test("a header that never ends is refused")
    func endlessHead() throws {
        let found = try failure([.send("HTTP/1.1 200 OK\r\n"), .repeating("X: y\r\n")])
        #expect(found == .malformed || found == .tooLong)
    }

    @Test(
        "what is not whole in time is silence",
        arguments: [
            [.trickle], [.hold], [.send("HTTP/1.1 200 OK\r\nContent-Length: 900000\r\n\r\n"), .trickle],
            [.send("HTTP/1.1 200 OK\r\n\r\nall but the end"), .hold],
        ] as [[LoopbackServer.Step]])
    func silent(_ steps: [LoopbackServer.Step]) throws {
        #expect(try failure(steps, patience: .milliseconds(300)) == .silent)
    }

    @Test(
        "what breaks off or is no HTTP",
        arguments: [
            "", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello",
            "SSH-2.0-x\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        ])
    func malformed(_ text: String) throws {
        #expect(try failure([.send(text)]) == .malformed)
    }

    @Test("the answer counts although the request was not read")
    func early() throws {
        let server = try LoopbackServer(
            [.send("HTTP/1.1 413 No\r\nContent-Length: 2\r\n\r\nno"), .hold], answersEarly: true)
        defer { server.end() }
        var request = HTTPFetch.Request("/", host: "h")
        request.method = "POST"
        request.body = Array(repeating: 0x78, count: 100)
        let answer = try HTTPFetch.ask(
            request, at: .tcp(server.address), until: monotonicNow() + Self.patience)
        #expect(answer.status == 413)
    }

    @Test("a body goes out whole, with its length and fields")
    func post() throws {
        let server = try LoopbackServer([.send("HTTP/1.1 204 No\r\n\r\n")])
        defer { server.end() }
        var request = HTTPFetch.Request("/control", host: "192.168.1.1:5000")
        request.method = "POST"
        request.fields = [("SOAPAction", "\"a#b\"")]
        request.body = Array(String(repeating: "b", count: 200_000).utf8)
        let answer = try HTTPFetch.ask(
            request, at: .tcp(server.address), until: monotonicNow() + Self.patience)
        #expect(answer.status == 204)
        let seen = try #require(server.requests.first)
        #expect(
            seen.hasPrefix(
                "POST /control HTTP/1.1\r\nHost: 192.168.1.1:5000\r\nConnection: close\r\n"
                    + "SOAPAction: \"a#b\"\r\nContent-Length: 200000\r\n\r\nbbb"))
        #expect(seen.hasSuffix("bbb"))
    }

    @Test("a field with a line break is not sent")
    func split() throws {
        var request = HTTPFetch.Request("/", host: "h")
        request.fields = [("X", "a\r\nY: b")]
        #expect(throws: HTTPFetch.Failure.unfit) {
            try HTTPFetch.ask(request, at: .unix(path: "/nowhere"), until: monotonicNow() + .seconds(1))
        }
    }

    @Test("over a Unix socket, and where there is none")
    func unix() throws {
        let path = NSTemporaryDirectory() + "lk-\(UUID().uuidString.prefix(8)).sock"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let server = try LoopbackServer([.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")], path: path)
        let request = HTTPFetch.Request("/localapi/v0/status", host: "local")
        let answer = try HTTPFetch.ask(request, at: .unix(path: path), until: monotonicNow() + Self.patience)
        #expect(answer.body == Array("{}".utf8))
        server.end()
        #expect(throws: HTTPFetch.Failure.notReached(errno: ENOENT)) {
            try HTTPFetch.ask(request, at: .unix(path: path + "x"), until: monotonicNow() + Self.patience)
        }
    }

    @Test("nobody listens")
    func refused() throws {
        // Nobody but root may listen at so low a port, and nobody does.
        let closed = SocketAddress(ip: IPAddress(v4: 0x7F00_0001), port: 1)
        #expect(throws: HTTPFetch.Failure.notReached(errno: ECONNREFUSED)) {
            try HTTPFetch.ask(
                HTTPFetch.Request("/", host: "h"), at: .tcp(closed), until: monotonicNow() + Self.patience)
        }
    }

    @Test("the question leaves from the address that was chosen")
    func pinned() throws {
        let server = try LoopbackServer([.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")])
        defer { server.end() }
        let own = LocalEnd(ip: IPAddress(v4: 0x7F00_0702), interface: "lo")
        let answer = try HTTPFetch.ask(
            HTTPFetch.Request("/", host: "h"), at: .tcp(server.address, from: own),
            until: monotonicNow() + Self.patience)
        #expect(answer.status == 200)
        #expect(server.peers.first == own.ip)
        // An address of somebody else: nothing leaves.
        let foreign = LocalEnd(ip: IPAddress(v4: 0x0102_0304))
        #expect(throws: HTTPFetch.Failure.notReached(errno: EADDRNOTAVAIL)) {
            try HTTPFetch.ask(
                HTTPFetch.Request("/", host: "h"), at: .tcp(server.address, from: foreign),
                until: monotonicNow() + Self.patience)
        }
    }

    @Test("a raised flag ends the wait")
    func stopped() throws {
        let server = try LoopbackServer([.hold])
        defer { server.end() }
        let stop = try WakeUp()
        stop.signal()
        #expect(throws: HTTPFetch.Failure.silent) {
            try HTTPFetch.ask(
                HTTPFetch.Request("/", host: "h"), at: .tcp(server.address),
                until: monotonicNow() + Self.patience, stop: stop)
        }
    }
}
