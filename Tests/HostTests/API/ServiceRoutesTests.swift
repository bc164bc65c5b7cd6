// SPDX-License-Identifier: Apache-2.0

import APITypes
import LatchkeyClient
import Sockets
import Testing
import Wire

@testable import Host

@Suite("The service over the API")
struct ServiceRoutesTests {
    @Test("says who and how it is")
    func reads() throws {
        let service = try RunningService()
        let client = try service.client(as: "host")
        #expect(try service.call("GET", "/healthz", by: client).json["status"]?.string == "ok")
        let status = try Status(json: service.call("GET", "/v1/status", by: client).json)
        let identity = try Identity(json: service.call("GET", "/v1/identity", by: client).json)
        #expect(status.hostID == identity.hostID && status.name == identity.name)
        #expect(status.window.open == nil && status.devices == 0 && status.sessions == 0)
        let fingerprint = try #require(Fingerprint(base64url: identity.fingerprint))
        #expect(fingerprint.id.text == identity.hostID && fingerprint.shortName == identity.shortName)
        #expect(Base64URL.decode(identity.publicKey)?.count == 65)
        let hostInfo = try service.client.call(method: "GET", path: "/v1/identity/host-info").body
        let signed = try SignedHostInfo(payload: Array(hostInfo.utf8))
        #expect(try HostInfo(payload: signed.info).macID == identity.hostID)
        #expect(try service.call("GET", "/v1/openapi.json", by: client).json["openapi"]?.string == "3.1.0")
        #expect(try service.call("GET", "/metrics", by: client).status == 403)
    }

    @Test("the lock follows what it is told")
    func lock() throws {
        let service = try RunningService()
        for locked in [true, false] {
            let answer = try service.call("PUT", "/v1/lock", "{\"locked\":\(locked)}")
            #expect(answer.json["locked"]?.bool == locked)
            let status = try Status(json: service.call("GET", "/v1/status").json)
            #expect(status.lock == (locked ? "locked" : "unlocked"))
        }
        #expect(try service.call("PUT", "/v1/lock", "{\"locked\":\"yes\"}").json["field"]?.string == "locked")
    }

