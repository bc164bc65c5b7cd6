// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import Wire

@testable import AdminCLI

@Suite("latchkey pair")
struct PairRunTests {
    static let used = Fixtures.event(
        9, "pairing.closed", #"{"id":"w1","outcome":"used","device":"7K3QABCDEFGH2345"}"#)
    static let noise =
        Fixtures.event(7, "pairing.opened", #"{"id":"w1"}"#)
        + Fixtures.event(8, "pairing.closed", #"{"id":"other","outcome":"expired","device":null}"#)

    static func service(_ pushes: [String], more: [String: [FakeService.Reply]] = [:]) throws -> FakeService {
        let routes: [String: [FakeService.Reply]] = [
            "POST /v1/pairing/window": [.json(201, Fixtures.window, pushes: pushes)],
            "GET /v1/devices/7K3QABCDEFGH2345": [.json(200, Fixtures.ipad)],
            "DELETE /v1/pairing/window": [.json(200, #"{"closed":true}"#)],
        ]
        return try FakeService(routes.merging(more) { $1 })
    }

    @Test("in a pipe: link, code and expiry, then who paired")
    func pipe() throws {
        let service = try Self.service([Self.noise, Self.used])
        defer { service.stop() }
        let console = TestConsole()
        #expect(console.run("pair", "--lifetime", "60", "--home-only", "--socket", service.path) == 0)
        #expect(
            console.output == """
                sill://pair?v=1&x=y
                4829 1355 7208
                2026-11-30T08:05:00.000Z
                Paired Anna's iPad (7K3QABCDEFGH2345, iPad14,1).

                """)
        #expect(
            service.asked.first { $0.line.hasPrefix("POST") }?.body == #"{"lifetime":60,"remote":false}"#)
    }

    @Test("in JSON: the window as one line, the outcome as another")
    func json() throws {
        let service = try Self.service([Self.used])
        defer { service.stop() }
        let console = TestConsole()
        #expect(console.run("pair", "--json", "--socket", service.path) == 0)
        #expect(
            console.output == Fixtures.window + "\n" + #"{"outcome":"paired","device":\#(Fixtures.ipad)}"#
                + "\n")
    }

    @Test("on a terminal: picture, code and a countdown on one line")
    func terminal() throws {
        let service = try Self.service([Self.used])
        defer { service.stop() }
        let console = TestConsole()
        console.outputIsTerminal = true
        #expect(console.run("pair", "--no-color", "--socket", service.path) == 0)
        #expect(console.output.contains("█"))
        #expect(console.output.contains("  Code  4829 1355 7208\n  Link  sill://pair?v=1&x=y\n"))
        #expect(console.output.contains("\r\u{1B}[K  Closes in 5:00. Ctrl-C cancels."))
        #expect(console.output.hasSuffix("\r\u{1B}[KPaired Anna's iPad (7K3QABCDEFGH2345, iPad14,1).\n"))
    }

    @Test("any other end is 1 and says why", arguments: ["expired", "stopped", "cancelled", "withdrawn"])
    func otherEnds(_ outcome: String) throws {
        let service = try Self.service([
            Fixtures.event(9, "pairing.closed", #"{"id":"w1","outcome":"\#(outcome)","device":null}"#)
        ])
        defer { service.stop() }
        let console = TestConsole()
        #expect(console.run("pair", "--json", "--socket", service.path) == 1)
        #expect(console.output.hasSuffix("{\"outcome\":\"\(outcome)\"}\n"))
        #expect(console.errors.contains(WindowText.why(outcome)))
    }

    @Test("Ctrl-C cancels the window: 130")
    func interrupt() throws {
        let service = try Self.service([])
        defer { service.stop() }
        let console = TestConsole()
        console.stop = .interrupt
        #expect(console.run("pair", "--socket", service.path) == 130)
        #expect(service.asked.last?.line == "DELETE /v1/pairing/window HTTP/1.1")
        let killed = TestConsole()
        killed.stop = .terminate(ExitCode(rawValue: 143))
        #expect(killed.run("pair", "--socket", service.path) == 143)
    }

    @Test("a stream that breaks off is taken up again, or the window's end asked for")
    func cut() throws {
        let service = try Self.service(
            [Self.noise, FakeService.cut, Self.used],
            more: ["GET /v1/pairing/window": [.json(200, Fixtures.window)]])
        defer { service.stop() }
        #expect(TestConsole().run("pair", "--socket", service.path) == 0)
        #expect(service.asked.filter { $0.line.contains("/v1/events") }.last?.fields["last-event-id"] == "8")

        let ended = try Self.service(
            [FakeService.cut],
            more: [
                "GET /v1/pairing/window": [
                    .problem(
                        404, "noWindow", "none",
                        more:
                            #","last":{"outcome":"used","at":"2026-11-30T08:00:00.000Z","device":"7K3QABCDEFGH2345"}"#
                    )
                ]
            ])
        defer { ended.stop() }
        #expect(TestConsole().run("pair", "--socket", ended.path) == 0)
    }

    @Test("events lost to a reset: the window's end is asked for")
    func reset() throws {
        let service = try Self.service(
            ["event: reset\ndata: {}\n\n"],
            more: [
                "GET /v1/pairing/window": [
                    .problem(
                        404, "noWindow", "none",
                        more: #","last":{"outcome":"expired","at":"2026-11-30T08:00:00.000Z","device":null}"#)
                ]
            ])
        defer { service.stop() }
        #expect(TestConsole().run("pair", "--socket", service.path) == 1)
    }

    @Test("attached to the window that is open, drawn into a pipe")
    func attached() throws {
        let service = try Self.service(
            [], more: ["GET /v1/pairing/window": [.json(200, Fixtures.window, pushes: [Self.used])]])
        defer { service.stop() }
        let console = TestConsole()
        #expect(console.run("pair", "--attach", "--draw", "--socket", service.path) == 0)
        #expect(console.output.contains("▄") && console.output.contains("4829 1355 7208"))
        #expect(!service.asked.contains { $0.line.hasPrefix("POST") })
    }

    @Test("a window that is open already: 1, and how to replace it")
    func windowOpen() throws {
        let service = try Self.service(
            [Self.used],
            more: [
                "POST /v1/pairing/window": [
                    .problem(409, "windowOpen", "Close it or use ?replace=true"),
                    .json(201, Fixtures.window, pushes: [Self.used]),
                ]
            ])
        defer { service.stop() }
        let console = TestConsole()
        #expect(console.run("pair", "--socket", service.path) == 1)
        #expect(
            console.errors == """
                latchkey: T
                  Open a fresh one with: latchkey pair --replace (the old link and code stop working)

                """)
        #expect(console.run("pair", "--replace", "--no-wait", "--socket", service.path) == 0)
        #expect(service.asked.last?.line == "POST /v1/pairing/window?replace=true HTTP/1.1")
    }

    @Test("the picture is written for its owner alone")
    func picture() throws {
        let service = try Self.service(
            [], more: ["GET /v1/pairing/window/qr.svg": [.json(200, "<svg/>")]])
        defer { service.stop() }
        let file = NSTemporaryDirectory() + "/\(UUID().uuidString).svg"
        defer { try? FileManager.default.removeItem(atPath: file) }
        #expect(TestConsole().run("pair", "--no-wait", "--svg", file, "--socket", service.path) == 0)
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "<svg/>")
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(
            TestConsole().run("pair", "--no-wait", "--svg", "/nonexistent/a.svg", "--socket", service.path)
                == 1)
        #expect(service.asked.last?.line.hasPrefix("DELETE") == true)
    }
}
