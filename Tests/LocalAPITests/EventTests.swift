// SPDX-License-Identifier: Apache-2.0

@testable import LocalAPI
import Sockets
import Testing
import Wire

@Suite("The event ring")
struct EventRingTests {
    static func ring(first: Int64 = 100, events: Int, capacity: Int = 3) -> EventRing {
        var ring = EventRing(firstID: first, capacity: capacity)
        for number in 0..<events { ring.append(type: "t", data: Array("\(number)".utf8)) }
        return ring
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let events: Int
        let lastSeen: String?
        let start: EventRing.Start
    }

    // Three are kept of IDs from 100 on.
    static let rows = [
        Row(testDescription: "new events only", events: 2, lastSeen: nil, start: .after(101)),
        Row(testDescription: "nothing yet", events: 0, lastSeen: nil, start: .after(99)),
        Row(testDescription: "the newest", events: 2, lastSeen: "101", start: .after(101)),
        Row(testDescription: "the oldest kept", events: 5, lastSeen: "102", start: .after(102)),
        Row(testDescription: "just gone", events: 5, lastSeen: "101", start: .resetThenAfter(101)),
        Row(testDescription: "long gone", events: 5, lastSeen: "7", start: .resetThenAfter(101)),
        Row(testDescription: "from the future", events: 5, lastSeen: "9000", start: .resetThenAfter(104)),
        Row(testDescription: "never had any", events: 0, lastSeen: "50", start: .resetThenAfter(99)),
        Row(testDescription: "no number", events: 5, lastSeen: "x", start: .resetThenAfter(101)),
        Row(
            testDescription: "too large a number", events: 2, lastSeen: "99999999999999999999",
            start: .resetThenAfter(99)),
    ]

    @Test("where a client goes on", arguments: rows)
    func start(_ row: Row) {
        #expect(Self.ring(events: row.events).start(lastSeen: row.lastSeen) == row.start)
    }

    @Test("reads in order over the wrap", arguments: 0..<10)
    func order(_ events: Int) {
        let ring = Self.ring(events: events)
        var cursor = ring.firstKeptID - 1
        var out: [UInt8] = []
        #expect(ring.read(after: &cursor, into: &out, limit: .max))
        #expect(cursor == ring.lastID)
        let want = (max(0, events - 3)..<events).flatMap {
            EventFrame.encode(id: 100 + Int64($0), type: "t", data: Array("\($0)".utf8))
        }
        #expect(out == want)
    }

    @Test("a reader that fell out of the ring is told")
    func tooSlow() {
        let ring = Self.ring(events: 5)
        var cursor: Int64 = 100
        var out: [UInt8] = []
        #expect(!ring.read(after: &cursor, into: &out, limit: .max))
        cursor = 101
        #expect(ring.read(after: &cursor, into: &out, limit: 1))
        #expect(cursor == 102)
    }
}

@Suite("One event stream")
struct EventStreamTests {
    private let hub = EventHub(firstID: 1)
    private let start = MonotonicTime(nanoseconds: 0)

    private func stream(lastSeen: String? = nil) -> EventStream {
        EventStream(hub.subscribe(lastSeen: lastSeen, resetData: [0x7B, 0x7D]), now: start)
    }

    private func drain(_ stream: EventStream) -> String {
        var text: [UInt8] = []
        while stream.step() == .send {
            text += stream.block[stream.offset...]
            stream.sent(stream.block.count - stream.offset, now: start)
        }
        return String(decoding: text, as: UTF8.self)
    }

    @Test("begins with a comment, sleeps, wakes for an event")
    func sleeps() {
        let stream = stream()
        #expect(drain(stream) == ":\n\n")
        #expect(stream.step() == .sleep)
        hub.publish(type: "a", data: [0x7B, 0x7D])
        #expect(drain(stream) == "id: 1\nevent: a\ndata: {}\n\n")
    }

    @Test("a comment only when there is nothing better")
    func comment() {
        let stream = stream()
        _ = drain(stream)
        stream.oweComment()
        #expect(drain(stream) == ":\n\n")
        stream.oweComment()
        hub.publish(type: "a", data: [0x7B, 0x7D])
        #expect(drain(stream) == "id: 1\nevent: a\ndata: {}\n\n")
        #expect(stream.step() == .sleep)
        #expect(stream.commentDue == start + .seconds(15))
    }

