// SPDX-License-Identifier: Apache-2.0

import APITypes
import Policy
import Sockets
import Synchronization
import Testing
import Wire

@testable import AdminCLI
@testable import ReachabilityFacts

/// `reachability`, `print-reachability`, `map-port` and `unmap-port` from the words to the exit code.
@Suite("reachability")
struct ReachabilityRunTests {
    static func body(_ natpmp: String = "100.72.14.3") -> String {
        let report = ReachabilityTextTests.report(
            .init(
                testDescription: "", evidence: Evidence.make(router: Evidence.router(natpmp: natpmp)),
                want: ""))
        return String(decoding: report.jsonBytes, as: UTF8.self)
    }

    static let path = "GET /v1/reachability"

    @Test("the service's report, as text and as it came")
    func show() throws {
        let service = try FakeService([Self.path: [.json(200, Self.body())]])
        defer { service.stop() }
        let console = TestConsole()
        #expect(console.run("reachability", "--socket", service.path) == 0)
        #expect(
            console.output.hasPrefix(
                "BLOCKED: a device away from home cannot reach this host (awayBlocked, verified)\n"))
        console.output = ""
        #expect(console.run("--json", "reachability", "--refresh", "--socket", service.path) == 0)
        #expect(console.output == Self.body() + "\n")
        #expect(
            service.asked.map(\.line).map { $0.split(separator: " ")[1] } == [
                "/v1/reachability", "/v1/reachability?refresh=true",
            ])
    }

    @Test(
        "--check ends as the verdict is",
        arguments: [("ok", 0), ("maybe", 10), ("blocked", 11)] as [(String, Int32)])
    func check(_ row: (String, Int32)) throws {
        let body = Self.body().replacing(#""severity":"blocked""#, with: #""severity":"\#(row.0)""#)
        let service = try FakeService([Self.path: [.json(200, body)]])
        defer { service.stop() }
        let console = TestConsole()
        #expect(console.run("reachability", "--check", "--socket", service.path) == row.1)
        #expect(console.run("reachability", "--socket", service.path) == 0)
    }

    @Test("--watch draws again when the report changes and when the terminal does")
    func watch() throws {
        let service = try FakeService([
            Self.path: [.json(200, Self.body()), .json(200, Self.body("192.168.0.2"))]
        ])
        defer { service.stop() }
        let console = TestConsole()
        var waits = 0
        console.onWait = {
            waits += 1
            if waits == 1 {
                #expect(console.output.contains("carrierNAT"))
                service.push([Fixtures.event(7, "reachability.changed", "{}")])
            }
            if console.output.contains("doubleNAT") { console.stop = .interrupt }
        }
        #expect(console.run("reachability", "--watch", "--socket", service.path) == 130)
        #expect(console.output.contains("doubleNAT") && console.errors.isEmpty)
        #expect(!console.output.contains("\u{1B}"), "no terminal, no cursor movement")
    }

    @Test("--watch on a terminal draws over what stands there, and only when it differs")
    func watchTerminal() throws {
        let service = try FakeService([Self.path: [.json(200, Self.body())]])
        defer { service.stop() }
        let console = TestConsole()
        console.outputIsTerminal = true
        console.environment["NO_COLOR"] = "1"
        var waits = 0
        console.onWait = {
            waits += 1
            if waits == 2 { console.columns = 60 }
            if waits == 4 { console.stop = .interrupt }
            // Each wait of a test ends at once.
            service.push([Fixtures.event(waits, "settings.changed", "{}")])
        }
        #expect(console.run("reachability", "--watch", "--socket", service.path) == 130)
        #expect(
            console.output.split(separator: "\u{1B}[H").count == 3, "cleared, drawn, drawn at the new width")
    }

    @Test("--watch goes on over a restart of the service")
    func watchLost() throws {
        let service = try FakeService([Self.path: [.json(200, Self.body())]])
        defer { service.stop() }
        let console = TestConsole()
        var waits = 0
        console.onWait = {
            waits += 1
            if waits == 1 { service.push([FakeService.cut]) }
            if console.errors.contains("the service is back") { console.stop = .interrupt }
        }
        #expect(console.run("reachability", "--watch", "--socket", service.path) == 130)
        #expect(console.errors.contains("the service is gone"))
    }

    @Test("--watch and --check exclude each other; print-reachability has no --watch")
    func usage() {
        let console = TestConsole()
        #expect(console.run("reachability", "--watch", "--check") == 2)
        #expect(console.run("print-reachability", "--watch") == 2)
        #expect(console.run("reachability", "now") == 2)
    }

    // MARK: print-reachability

    @Test("made here with the settings and the door of the running service")
    func printRunning() throws {
        let settings = Fixtures.settings.replacing(#""remoteAccess":false"#, with: #""remoteAccess":true"#)
            .replacing(#""internetAccess":false"#, with: #""internetAccess":true"#)
            .replacing(#""addressName":null"#, with: #""addressName":"home.example.net:17455""#)
            .replacing(#""stunServer":null"#, with: #""stunServer":"stun.example:3478""#)
        let service = try FakeService([
            "GET /v1/settings": [.json(200, settings)], "GET /v1/status": [.json(200, Fixtures.status)],
        ])
        defer { service.stop() }
        let console = TestConsole()
        console.evidence = Evidence.make(router: Evidence.router(natpmp: "11.22.33.44"))
        #expect(console.run("print-reachability", "--check", "--socket", service.path) == 11)
        #expect(console.scope?.addressName == "home.example.net:17455")
        let outside = console.scope.map {
            MappingPolicy.outsidePort(addressName: $0.addressName, remotePort: $0.port)
        }
        #expect(outside == 17455 && console.scope?.stunServer == "stun.example:3478")
        // The status says that the door failed, and names the port.
        #expect(console.output.hasPrefix("BLOCKED: port 7455 is in use (doorPortInUse, verified)\n"))
        #expect(!console.output.contains("serviceNotRunning"))
    }

    @Test("without a service and without its state: the defaults, said so")
    func printAlone() throws {
        let console = TestConsole()
        console.evidence = Evidence.make(
            router: Evidence.router(natpmp: "11.22.33.44", igd: Evidence.igd("11.22.33.44")))
        #expect(console.run("print-reachability", "--json", "--socket", "/nonexistent/api.sock") == 0)
        let report = try Fixtures.read(Reachability.self, console.output)
        #expect(report.verdict == "remoteOff" && report.port == 7455)
        #expect(report.notes.prefix(2) == ["serviceNotRunning", "settingsUnreadable"])
        #expect(report.router.code == "off" && report.router.ifOn == "publicUnmapped")
        #expect(console.run("print-reachability", "--check", "--socket", "/nonexistent/api.sock") == 11)
    }

    @Test("a service that may not be asked is no service that is down")
    func printForbidden() throws {
        let service = try FakeService(["GET /v1/settings": [.problem(403, "forbidden", "no")]])
        defer { service.stop() }
        let console = TestConsole()
        console.evidence = Evidence.make()
        #expect(console.run("print-reachability", "--json", "--socket", service.path) == 0)
        #expect(try Fixtures.read(Reachability.self, console.output).notes == ["settingsUnreadable"])
    }

    @Test("with the service down the state directory's settings count, and the port is tried")
    func printOffline() throws {
        let state = try OfflineTests.State()
        let directory = state.path
        let console = TestConsole()
        console.environment = ["LATCHKEY_RUNTIME_DIR": "/nonexistent"]
        console.evidence = Evidence.make(Evidence.tailnet, vpns: [Evidence.tailscale()])
        #expect(
            console.run("--state-dir", directory, "set", "remote-access", "on", "remote-port", "7460") == 0)
        console.output = ""
        #expect(console.run("print-reachability", "--json", "--state-dir", directory) == 0)
        var report = try Fixtures.read(Reachability.self, console.output)
        #expect(report.verdict == "awayVPN" && report.notes == ["serviceNotRunning"])
        #expect(report.port == 7460 && report.listener == .init(state: "closed", port: 7460))
        #expect(console.portsTried == [7460])
        console.takenPorts = [7460]
        console.output = ""
        #expect(console.run("print-reachability", "--json", "--state-dir", directory) == 0)
        report = try Fixtures.read(Reachability.self, console.output)
        #expect(report.verdict == "doorPortInUse" && report.listener.state == "failed")
    }

    @Test("no netlink, no report")
    func printWithoutNetlink() {
        let console = TestConsole()
        #expect(console.run("print-reachability", "--socket", "/nonexistent/api.sock") == 1)
        #expect(console.errors.contains("the kernel does not list the network interfaces"))
    }

    @Test("the port is tried by a bind alone")
    func bind() throws {
        let listener = try Socket.tcpListener(
            SocketAddress(ip: Evidence.ip("0.0.0.0"), port: 0), v6Only: true)
        let port = try #require(listener.localAddress()?.port)
        #expect(Socket.isTaken(tcpPort: port))
    }

    // MARK: map-port

    static let mappingPath = "/v1/reachability/port-mapping"

    @Test("map-port says what the router does")
    func map() throws {
        let active =
            #"{"code":"mappingActive","target":"192.168.1.5:7455","expiresAt":"2026-11-30T09:00:00.000Z"}"#
        let service = try FakeService([
            "POST \(Self.mappingPath)": [
                .json(200, active), .json(200, active), .json(202, #"{"code":"mappingPending"}"#),
                .json(200, #"{"code":"toThisHost","target":"192.168.1.5:7455"}"#),
            ],
            "DELETE \(Self.mappingPath)": [
                .json(200, #"{"code":"off","detail":"It was not there."}"#)
            ],
        ])
        defer { service.stop() }
        let console = TestConsole()
        func said(_ words: String...) -> String {
            console.output = ""
            #expect(AdminCLI.run(words + ["--socket", service.path], console.console) == .done)
            return console.output
        }
        #expect(
            said("map-port")
                == "The router forwards the port to 192.168.1.5:7455, renewed before it ends (in 1 hour).\n")
        #expect(said("map-port", "--json") == active + "\n")
        #expect(said("map-port").hasPrefix("The router has not answered yet"))
        #expect(
            said("map-port").hasPrefix("A rule of your own forwards the port to 192.168.1.5:7455 already"))
        #expect(said("unmap-port").hasSuffix("It was not there.\n"))
    }

    @Test(
        "each refusal is 1, with what to do next",
        arguments: [
            ("mappingRefused", "by hand"), ("mappingPortDiffers", "by hand"),
            ("mappingConflict", "another port"),
            ("mappingNotPossible", "reachability --refresh"),
            ("mappingPermanentOnly", "permanent-mappings on"),
        ])
    func refused(_ row: (String, String)) throws {
        let service = try FakeService([
            "POST \(Self.mappingPath)": [.problem(409, row.0, "the router said 718 ConflictInMappingEntry")]
        ])
        defer { service.stop() }
        let console = TestConsole()
        #expect(console.run("map-port", "--socket", service.path) == 1)
        #expect(console.errors.hasPrefix("latchkey: the router said 718 ConflictInMappingEntry\n"))
        #expect(console.errors.contains(row.1), "\(console.errors)")
    }
}
