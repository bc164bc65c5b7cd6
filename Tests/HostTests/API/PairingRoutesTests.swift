// SPDX-License-Identifier: Apache-2.0

import APITypes
import LatchkeyClient
import Testing
import Wire

@testable import Host

@Suite("The pairing window over the API")
struct PairingRoutesTests {
    private static let path = "/v1/pairing/window"
    // For home alone it is ready at once, whatever networks the machine has.
    private static let home = "{\"remote\":false}"

    @Test("opens, shows, refuses another, closes, and says how it ended")
    func life() throws {
        let service = try RunningService()
        let none = try service.call("GET", Self.path)
        #expect(none.status == 404 && none.json["code"]?.string == "noWindow" && none.json["last"] == .null)
        let opened = try service.call("POST", Self.path, Self.home)
        #expect(opened.status == 201)
        let window = try Window(json: opened.json)
        #expect(
            window.openedBy == "admin" && window.triesLeft == 5 && !window.remote && window.addresses == [])
        #expect(TypedCode.isValid(window.code) && window.groupedCode == TypedCode.grouped(window.code))
        #expect(try PairingLink.parse(window.url).secret.count == 16)
        #expect(try service.call("POST", Self.path, Self.home).json["code"]?.string == "windowOpen")
        #expect(try Window(json: service.call("GET", Self.path).json) == window)
        let status = try Status(json: service.call("GET", "/v1/status").json)
        #expect(status.window.open?.triesLeft == 5)
        let replaced = try service.call("POST", Self.path + "?replace=true", Self.home)
        #expect(replaced.status == 201 && replaced.json["id"]?.string != window.id)
        #expect(try service.call("DELETE", Self.path).json["closed"]?.bool == true)
        #expect(try service.call("DELETE", Self.path).json["closed"]?.bool == false)
        let gone = try Problem(json: service.call("GET", Self.path).json)
        #expect(gone.last??.outcome == "cancelled")
    }

    @Test("a window for the remote door opens it and waits for it")
    func remote() throws {
        let service = try RunningService()
        #expect(try service.call("PATCH", "/v1/settings", "{\"remotePort\":0}").status == 200)
        let opened = try service.call("POST", Self.path)
        #expect(opened.status == 201)
        #expect(try Window(json: opened.json).remote)
        let doors = try Status(json: service.call("GET", "/v1/status").json)
        #expect(doors.remote.state == "open" && doors.remote.port != nil)
        #expect(try service.call("DELETE", Self.path).status == 200)
    }

    @Test("a streaming process opens one in its own name")
    func host() throws {
        let service = try RunningService()
        let client = try service.client(as: "host")
        let opened = try service.call(
            "POST", Self.path, "{\"remote\":false,\"requestedBy\":\" Game \\u0000\"}", by: client)
        let window = try Window(json: opened.json)
        #expect(window.openedBy == "host" && window.requestedBy == "Game")
        #expect(try service.call("DELETE", Self.path, by: client).json["closed"]?.bool == true)
    }

    static let bad = [
        "{\"lifetime\":29}", "{\"lifetime\":601}", "{\"lifetime\":\"300\"}", "{\"remote\":1}", "[]",
        "{\"requestedBy\":1}",
    ]

    @Test("what is not valid opens nothing", arguments: bad)
    func invalid(_ body: String) throws {
        let service = try RunningService()
        let answer = try service.call("POST", Self.path, body)
        #expect(answer.status == 400 && answer.json["code"]?.string == "invalidRequest")
        #expect(try service.call("GET", Self.path).status == 404)
    }

    @Test("draws the link three ways")
    func pictures() throws {
        let service = try RunningService()
        for picture in ["qr.svg", "qr.txt", "qr.json"] {
            #expect(try service.call("GET", "\(Self.path)/\(picture)").json["code"]?.string == "noWindow")
        }
        #expect(try service.call("POST", Self.path, Self.home).status == 201)
        let modules = try QRModules(json: service.call("GET", Self.path + "/qr.json").json)
        #expect(
            modules.rows.count == modules.size && modules.rows.allSatisfy { $0.utf8.count == modules.size })
        #expect(modules.quiet == 4 && modules.level == "M")
        #expect(try service.client.call(method: "GET", path: Self.path + "/qr.svg").body.contains("viewBox"))
        let text = try service.client.call(method: "GET", path: Self.path + "/qr.txt").body
        #expect(text.split(separator: "\n").count == (modules.size + 9) / 2)
    }

    @Test("its secrets are in no log, metric, status, event or audit row")
    func secrets() throws {
        let service = try RunningService()
        let window = try Window(json: service.call("POST", Self.path, Self.home).json)
        let link = try PairingLink.parse(window.url)
        var told = service.log
        for path in ["/v1/status", "/metrics", "/v1/audit", "/v1/sessions", "/healthz"] {
            told += try service.client.call(method: "GET", path: path).body
        }
        let tokens = [try service.token("admin"), try service.token("host")]
        for secret in [window.code, window.groupedCode, window.url, Base64URL.encode(link.secret)] + tokens {
            #expect(!told.contains(secret))
        }
    }

    @Test("quiet times and lockouts are cleared")
    func cleared() throws {
        let service = try RunningService()
        #expect(try service.call("DELETE", "/v1/pairing/quiet").json["cleared"]?.bool == true)
        for query in [
            "", "?source=192.168.1.20", "?source=2001:db8::1", "?device=23HFPR8JRVAXWESF",
            "?source=::1&device=23HFPR8JRVAXWESF",
        ] {
            #expect(try service.call("DELETE", "/v1/lockouts" + query).status == 200)
        }
        for query in ["?source=x", "?device=23HF"] {
            #expect(try service.call("DELETE", "/v1/lockouts" + query).status == 400)
        }
        #expect(try service.call("DELETE", "/v1/lockouts", by: service.client(as: "host")).status == 403)
    }
}