    @Test("a gap begins with a reset")
    func reset() {
        hub.publish(type: "a", data: [0x7B, 0x7D])
        #expect(drain(stream(lastSeen: "9")) == "event: reset\ndata: {}\n\n")
        #expect(drain(stream(lastSeen: "0")) == "event: reset\ndata: {}\n\nid: 1\nevent: a\ndata: {}\n\n")
    }

    @Test("a client a thousand events behind is dropped, one less is not")
    func slow() {
        let behind = stream()
        _ = drain(behind)
        for _ in 0..<1000 { hub.publish(type: "a", data: [0x7B, 0x7D]) }
        #expect(behind.step() == .send)
        let dropped = EventStream(EventSubscription(hub: hub, cursor: 0, preamble: []), now: start)
        hub.publish(type: "a", data: [0x7B, 0x7D])
        #expect(dropped.step() == .breakOff)
    }

    @Test("ends after what it has begun to send")
    func ends() {
        let stream = stream()
        stream.end()
        #expect(drain(stream) == ":\n\n")
        #expect(stream.step() == .end)
    }
}

@Suite("Events over HTTP")
struct EventsOverHTTPTests {
    @Test("new events, in order, from any thread")
    func streams() throws {
        let server = try TestServer()
        server.events.publish(type: "old", data: Array("{}".utf8))
        let client = try RawClient(port: server.port)
        client.send(server.request("GET", "/v1/events", token: "host-token"))
        let head = try client.read(through: ":\n\n")
        #expect(head.contains("Content-Type: text/event-stream"))
        for number in 1...50 { server.events.publish(type: "n", data: Array("{\"n\":\(number)}".utf8)) }
        let text = try client.read(through: "{\"n\":50}")
        #expect(!text.contains("old"))
        #expect(text.contains("id: 1001\nevent: n\ndata: {\"n\":1}\n\n"))
        #expect(text.contains("id: 1050\nevent: n\ndata: {\"n\":50}"))
    }

    @Test("resumes after an ID, resets after a gap")
    func resumes() throws {
        let server = try TestServer()
        for number in 0..<3 { server.events.publish(type: "n", data: Array("{\"n\":\(number)}".utf8)) }
        let resumed = try RawClient(port: server.port)
        resumed.send(server.request("GET", "/v1/events", headers: ["Last-Event-ID: 1001"]))
        let text = try resumed.read(through: "{\"n\":2}")
        #expect(text.contains("id: 1002") && !text.contains("id: 1001") && !text.contains("reset"))
        let reset = try RawClient(port: server.port)
        reset.send(server.request("GET", "/v1/events", headers: ["last-event-id: 5"]))
        let again = try reset.read(through: "{\"n\":2}")
        #expect(again.contains("event: reset\ndata: {}\n\n") && again.contains("id: 1000\n"))
    }

    @Test("a client that does not read is dropped, and holds up nobody")
    func slowClient() throws {
        let server = try TestServer()
        let slow = try RawClient(port: server.port)
        slow.send(server.request("GET", "/v1/events"))
        _ = try slow.read(through: ":\n\n")
        let data = Array("{\"fill\":\"\(String(repeating: "x", count: 16_000))\"}".utf8)
        for _ in 0..<3_000 { server.events.publish(type: "n", data: data) }
        #expect(try server.call("GET", "/healthz").status == 200)
        // The kernel's buffers hold some of it; after that the stream breaks off without its end.
        let end = try slow.readToEnd()
        #expect(!end.contains("id: 3999\n") && !end.hasSuffix("0\r\n\r\n"))
    }

    @Test("HEAD of a stream ends")
    func head() throws {
        let server = try TestServer()
        let client = try RawClient(port: server.port)
        client.send(server.request("HEAD", "/v1/events") + server.request("GET", "/healthz"))
        #expect(try client.response(head: true)["content-type"] == "text/event-stream")
        #expect(try client.response().status == 200)
    }
}
