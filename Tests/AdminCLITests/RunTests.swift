// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import Wire

@testable import AdminCLI

@Suite("Commands against a service")
struct RunTests {
    @Test("list, for a person and for a program")
    func list() throws {
        let service = try FakeService(["GET /v1/devices": [.json(200, Fixtures.list(Fixtures.ipad))]])
        defer { service.stop() }
        let console = TestConsole()
        #expect(console.run("list", "--socket", service.path) == 0)
        #expect(console.output.hasPrefix("ID "))
        #expect(console.output.contains("Anna's iPad"))
        let program = TestConsole()
        #expect(program.run("--socket", service.path, "devices", "--json") == 0)
        #expect(program.output == "[\(Fixtures.ipad)]\n")
    }

    @Test("status in JSON is the API's own body")
    func status() throws {
        let service = try FakeService(["GET /v1/status": [.json(200, Fixtures.status)]])
        defer { service.stop() }
        let console = TestConsole()
        #expect(console.run("status", "--json", "--socket", service.path) == 0)
        #expect(console.output == Fixtures.status + "\n")
        console.outputIsTerminal = true
        #expect(console.run("status", "--socket", service.path) == 0)
        #expect(console.output.contains("\u{1B}[32mopen, port 54021\u{1B}[0m"))
        for quiet in [["--no-color"], []] {
            let plain = TestConsole()
            plain.outputIsTerminal = true
            if quiet.isEmpty { plain.environment["NO_COLOR"] = "1" }
            #expect(AdminCLI.run(["status", "--socket", service.path] + quiet, plain.console) == .done)
            #expect(!plain.output.contains("\u{1B}"))
        }
    }

    @Test("quality names the devices for a person, and asks once for a program")
    func quality() throws {
        let service = try FakeService([
            "GET /v1/quality": [.json(200, Fixtures.quality)],
            "GET /v1/sessions": [.json(200, Fixtures.list(Fixtures.session))],
        ])
        defer { service.stop() }
        let console = TestConsole()
        #expect(console.run("quality", "--socket", service.path) == 0)
        #expect(console.output.contains("Anna's iPad  the home pair"))
        let program = TestConsole()
        #expect(program.run("quality", "--json", "--socket", service.path) == 0)
        #expect(program.output == Fixtures.quality + "\n")
    }

