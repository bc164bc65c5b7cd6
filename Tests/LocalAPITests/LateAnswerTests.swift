// SPDX-License-Identifier: Apache-2.0

import APITypes
import LocalAPI
import Testing
import Wire

@Suite("Late answers")
struct LateAnswerTests {
    @Test("another thread answers, while the server serves others")
    func later() throws {
        let server = try TestServer()
        let client = try RawClient(port: server.port)
        client.send(server.request("GET", "/v1/later") + server.request("GET", "/v1/echo"))
        let responder = try #require(server.pending.next())
        #expect(try server.call("GET", "/healthz").status == 200)
        responder.send(Health(reasons: ["late"]), status: 503)
        responder.send(Health(reasons: []))
        #expect(try client.response().status == 503)
        #expect(try client.response().status == 200)
    }

    @Test("the server makes a promised answer on its own thread")
    func promised() throws {
        let server = try TestServer()
        let client = try RawClient(port: server.port)
        client.send(server.request("GET", "/v1/later"))
        let responder = try #require(server.pending.next())
        responder.send(later: { .object(Health(reasons: [])) })
        #expect(try client.response().body == "{\"status\":\"ok\"}")
    }

    @Test("a client that left does not matter")
    func clientLeft() throws {
        let server = try TestServer()
        var client: RawClient? = try RawClient(port: server.port)
        client?.send(server.request("GET", "/v1/later"))
        let responder = try #require(server.pending.next())
        client = nil
        responder.send(Health(reasons: []))
        #expect(try server.call("GET", "/healthz").status == 200)
    }

    @Test("a stop answers what waits and ends streams")
    func stop() throws {
        let server = try TestServer()
        let waiting = try RawClient(port: server.port)
        waiting.send(server.request("GET", "/v1/later"))
        _ = try #require(server.pending.next())
        let stream = try RawClient(port: server.port)
        stream.send(server.request("GET", "/v1/events"))
        _ = try stream.read(through: ":\n\n")
        server.server.stop()
        #expect(try waiting.response().code == "unavailable")
        _ = try stream.read(through: "0\r\n\r\n")
        #expect(throws: (any Error).self) { try RawClient(port: server.port) }
        server.server.stop()
    }

    @Test("only the first answer counts")
    func once() {
        let responder = Responder()
        #expect(responder.taken == nil)
        responder.send(Health(reasons: []))
        responder.refuse(Problem(500, "x", "x", detail: "x"))
        #expect(responder.taken?.status == 200)
        responder.send(Health(reasons: []))
        #expect(responder.taken == nil)
    }
}
