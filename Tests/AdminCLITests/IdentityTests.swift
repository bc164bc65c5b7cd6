// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import AdminCLI

@Suite("latchkey identity")
struct IdentityTests {
    private static let host = "HHHHHHHHHHHHHHHH"

    private func service(_ rotate: FakeService.Reply = .json(200, Fixtures.rotated)) throws -> FakeService {
        try FakeService([
            "GET /v1/identity": [.json(200, Fixtures.identity)],
            "GET /v1/status": [.json(200, Fixtures.status)],
            "POST /v1/identity/rotate": [rotate],
        ])
    }

    @Test("rotate says what it costs and has the host's ID typed")
    func asks() throws {
        let service = try service()
        defer { service.stop() }
        let console = TestConsole()
        console.inputIsTerminal = true
        console.answers = [" hhhhhhhhhhhhhhhh "]
        #expect(console.run("identity", "rotate", "--socket", service.path) == 0)
        let warning = """
            This gives Living Room a new key.
              2 devices must pair again, and 1 session ends now.
              Only a backup made before brings the old key back.

            """
        #expect(console.errors == warning + "Type the host's ID, HHHHHHHHHHHHHHHH, to go on: ")
        #expect(
            console.output == """
                Living Room was HHHHHHHHHHHHHHHH and is now NNNNNNNNNNNNNNNN (NNNNNN). Closed 2 sessions.
                Every device must pair again: latchkey pair

                """)
        #expect(service.asked.last?.body == #"{"confirm":"HHHHHHHHHHHHHHHH"}"#)
    }

    @Test("anything else typed changes nothing", arguments: ["", "y", "yes", "HHHHHHHHHHHHHHH", nil])
    func declined(_ answer: String?) throws {
        let service = try service()
        defer { service.stop() }
        let console = TestConsole()
        console.inputIsTerminal = true
        console.answers = answer.map { [$0] } ?? []
        #expect(console.run("identity", "rotate", "--socket", service.path) == 1)
        #expect(console.errors.contains("latchkey: that is not the host's ID; nothing was changed\n"))
        #expect(!service.asked.contains { $0.line.hasPrefix("POST") })
    }

    @Test("without a terminal it needs --yes, and then sends the ID by itself")
    func scripted() throws {
        let service = try service()
        defer { service.stop() }
        let console = TestConsole()
        #expect(console.run("identity", "rotate", "--socket", service.path) == 2)
        #expect(console.errors.contains("Add --yes to rotate without asking"))
        #expect(service.asked.isEmpty)
        #expect(console.run("identity", "rotate", "--yes", "--json", "--socket", service.path) == 0)
        #expect(console.output == Fixtures.rotated + "\n")
        #expect(service.asked.map { $0.line.split(separator: " ")[0] } == ["GET", "POST"])
    }

    @Test("what the service refuses is told, with what to do next")
    func refused() throws {
        for (code, advice) in [
            ("confirmMismatch", "see it with: latchkey identity"), ("rotationInProgress", "latchkey: detail"),
            ("storeUnavailable", "Nothing was changed"),
        ] {
            let service = try service(.problem(code == "storeUnavailable" ? 503 : 409, code, "detail"))
            defer { service.stop() }
            let console = TestConsole()
            #expect(console.run("identity", "rotate", "--yes", "--socket", service.path) == 1)
            #expect(console.errors.contains(advice))
        }
    }

    @Test("with the service down: 3", arguments: [[], ["show"], ["rotate", "--yes"]])
    func down(_ words: [String]) {
        let console = TestConsole()
        let all = ["identity"] + words + ["--socket", "/nonexistent/api.sock"]
        #expect(AdminCLI.run(all, console.console) == .notRunning)
        #expect(console.errors.contains("systemctl start latchkeyd"))
    }
}
