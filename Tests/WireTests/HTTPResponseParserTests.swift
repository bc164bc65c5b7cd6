// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Wire

@Suite("HTTP answers")
struct HTTPResponseParserTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let bytes: String
        var status = 200
        var body = ""
        var reusable = true
        /// The end of the connection ends the body.
        var untilClose = false
    }

    static let rows = [
        Row(
            testDescription: "length", bytes: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
            body: "hello"),
        Row(testDescription: "length 0", bytes: "HTTP/1.1 404 No\r\ncontent-length:0\r\n\r\n", status: 404),
        Row(
            testDescription: "chunks, extension, trailer",
            bytes:
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n3;a=b\r\nabc\r\nA\r\n0123456789\r\n0\r\nX: y\r\n\r\n",
            body: "abc0123456789"),
        Row(testDescription: "204 has none", bytes: "HTTP/1.1 204 No Content\r\n\r\n", status: 204),
        Row(
            testDescription: "until close", bytes: "HTTP/1.1 200 OK\r\n\r\nrest", body: "rest",
            reusable: false,
            untilClose: true),
        Row(
            testDescription: "closing",
            bytes: "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx",
            body: "x", reusable: false),
        Row(
            testDescription: "1.0 is not kept", bytes: "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx",
            body: "x",
            reusable: false),
        Row(
            testDescription: "100 first",
            bytes: "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
            body: "ok"),
        Row(
            testDescription: "bare line feeds", bytes: "HTTP/1.1 200 OK\nContent-Length: 2\n\nok", body: "ok"),
    ]

    @Test("any split gives the same answer", arguments: rows)
    func splits(_ row: Row) throws {
        let bytes = Array(row.bytes.utf8)
        for cut in 0...bytes.count {
            var parser = HTTPResponseParser()
            var pieces = try parser.feed(bytes[..<cut])
            pieces += try parser.feed(bytes[cut...])
            if row.untilClose { pieces += try parser.finish() }
            var body: [UInt8] = []
            var ends: [Bool] = []
            var status = 0
            for piece in pieces {
                switch piece {
                case .head(let head): status = head.status
                case .body(let part): body += part
                case .end(let reusable): ends.append(reusable)
                }
            }
            #expect(status == row.status)
            #expect(String(decoding: body, as: UTF8.self) == row.body)
            #expect(ends == [row.reusable])
        }
    }

    @Test("a truncated answer is one that breaks off", arguments: rows)
    func truncated(_ row: Row) throws {
        let bytes = Array(row.bytes.utf8)
        let whole = row.untilClose ? 19 : bytes.count
        for cut in 0..<whole {
            var parser = HTTPResponseParser()
            _ = try parser.feed(bytes[..<cut])
            #expect(throws: HTTPResponseParser.Malformed(what: "it breaks off")) { _ = try parser.finish() }
        }
    }

    @Test(
        "what is no HTTP/1.1 is refused",
        arguments: [
            "SSH-2.0-x\r\n\r\n", "HTTP/2 200\r\n\r\n", "HTTP/1.1 99 X\r\n\r\n", "HTTP/1.1 2000 X\r\n\r\n",
            "HTTP/1.1 200 OK\r\nno colon\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nab",
            "HTTP/1.1 200 OK\r\nX: " + String(repeating: "a", count: 20000) + "\r\n\r\n",
            "HTTP/1.1 200 OK\r\n" + String(repeating: "X: y\r\n", count: 4000) + "\r\n",
        ])
    func malformed(_ text: String) {
        var parser = HTTPResponseParser()
        #expect(throws: HTTPResponseParser.Malformed.self) { _ = try parser.feed(Array(text.utf8)[...]) }
    }
}
