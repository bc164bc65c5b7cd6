// SPDX-License-Identifier: Apache-2.0

import APITypes
import Sockets
import Testing
import Wire

@testable import LatchkeyClient

@Suite("API client")
struct ClientTests {
    @Test("a chunked answer in small pieces")
    func chunked() throws {
        let body = Fixtures.ipad
        let half = body.utf8.count / 2
        let first = String(decoding: body.utf8.prefix(half), as: UTF8.self)
        let second = String(decoding: body.utf8.dropFirst(half), as: UTF8.self)
        let service = try FakeService([
            "GET /v1/devices/7K3Q": [
                .raw(
                    "HTTP/1.1 200 OK\r\nTransfer-Enc", "oding: chunked\r\n\r\n",
                    "\(String(half, radix: 16))\r\n\(first)\r\n",
                    "\(String(body.utf8.count - half, radix: 16))\r\n\(second)\r\n0\r\n", "\r\n")
            ]
        ])
        defer { service.stop() }
        let reply = try Client(.unix(path: service.path)).device("7K3Q")
        #expect(reply.value.name == "Anna's iPad")
        #expect(reply.body == Array(body.utf8))
    }

    @Test("a problem document is a refusal with its code; anything else one with its status")
    func problems() throws {
        let service = try FakeService([
            "GET /v1/status": [
                .problem(503, "storeUnavailable", "The disk is full"),
                .raw("HTTP/1.1 431 Too Large\r\nContent-Length: 6\r\n\r\n<html>"),
            ]
        ])
        defer { service.stop() }
        let client = Client(.unix(path: service.path))
        let first = #expect(throws: ClientError.self) { try client.status() }
        guard case .refused(let problem) = first else {
            Issue.record("not refused")
            return
        }
        #expect(problem.code == "storeUnavailable")
        #expect(problem.detail == "The disk is full")
        let second = #expect(throws: ClientError.self) { try client.status() }
        guard case .refused(let plain) = second else {
            Issue.record("not refused")
            return
        }
        #expect(plain.status == 431)
        #expect(plain.detail == "the service answered with status 431")
    }

