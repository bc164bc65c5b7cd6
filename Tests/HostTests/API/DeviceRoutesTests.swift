// SPDX-License-Identifier: Apache-2.0

import APITypes
import LatchkeyClient
import Testing
import Wire

@testable import Host

@Suite("Devices over the API")
struct DeviceRoutesTests {
    @Test("a list pages, sorts and filters")
    func list() throws {
        let service = try RunningService()
        try service.addDevices(5)
        let first = try service.call("GET", "/v1/devices?limit=2")
        #expect(first.json["items"]?.array?.compactMap { $0["name"]?.string } == ["Device 1", "Device 2"])
        let next = try #require(first.json["next"]?.string)
        let second = try service.call("GET", "/v1/devices?limit=10&after=\(next)")
        #expect(second.json["items"]?.array?.count == 3)
        #expect(second.json["next"] == .null)
        #expect(try service.call("GET", "/v1/devices?q=evice%204").json["items"]?.array?.count == 1)
        #expect(try service.call("GET", "/v1/devices?sort=pairedAt").status == 200)
        for bad in ["limit=0", "limit=x", "sort=colour", "after=%21"] {
            #expect(try service.call("GET", "/v1/devices?\(bad)").status == 400)
        }
    }

    @Test("an ID may be cut to four characters while it names one")
    func prefix() throws {
        let service = try RunningService()
        try service.addDevices(3)
        let id = try #require(service.call("GET", "/v1/devices").json["items"]?.array?.first?["id"]?.string)
        for length in [4, 8, 16] {
            let answer = try service.call("GET", "/v1/devices/\(id.prefix(length))")
            #expect(answer.status == 200 && answer.json["id"]?.string == id)
        }
        #expect(try service.call("GET", "/v1/devices/\(id.lowercased())").status == 200)
        for unknown in ["\(id.prefix(3))", "\(id)0", "ZZZZZZZZ", "%F0%9F%98%80", "..", "a%2Fb"] {
            let answer = try service.call("GET", "/v1/devices/\(unknown)")
            #expect(answer.status == 404 && answer.json["code"]?.string == "deviceNotFound")
        }
    }

    @Test("a name is cleaned, and an empty one refused")
    func rename() throws {
        let service = try RunningService()
        try service.addDevices(1)
        let id = try #require(service.call("GET", "/v1/devices").json["items"]?.array?.first?["id"]?.string)
        let path = "/v1/devices/\(id)"
        let answer = try service.call("PATCH", path, "{\"name\":\"  Ada's   phone\\u0007 \"}")
        #expect(answer.status == 200)
        #expect(try Device(json: answer.json).name == Label.clean("  Ada's   phone\u{7} "))
        for bad in ["{\"name\":\" \"}", "{\"name\":1}", "{}", "", "x"] {
            let refused = try service.call("PATCH", path, bad)
            #expect(refused.status == 400)
        }
        #expect(
            try service.call("PATCH", path, "{\"name\":\"x\"}", by: service.client(as: "host")).status == 403)
        #expect(try service.call("PATCH", "/v1/devices/ZZZZ", "{\"name\":\"x\"}").status == 404)
    }

    @Test("a removed device stays away until it is asked back")
    func removal() throws {
        let service = try RunningService()
        try service.addDevices(2)
        let items = try service.call("GET", "/v1/devices").json["items"]?.array ?? []
        let id = try #require(items.first?["id"]?.string)
        let removed = try service.call("DELETE", "/v1/devices/\(id)")
        #expect(removed.status == 200 && removed.json["closedSessions"]?.int == 0)
        #expect(try service.call("DELETE", "/v1/devices/\(id)").status == 404)
        let again = try service.call(
            "POST", "/v1/devices/import",
            "{\"fingerprint\":\"\(RunningService.fingerprint(1))\",\"name\":\"Back\"}")
        let skipped = try ImportResult(json: again.json)
        #expect(skipped == ImportResult(imported: 0, updated: 0, removedSkipped: [id]))
        let restored = try service.call(
            "POST", "/v1/devices/import?restoreRemoved=true",
            "{\"fingerprint\":\"\(RunningService.fingerprint(1))\",\"name\":\"Back\"}")
        #expect(try ImportResult(json: restored.json).imported == 1)
        #expect(try service.call("GET", "/v1/devices/\(id)").json["name"]?.string == "Back")
    }

    @Test("an import is all or nothing and says which line is wrong")
    func importLines() throws {
        let service = try RunningService()
        let good = "{\"fingerprint\":\"\(RunningService.fingerprint(9))\",\"name\":\"Nine\",\"later\":[1]}"
        for bad in [
            "{", "[]", "{\"name\":\"x\"}", "{\"fingerprint\":\"AA\",\"name\":\"x\"}",
            "{\"fingerprint\":\"\(RunningService.fingerprint(8))\",\"name\":\" \"}",
            "{\"fingerprint\":\"\(RunningService.fingerprint(8))\",\"name\":\"x\",\"pairedAt\":\"soon\"}",
            // Fifty times its weight once it is read.
            good.dropLast() + ",\"more\":[" + String(repeating: "{\"\":0},", count: 9_400) + "0]}",
        ] {
            let answer = try service.call("POST", "/v1/devices/import", "\(good)\n\n\(bad)\n")
            #expect(answer.status == 400)
            #expect(answer.json["detail"]?.string?.contains("line 3") == true)
        }
        #expect(try service.call("GET", "/v1/devices").json["items"]?.array == [])
        let twice = try service.call("POST", "/v1/devices/import", "\(good)\r\n\(good)\n")
        #expect(try ImportResult(json: twice.json).imported == 1)
        #expect(try service.call("POST", "/v1/devices/import", "").status == 200)
    }

    @Test("an export is an import, and carries no USB serial")
    func export() throws {
        let service = try RunningService()
        try service.addDevices(3)
        let lines = try service.client.call(method: "GET", path: "/v1/devices/export")
        #expect(lines.status == 200)
        #expect(lines.body.split(separator: "\n").count == 3)
        #expect(!lines.body.contains("cable"))
        let other = try RunningService()
        let result = try other.call("POST", "/v1/devices/import", lines.body)
        #expect(try ImportResult(json: result.json).imported == 3)
    }
}
