// SPDX-License-Identifier: Apache-2.0

import APITypes
import Testing
import Wire

@testable import LatchkeyClient

@Suite("Event stream format")
struct ServerEventParserTests {
    static let stream =
        ": hello\n\nid: 7\nevent: device.paired\ndata: {\"a\":\ndata: 1}\n\n: keep alive\n\r\n"
        + "event:reset\r\ndata: {}\r\n\r\nid: 9\revent: x\rdata: {}\r\rretry: 5\n\ndata: {}\n\nid: 12\n"

    @Test("any split gives the same events")
    func splits() throws {
        let bytes = Array(Self.stream.utf8)
        let one = JSON.object([JSON.Member(key: "a", value: .integer(1))])
        let want = [
            EventEnvelope(id: 7, type: "device.paired", data: one),
            EventEnvelope(id: nil, type: "reset", data: .object([])),
            EventEnvelope(id: 9, type: "x", data: .object([])),
            EventEnvelope(id: nil, type: "message", data: .object([])),
        ]
        for cut in 0...bytes.count {
            var parser = ServerEventParser()
            var events = try parser.feed(Array(bytes[..<cut]))
            events += try parser.feed(Array(bytes[cut...]))
            #expect(events == want)
        }
    }

    @Test("an endless event is refused, endless comments are not")
    func bounds() throws {
        var parser = ServerEventParser()
        let comment = Array((":" + String(repeating: "x", count: 1000) + "\n").utf8)
        for _ in 0..<2000 { #expect(try parser.feed(comment).isEmpty) }
        let data = Array(("data: " + String(repeating: "x", count: 1000) + "\n").utf8)
        #expect(throws: ServerEventParser.TooLong.self) {
            for _ in 0..<2000 { _ = try parser.feed(data) }
        }
    }
}