    @Test(
        "a connection that is cut is said to be so",
        arguments: ["", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{", "HTTP/1.1 200 OK\r\nContent-Le"])
    func cut(_ text: String) throws {
        let service = try FakeService(["GET /v1/status": [.raw(text)]])
        defer { service.stop() }
        let error = #expect(throws: ClientError.self) { try Client(.unix(path: service.path)).status() }
        guard case .broken = error else {
            Issue.record("not broken: \(String(describing: error))")
            return
        }
    }

    @Test("a body that is not the API's is refused with the member that is wrong")
    func shape() throws {
        let service = try FakeService(["GET /v1/status": [.json(200, #"{"version":3}"#)]])
        defer { service.stop() }
        let error = #expect(throws: ClientError.self) { try Client(.unix(path: service.path)).status() }
        #expect(error?.message.contains("version") == true)
    }

    @Test("nobody there")
    func notRunning() {
        let error = #expect(throws: ClientError.self) {
            try Client(.unix(path: "/nonexistent/api.sock")).status()
        }
        #expect(error == .notRunning(endpoint: "/nonexistent/api.sock"))
    }

    @Test("one connection carries several calls, and a call on one that lay idle too long is made again")
    func keepAlive() throws {
        let status = FakeService.Reply.json(200, Fixtures.status)
        var closing = status
        closing.closes = true
        let service = try FakeService(["GET /v1/status": [status, closing, status]])
        defer { service.stop() }
        let client = Client(.unix(path: service.path))
        for _ in 0..<3 { #expect(try client.status().value.devices == 2) }
        #expect(service.connections == 2)
    }

    @Test("a call that changes something is never made twice")
    func noRepeat() throws {
        let service = try FakeService([
            "GET /v1/status": [.json(200, Fixtures.status)], "DELETE /v1/pairing/window": [.raw("")],
        ])
        defer { service.stop() }
        let client = Client(.unix(path: service.path))
        _ = try client.status()
        #expect(throws: ClientError.self) { try client.closeWindow() }
        #expect(service.asked.map(\.line).filter { $0.hasPrefix("DELETE") }.count == 1)
    }

    @Test("all pages of a list, and a list that does not move on")
    func pages() throws {
        let service = try FakeService([
            "GET /v1/devices": [
                .json(200, Fixtures.list(Fixtures.ipad, next: #""a b""#)),
                .json(200, Fixtures.list(Fixtures.phone)),
                .json(200, Fixtures.list(Fixtures.phone, next: #""x""#)),
            ]
        ])
        defer { service.stop() }
        let client = Client(.unix(path: service.path))
        let list = try client.devices(named: "é")
        #expect(list.items.map(\.name) == ["Anna's iPad", "Phone"])
        #expect(list.json[0]["colour"]?.string == "blue")
        #expect(
            service.asked.map(\.line) == [
                "GET /v1/devices?q=%C3%A9&limit=1000 HTTP/1.1",
                "GET /v1/devices?q=%C3%A9&limit=1000&after=a%20b HTTP/1.1",
            ])
        #expect(throws: ClientError.self) { try client.devices() }
    }

    @Test("events resume after the last one that was seen")
    func resume() throws {
        let service = try FakeService([:])
        defer { service.stop() }
        service.push([
            Fixtures.event(41, "device.seen", "{}"), Fixtures.event(42, "device.seen", "{}"), FakeService.cut,
            Fixtures.event(43, "device.seen", "{}"),
        ])
        let client = Client(.unix(path: service.path))
        var stream = try client.events()
        var ids: [Int64?] = []
        let deadline = monotonicNow() + .seconds(20)
        while ids.count < 2 { ids += (try stream.next(until: deadline) ?? []).map(\.id) }
        // The service is gone in the middle of a chunked answer: an end, whatever form it takes.
        let rest = try? stream.next(until: deadline)
        #expect(rest == nil)
        #expect(stream.lastID == 42)
        var again = try client.events(since: stream.lastID)
        #expect(try again.next(until: deadline)?.map(\.id) == [43])
        #expect(service.asked.map { $0.fields["last-event-id"] } == [nil, "42"])
    }

    @Test("events that are refused are refused")
    func eventsRefused() throws {
        let service = try FakeService(["GET /v1/events": [.problem(403, "forbidden", "not you")]])
        defer { service.stop() }
        do {
            _ = try Client(.unix(path: service.path)).events()
            Issue.record("not refused")
        } catch {
            guard case .refused(let problem) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(problem.code == "forbidden")
        }
    }

    @Test("a token travels in its field, and in no description")
    func token() throws {
        let endpoint = try #require(Endpoint.url("http://[::1]:7456/", token: "secret"))
        let text = String(decoding: Request(.get, "/v1/status").encode(for: endpoint), as: UTF8.self)
        #expect(
            text == "GET /v1/status HTTP/1.1\r\nHost: [::1]:7456\r\nAuthorization: Bearer secret\r\n\r\n")
        #expect("\(endpoint)" == "http://[::1]:7456")
    }

    @Test(
        "what is no address of the API",
        arguments: [
            "https://127.0.0.1:7456", "127.0.0.1:7456", "http://127.0.0.1", "http://:7456", "http://a b:1",
            "http://h:0", "http://h:70000", "http://h:1/v1", "http://h\r\nX: y:1",
        ])
    func badURLs(_ text: String) { #expect(Endpoint.url(text, token: "t") == nil) }

    @Test("a token that could end the header line is refused")
    func badToken() { #expect(Endpoint.url("http://127.0.0.1:1", token: "a\r\nb") == nil) }

    @Test("the plain call gives error answers as answers")
    func plainCall() throws {
        let service = try FakeService(["GET /v1/x": [.problem(404, "notFound", "no")]])
        defer { service.stop() }
        let answer = try Client(.unix(path: service.path)).call(method: "GET", path: "/v1/x?a=b")
        #expect(answer.status == 404)
        #expect(throws: CallFailure.self) {
            _ = try Client(.unix(path: service.path)).call(method: "GET", path: "/v1/x HTTP/1.1\r\n")
        }
    }
}