    @Test("no service anywhere: 3, saying where it looked and how to start it")
    func notRunning() {
        let console = TestConsole()
        console.environment = ["XDG_RUNTIME_DIR": "/nonexistent/r", "HOME": "/nonexistent"]
        #expect(console.run("status") == 3)
        #expect(
            console.errors == """
                latchkey: the service is not running
                  Tried: /nonexistent/r/latchkey/api.sock, /nonexistent/.local/state/latchkey/run/api.sock, /run/latchkey/api.sock
                  Start it with: systemctl start latchkeyd (or run latchkeyd in a terminal)
                  If it runs with a --runtime-dir of its own, name its socket: --socket RUNTIME/api.sock

                """)
        #expect(console.output.isEmpty)
    }

    @Test("show, by a prefix that means several: 5 with the candidates; by none: 4")
    func ambiguous() throws {
        let service = try FakeService([
            "GET /v1/devices/7K3Q": [.problem(409, "ambiguousDevice", "two", more: #","candidates":[]"#)],
            "GET /v1/devices": [.json(200, Fixtures.list(Fixtures.ipad, Fixtures.phone))],
            "GET /v1/devices/7K3QZ": [.json(200, Fixtures.phone)],
            "GET /v1/devices/7K3QZZZZZZZZ0000": [.json(200, Fixtures.phone)],
        ])
        defer { service.stop() }
        let console = TestConsole()
        #expect(console.run("show", "7K3Q", "--socket", service.path) == 5)
        #expect(console.errors.contains("  7K3QABCDEFGH2345  Anna's iPad\n  7K3QZZZZZZZZ0000  Phone\n"))
        #expect(console.run("show", "nobody", "--socket", service.path) == 4)
        #expect(console.run("show", "Phone", "--json", "--socket", service.path) == 0)
        #expect(console.output == Fixtures.phone + "\n")
    }

    @Test("rename")
    func rename() throws {
        let service = try FakeService([
            "GET /v1/devices/7K3QZZZZZZZZ0000": [.json(200, Fixtures.phone)],
            "PATCH /v1/devices/7K3QZZZZZZZZ0000": [
                .json(200, Fixtures.phone.replacing("Phone", with: "Handy"))
            ],
        ])
        defer { service.stop() }
        let console = TestConsole()
        #expect(console.run("rename", "7k3qzzzzzzzz0000", "Handy", "--socket", service.path) == 0)
        #expect(console.output == "Renamed Phone to Handy (7K3QZZZZZZZZ0000).\n")
        #expect(service.asked.last?.body == #"{"name":"Handy"}"#)
    }

    @Test("remove asks, needs --yes without a terminal, and removes nothing when one of several is unknown")
    func remove() throws {
        let routes: [String: [FakeService.Reply]] = [
            "GET /v1/devices/7K3QABCDEFGH2345": [.json(200, Fixtures.ipad)],
            "GET /v1/devices": [.json(200, Fixtures.list())],
            "DELETE /v1/devices/7K3QABCDEFGH2345": [.json(200, #"{"closedSessions":2}"#)],
        ]
        let service = try FakeService(routes)
        defer { service.stop() }
        let id = "7K3QABCDEFGH2345"
        let console = TestConsole()
        #expect(console.run("remove", id, "--socket", service.path) == 2)
        #expect(service.asked.isEmpty)
        console.inputIsTerminal = true
        console.answers = ["no"]
        #expect(console.run("remove", id, "--socket", service.path) == 1)
        #expect(console.errors.contains("Remove Anna's iPad (\(id))? It must pair again. [y/N] "))
        #expect(console.run("remove", id, "nobody", "--yes", "--socket", service.path) == 4)
        #expect(!service.asked.contains { $0.line.hasPrefix("DELETE") })
        console.answers = ["y"]
        #expect(console.run("remove", id, id, "--socket", service.path) == 0)
        #expect(console.output == "Removed Anna's iPad (\(id)). Closed 2 sessions.\n")
        #expect(service.asked.filter { $0.line.hasPrefix("DELETE") }.count == 1)
    }

    @Test("set sends one PATCH; what the service refuses is 1 with its own words")
    func set() throws {
        let service = try FakeService([
            "PATCH /v1/settings": [
                .json(200, Fixtures.settings), .problem(400, "invalidSetting", "maxFPS must be 1 to 240"),
                .problem(409, "overridden", "remotePort is held for this run"),
            ]
        ])
        defer { service.stop() }
        let console = TestConsole()
        #expect(
            console.run("set", "home-bitrate", "15M", "remote-access", "off", "--socket", service.path) == 0)
        #expect(console.output == "remote-access  off\nhome-bitrate   15000000 (15 Mbit/s)\n")
        #expect(service.asked[0].body == #"{"home":{"bitrate":15000000},"remoteAccess":false}"#)
        #expect(console.run("set", "max-fps", "1000", "--socket", service.path) == 1)
        #expect(console.errors.hasPrefix("latchkey: maxFPS must be 1 to 240\n  See the keys"))
        #expect(console.run("set", "remote-port", "1", "--socket", service.path) == 1)
        #expect(console.run("set", "colour", "blue", "--socket", service.path) == 2)
    }

    @Test("sessions and disconnect, by the start of an ID")
    func disconnect() throws {
        let service = try FakeService([
            "GET /v1/sessions": [.json(200, Fixtures.list(Fixtures.session))],
            "POST /v1/sessions/5f2c-1/close": [
                .json(200, "{}"), .problem(404, "sessionNotFound", "it ended"),
            ],
        ])
        defer { service.stop() }
        let console = TestConsole()
        #expect(console.run("disconnect", "5f2c", "--message", "Bye", "--socket", service.path) == 0)
        #expect(console.output == "Ended session 5f2c-1.\n")
        #expect(service.asked.last?.body == #"{"message":"Bye"}"#)
        #expect(console.run("disconnect", "5f2c-1", "--socket", service.path) == 4)
        #expect(console.run("disconnect", "zzz", "--socket", service.path) == 4)
    }

    @Test("audit, identity, unlock")
    func others() throws {
        let service = try FakeService([
            "GET /v1/audit": [.json(200, Fixtures.list(Fixtures.audit, Fixtures.audit))],
            "GET /v1/identity": [.json(200, Fixtures.identity)],
            "DELETE /v1/lockouts": [.json(200, #"{"cleared":3}"#)],
        ])
        defer { service.stop() }
        let console = TestConsole()
        #expect(console.run("audit", "--json", "--limit", "1", "--socket", service.path) == 0)
        #expect(console.output == "[\(Fixtures.audit)]\n")
        #expect(console.run("identity", "--socket", service.path) == 0)
        #expect(console.run("unlock", "--source", "192.168.1.20", "--socket", service.path) == 0)
        #expect(service.asked.last?.line == "DELETE /v1/lockouts?source=192.168.1.20 HTTP/1.1")
    }

    @Test("events that the service remembers; the reset nobody asked about is left out")
    func events() throws {
        let service = try FakeService([:])
        defer { service.stop() }
        service.push([
            "event: reset\ndata: {}\n\n" + Fixtures.event(41, "device.paired", Fixtures.ipad),
            FakeService.cut,
        ])
        let console = TestConsole()
        #expect(console.run("events", "--json", "--socket", service.path) <= 1)
        #expect(console.output == #"{"id":41,"event":"device.paired","data":\#(Fixtures.ipad)}"# + "\n")
        #expect(service.asked[0].fields["last-event-id"] == "0")
    }

    @Test("following goes on from where the service broke off, until Ctrl-C")
    func follow() throws {
        let service = try FakeService([:])
        defer { service.stop() }
        service.push([
            Fixtures.event(41, "device.seen", "{}"), FakeService.cut, Fixtures.event(42, "device.seen", "{}"),
        ])
        let console = TestConsole()
        console.onWait = { if console.output.contains(#""id":42"#) { console.stop = .interrupt } }
        #expect(console.run("events", "--follow", "--json", "--socket", service.path) == 130)
        #expect(
            console.output == """
                {"id":41,"event":"device.seen","data":{}}
                {"id":42,"event":"device.seen","data":{}}

                """)
        #expect(service.asked.map { $0.fields["last-event-id"] } == [nil, "41"])
    }

    @Test("the token file")
    func tokenFile() throws {
        let console = TestConsole()
        #expect(console.run("status", "--api", "http://127.0.0.1:1", "--token-file", "/nonexistent") == 1)
        let file = NSTemporaryDirectory() + "/\(UUID().uuidString)"
        try "abc\n".write(toFile: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: file) }
        #expect(console.run("status", "--api", "ftp://x", "--token-file", file) == 2)
        #expect(!console.errors.contains("abc"))
    }

    @Test("what the service refuses is told in words that fit a command line")
    func refusals() throws {
        let rows: [(FakeService.Reply, Int32, String)] = [
            (
                .problem(401, "unauthorized", "Send Authorization"), 1,
                "does not know that token\n  Name the file"
            ),
            (
                .problem(403, "forbidden", "This call needs the admin role"), 1,
                "admin role\n  Run this as root"
            ),
            (
                .problem(404, "notFound", "The paths are listed"), 1,
                "does not know that call\n  It may be of another"
            ),
            (.problem(503, "storeUnavailable", "Disk full"), 1, "Disk full\n  Nothing was changed"),
            (.raw("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"), 1, "journalctl -u latchkeyd"),
        ]
        for (reply, code, text) in rows {
            let service = try FakeService(["GET /v1/status": [reply]])
            defer { service.stop() }
            let console = TestConsole()
            #expect(console.run("status", "--socket", service.path) == code)
            #expect(console.errors.contains(text))
        }
    }

    @Test("help, version and completion need no service")
    func alone() {
        let console = TestConsole()
        #expect(console.run("version") == 0)
        #expect(console.run("help", "pair") == 0)
        #expect(console.run("completion", "bash") == 0)
        #expect(console.errors.isEmpty)
        #expect(console.run("wibble") == 2)
    }

    @Test("where the service is looked for")
    func places() {
        func sockets(
            _ environment: [String: String], isRoot: Bool = false, _ options: GlobalOptions = .init()
        ) -> [String] {
            ServicePlaces(options, isRoot: isRoot) { environment[$0] }.sockets
        }
        var named = GlobalOptions()
        named.stateDirectory = "/d"
        #expect(sockets([:], isRoot: true) == ["/run/latchkey/api.sock"])
        #expect(sockets(["LATCHKEY_RUNTIME_DIR": "/r"], isRoot: true) == ["/r/api.sock"])
        #expect(sockets(["LATCHKEY_RUNTIME_DIR": "", "HOME": "/h"]).count == 2)
        #expect(
            sockets(["XDG_RUNTIME_DIR": "/x", "XDG_STATE_HOME": "/s"]) == [
                "/x/latchkey/api.sock", "/s/latchkey/run/api.sock", "/run/latchkey/api.sock",
            ])
        #expect(sockets(["XDG_RUNTIME_DIR": "/x"], named) == ["/x/latchkey/api.sock", "/d/run/api.sock"])
        #expect(ServicePlaces(named, isRoot: true) { _ in nil }.stateDirectory == "/d")
        #expect(ServicePlaces(.init(), isRoot: true) { _ in nil }.stateDirectory == "/var/lib/latchkey")
        #expect(ServicePlaces(.init(), isRoot: false) { _ in nil }.stateDirectory == nil)
    }
}