    @Test("settings change whole or not at all")
    func settings() throws {
        let service = try RunningService()
        let before = try SettingsBody(json: service.call("GET", "/v1/settings").json)
        for bad in [
            "{\"maxFPS\":30,\"colour\":1}", "{\"maxFPS\":30,\"home\":{\"bitrate\":1}}", "{\"maxFPS\":\"30\"}",
            "{\"maxFPS\":121}", "{\"away\":{\"captureScale\":3}}", "{\"remotePort\":80}",
        ] {
            let answer = try service.call("PATCH", "/v1/settings", bad)
            #expect(answer.status == 400 && answer.json["code"]?.string == "invalidSetting")
            #expect(answer.json["field"]?.string != nil)
        }
        #expect(try service.call("PATCH", "/v1/settings", "[]").status == 400)
        #expect(try SettingsBody(json: service.call("GET", "/v1/settings").json) == before)
        let change = "{\"maxFPS\":30,\"away\":{\"bitrate\":2000000},\"addressName\":\"home.example:7000\"}"
        let after = try SettingsBody(json: service.call("PATCH", "/v1/settings", change).json)
        #expect(
            after.maxFPS == 30 && after.away.bitrate == 2_000_000 && after.addressName == "home.example:7000")
        #expect(after.away.captureScale == before.away.captureScale && after.home == before.home)
        #expect(try service.call("PATCH", "/v1/settings", "{}").status == 200)
        let cleared = try service.call("PATCH", "/v1/settings", "{\"addressName\":\"\"}")
        #expect(try SettingsBody(json: cleared.json).addressName == nil)
        #expect(
            try service.call("PATCH", "/v1/settings", change, by: service.client(as: "host")).status == 403)
    }

    @Test("the command line's settings hold for the run")
    func overridden() throws {
        let service = try RunningService("--name", "Desk", "--remote-port", "0")
        let settings = try SettingsBody(json: service.call("GET", "/v1/settings").json)
        #expect(settings.name == "Desk" && settings.overridden == ["name", "remotePort"])
        let answer = try service.call("PATCH", "/v1/settings", "{\"name\":\"Desk\",\"maxFPS\":30}")
        #expect(answer.status == 409 && answer.json["code"]?.string == "overridden")
        #expect(try service.call("PATCH", "/v1/settings", "{\"maxFPS\":30}").status == 200)
    }

    @Test("audit rows say who did what, newest first, in pages")
    func audit() throws {
        let service = try RunningService()
        try service.addDevices(1)
        #expect(
            try service.call("PATCH", "/v1/settings", "{\"maxFPS\":30}", by: service.client(as: "admin"))
                .status == 200)
        let first = try AuditPage(json: service.call("GET", "/v1/audit?limit=1").json)
        #expect(first.items.first?.action == "settings.change" && first.items.first?.actor == "token:admin")
        let next = try #require(first.next)
        let rest = try AuditPage(json: service.call("GET", "/v1/audit?after=\(next)").json)
        #expect(rest.items.first?.action == "device.import")
        #expect(rest.items.first?.actor.hasPrefix("unix:") == true)
        #expect(rest.items.allSatisfy { $0.id < first.items[0].id })
        #expect(try service.call("GET", "/v1/audit?after=x").status == 400)
        #expect(try service.call("GET", "/v1/audit", by: service.client(as: "host")).status == 403)
    }

    @Test("nobody is there")
    func noSessions() throws {
        let service = try RunningService()
        #expect(try service.call("GET", "/v1/sessions").json["items"]?.array == [])
        #expect(try service.call("GET", "/v1/sessions/x").json["code"]?.string == "sessionNotFound")
        #expect(try service.call("POST", "/v1/sessions/x/close").json["code"]?.string == "sessionNotFound")
        #expect(try service.call("POST", "/v1/sessions/x/close", "{\"message\":1}").status == 400)
        #expect(
            try service.call("GET", "/v1/whois?remote=1.2.3.4:5").json["code"]?.string == "noSuchConnection")
        for bad in ["", "?remote=", "?remote=1.2.3.4", "?remote=x:1"] {
            #expect(try service.call("GET", "/v1/whois\(bad)").status == 400)
        }
    }

    @Test("changes are told as events with the changed object")
    func events() throws {
        let service = try RunningService()
        try service.addDevices(1)
        let id = try #require(service.call("GET", "/v1/devices").json["items"]?.array?.first?["id"]?.string)
        var stream = try service.client.events()
        #expect(try service.call("PATCH", "/v1/devices/\(id)", "{\"name\":\"Ada\"}").status == 200)
        #expect(try service.call("POST", "/v1/pairing/window", "{\"remote\":false}").status == 201)
        #expect(try service.call("DELETE", "/v1/pairing/window").status == 200)
        #expect(try service.call("PUT", "/v1/lock", "{\"locked\":false}").status == 200)
        #expect(try service.call("PATCH", "/v1/settings", "{\"maxFPS\":30}").status == 200)
        #expect(try service.call("DELETE", "/v1/devices/\(id)").status == 200)
        var seen: [EventEnvelope] = []
        let deadline = monotonicNow() + .seconds(20)
        while !seen.contains(where: { $0.type == "device.removed" }) {
            guard let more = try stream.next(until: deadline), !more.isEmpty else { break }
            seen += more
        }
        let types = seen.map(\.type)
        for type in [
            "device.renamed", "pairing.opened", "pairing.closed", "settings.changed", "device.removed",
        ] {
            #expect(types.contains(type))
        }
        for event in seen { #expect(event.data["at"]?.string.flatMap { WallTime(rfc3339: $0) } != nil) }
        let renamed = try #require(seen.first { $0.type == "device.renamed" })
        #expect(try Device(json: renamed.data).name == "Ada")
        let closed = try #require(seen.first { $0.type == "pairing.closed" })
        #expect(closed.data["outcome"]?.string == "cancelled" && closed.data["device"] == .null)
        let ids = seen.compactMap(\.id)
        #expect(ids == ids.sorted() && Set(ids).count == seen.count)
    }

    @Test("metrics count, and name nobody")
    func metrics() throws {
        let service = try RunningService()
        try service.addDevices(1)
        _ = try service.call("GET", "/v1/devices")
        let page = try service.client.call(method: "GET", path: "/metrics").body
        #expect(page.contains("latchkey_devices 1\n"))
        #expect(page.contains("# TYPE latchkey_store_commit_seconds histogram\n"))
        #expect(page.contains("latchkey_admissions_total{door=\"home\",decision=\"session\"} 0\n"))
        #expect(!page.contains("Device 1"))
        // What the server counts arrives here, and so do the sessions' bytes.
        #expect(page.contains("latchkey_api_responses_total{status=\"200\"} "))
        #expect(page.contains("latchkey_api_request_seconds_count{method=\"GET\",path=\"/v1/devices\"} 1\n"))
        #expect(page.contains("latchkey_session_bytes_total{direction=\"out\"} 0\n"))
        let open = try RunningService("--metrics-open")
        #expect(try open.call("GET", "/metrics", by: open.client(as: "host")).status == 200)
    }
}
