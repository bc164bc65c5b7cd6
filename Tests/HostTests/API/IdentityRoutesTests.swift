// SPDX-License-Identifier: Apache-2.0

import APITypes
import LatchkeyClient
import Sockets
import Testing
import Wire

@testable import Host

@Suite("The identity over the API")
struct IdentityRoutesTests {
    private func identity(_ service: RunningService) throws -> Identity {
        try Identity(json: service.call("GET", "/v1/identity").json)
    }

    @Test("rotate gives another key and unpairs everybody")
    func rotate() throws {
        let service = try RunningService()
        try service.addDevices(3)
        #expect(
            try service.call("PATCH", "/v1/settings", #"{"requirePairing":false,"maxFPS":30}"#).status == 200)
        let window = try service.call("POST", "/v1/pairing/window", #"{"remote":false}"#)
        #expect(window.status == 201)
        let before = try identity(service)

        let answer = try service.call("POST", "/v1/identity/rotate", #"{"confirm":"\#(before.hostID)"}"#)
        #expect(answer.status == 200)
        let rotated = try IdentityRotated(json: answer.json)
        #expect(rotated.closedSessions == 0)
        #expect(try identity(service) == rotated.identity)
        #expect(rotated.identity.hostID != before.hostID && rotated.identity.publicKey != before.publicKey)
        #expect(rotated.identity.certificate != before.certificate && rotated.identity.name == before.name)
        #expect(rotated.identity.createdAt > before.createdAt)

        let status = try Status(json: service.call("GET", "/v1/status").json)
        #expect(status.hostID == rotated.identity.hostID && status.devices == 0)
        #expect(try service.call("GET", "/v1/devices").json["items"]?.array?.isEmpty == true)
        let last = try service.call("GET", "/v1/pairing/window").json["last"]
        #expect(last?["outcome"]?.string == "cancelled")
        let settings = try SettingsBody(json: service.call("GET", "/v1/settings").json)
        #expect(!settings.requirePairing && settings.maxFPS == 30)
        let info = try SignedHostInfo(
            payload: Array(service.client.call(method: "GET", path: "/v1/identity/host-info").body.utf8))
        #expect(Base64URL.encode(info.key) == rotated.identity.publicKey)
        #expect(try HostInfo(payload: info.info).macID == rotated.identity.hostID)

        let row = try service.call("GET", "/v1/audit?limit=1").json["items"]?.array?.first
        #expect(row?["action"]?.string == "identity.rotate" || row?["action"]?.string == "window.close")
        // The devices stay away until somebody says otherwise.
        let line = "{\"fingerprint\":\"\(RunningService.fingerprint(1))\",\"name\":\"x\"}\n"
        let skipped = try service.call("POST", "/v1/devices/import", line)
        #expect(skipped.json["removedSkipped"]?.array?.count == 1)
        let restored = try service.call("POST", "/v1/devices/import?restoreRemoved=true", line)
        #expect(restored.json["imported"]?.int == 1)
        // And once more, which nothing of the first holds up.
        let again = try service.call(
            "POST", "/v1/identity/rotate", #"{"confirm":"\#(rotated.identity.hostID)"}"#)
        #expect(again.status == 200)
        #expect(try identity(service).hostID != rotated.identity.hostID)
    }

    struct Refusal: Sendable {
        let body: String
        let status: Int
        let code: String
    }

    @Test(
        "what is refused changes nothing",
        arguments: [
            Refusal(body: #"{"confirm":"0000000000000000"}"#, status: 409, code: "confirmMismatch"),
            Refusal(body: #"{"confirm":""}"#, status: 409, code: "confirmMismatch"),
            Refusal(body: "{}", status: 400, code: "invalidRequest"),
            Refusal(body: #"{"confirm":true}"#, status: 400, code: "invalidRequest"),
            Refusal(body: "[", status: 400, code: "invalidRequest"),
        ])
    func refused(_ row: Refusal) throws {
        let service = try RunningService()
        try service.addDevices(1)
        let before = try identity(service)
        let answer = try service.call("POST", "/v1/identity/rotate", row.body)
        #expect(answer.status == row.status && answer.json["code"]?.string == row.code)
        #expect(answer.json["field"]?.string == (row.body == "[" ? nil : "confirm"))
        let asHost = try service.call(
            "POST", "/v1/identity/rotate", #"{"confirm":"\#(before.hostID)"}"#, by: service.client(as: "host")
        )
        #expect(asHost.status == 403)
        #expect(try identity(service) == before)
        #expect(try service.call("GET", "/v1/devices").json["items"]?.array?.count == 1)
    }

    @Test("the event carries the new identity and stands for every device's removal")
    func event() throws {
        let service = try RunningService()
        try service.addDevices(2)
        let before = try identity(service)
        #expect(
            try service.call("POST", "/v1/identity/rotate", #"{"confirm":"\#(before.hostID)"}"#).status == 200
        )
        // The rotation's answer comes before its events are written.
        let after = try identity(service)
        var stream = try service.client.events(since: 0)
        var events: [EventEnvelope] = []
        while !events.contains(where: { $0.type == "identity.rotated" }) {
            events += try #require(try stream.next(until: monotonicNow() + .seconds(10)))
        }
        let event = try #require(events.last { $0.type == "identity.rotated" })
        #expect(try Identity(json: event.data) == after)
        #expect(event.data["previousHostID"]?.string == before.hostID)
        #expect(event.data["removedDevices"]?.int == 2 && event.data["closedSessions"]?.int == 0)
        #expect(event.data["at"]?.string != nil)
        #expect(!events.contains { $0.type == "device.removed" })
    }
}
