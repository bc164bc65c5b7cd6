@testable import LatchkeyDevice
import Synchronization
import CryptoEngine
import Foundation
import Testing
import Wire

@testable import DeviceCLI

@Suite("latchkey-device")
struct DeviceCommandTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let arguments: [String]
        let want: DeviceCommand.Action
        var testDescription: String { arguments.joined(separator: " ") }
    }

    static let rows = [
        Row(arguments: ["pair", "sill://pair?v=1"], want: .pairLink("sill://pair?v=1", host: nil)),
        Row(arguments: ["pair", "L", "--host", "h:1"], want: .pairLink("L", host: "h:1")),
        Row(arguments: ["--host=h:1", "pair", "L"], want: .pairLink("L", host: "h:1")),
        Row(
            arguments: ["pair", "--code", "4829 1355 7208", "--host", "h:1"],
            want: .pairCode("4829 1355 7208", host: "h:1")),
        Row(
            arguments: ["pair", "--code", "4829", "1355", "7208", "--host", "h:1"],
            want: .pairCode("4829 1355 7208", host: "h:1")),
        Row(
            arguments: ["connect", "--follow", "--seconds", "9"],
            want: .connect(host: nil, place: nil, door: nil, seconds: 9, isKept: true)),
        Row(
            arguments: ["connect", "--save", "out"],
            want: .connect(host: nil, place: nil, door: nil, seconds: nil, isKept: false, save: "out")),
        Row(arguments: ["dial"], want: .dial(host: nil, place: nil, door: nil)),
        Row(
            arguments: ["dial", "B9X7", "--host", "[::1]:1", "--door", "remote"],
            want: .dial(host: "B9X7", place: "[::1]:1", door: "remote")),
        Row(
            arguments: ["connect"],
            want: .connect(host: nil, place: nil, door: nil, seconds: nil, isKept: false)),
        Row(
            arguments: ["connect", "B9X7HK54M3T21PDW", "--door", "home", "--seconds", "2.5"],
            want: .connect(host: "B9X7HK54M3T21PDW", place: nil, door: "home", seconds: 2.5, isKept: false)),
        Row(
            arguments: ["connect", "127.0.0.1:7455"],
            want: .connect(host: nil, place: "127.0.0.1:7455", door: nil, seconds: nil, isKept: false)),
        Row(
            arguments: ["connect", "B9X7", "--host", "[::1]:1"],
            want: .connect(host: "B9X7", place: "[::1]:1", door: nil, seconds: nil, isKept: false)),
        Row(arguments: ["browse"], want: .browse(until: .complete)),
        Row(arguments: ["browse", "--follow"], want: .browse(until: .stopped)),
        Row(arguments: ["--seconds=2.5", "browse"], want: .browse(until: .seconds(2.5))),
        Row(arguments: ["hosts"], want: .hosts),
        Row(arguments: ["forget", "X"], want: .forget("X")),
        Row(arguments: ["forget", "--", "--x"], want: .forget("--x")),
        Row(arguments: ["help", "pair"], want: .help("pair")),
        Row(arguments: ["pair", "--help"], want: .help("pair")),
        Row(arguments: ["--help"], want: .help(nil)),
        Row(arguments: ["--version"], want: .version),
    ]

    @Test("reads", arguments: rows)
    func reads(_ row: Row) throws { #expect(try DeviceCommand(row.arguments).action == row.want) }

    static let wrong: [[String]] = [
        [], ["fly"], ["pair"], ["pair", "a", "b"], ["pair", "--code", "1"],
        ["pair", "L", "--code", "1", "--host", "h"],
        ["connect", "a", "b"], ["connect", "--door", "side"], ["connect", "--seconds", "0"],
        ["connect", "--seconds", "x"],
        ["connect", "1.2.3.4:5", "--host", "h:1"], ["hosts", "x"], ["forget"], ["hosts", "--seconds", "1"],
        ["dial", "--save", "x"], ["connect", "--save"], ["browse", "x"], ["browse", "--seconds", "0"],
        ["browse", "--seconds", "1", "--follow"], ["help", "fly"], ["help", "pair", "ask"],
        ["--what"],
        ["hosts", "--dir"], ["hosts", "--dir", "a", "--dir", "b"], ["hosts", "--json=yes"],
    ]

    @Test("a line that makes no sense is usage", arguments: wrong)
    func refuses(_ arguments: [String]) { #expect(throws: UsageError.self) { try DeviceCommand(arguments) } }

    @Test("options stand before or after the command")
    func options() throws {
        for arguments in [["--json", "--dir", "d", "hosts"], ["hosts", "--dir=d", "--json"]] {
            let command = try DeviceCommand(arguments)
            #expect(command.json)
            #expect(command.directory == "d")
        }
    }

    @Test("help fits a terminal", arguments: [nil] + DeviceCommand.names.map(Optional.some))
    func help(_ command: String?) {
        let text = DeviceHelp.text(command)
        for line in text.split(separator: "\n") { #expect(line.count <= 80) }
        #expect(text.hasPrefix("latchkey-device"))
    }

    @Test("the overview and the manual name every command")
    func everyCommand() throws {
        let page = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../docs/man/latchkey-device.1").standardizedFileURL
        let manual = try String(contentsOf: page, encoding: .utf8).replacing("\\-", with: "-")
        for name in DeviceCommand.names {
            #expect(DeviceHelp.text(nil).contains("\n  \(name) "))
            #expect(manual.contains("latchkey-device \(name)"))
        }
    }

    static let losses: [(String, String?, String)] = [
        ("lost", nil, "the connection broke off"),
        ("quit", "the host is shutting down", "(quit)  the host is shutting down"),
    ]

    @Test("a loss is told in words", arguments: losses)
    func lost(_ reason: String, _ message: String?, _ want: String) {
        let change = SessionChange(.lost, reason: reason, message: message)
        #expect(DeviceOutput.text(change, at: 1_790_265_600) == "16:00:00  lost  \(want)\n")
    }

    static let codes: [(DeviceError.Code, Bool, Int32)] = [
        (.pairingRefused, true, 1), (.revoked, true, 1), (.remoteOff, true, 1), (.busy, true, 1),
        (.notPairing, true, 1),
        (.goodbye, true, 1), (.refused, true, 1), (.refused, false, 3), (.noAnswer, false, 3),
        (.nameNotFound, false, 3),
        (.notSill, true, 3), (.unknownHost, false, 4), (.wrongHost, true, 5), (.badAnswer, true, 5),
        (.vpnOff, false, 3), (.localNetwork, false, 3), (.badLink, false, 2),
        (.codeTypo, false, 2), (.noAddress, false, 2),
    ]

    @Test("exit codes", arguments: codes)
    func exits(_ code: DeviceError.Code, _ reached: Bool, _ want: Int32) {
        #expect(ExitCode(DeviceError(code, "", reachedPeer: reached)).rawValue == want)
    }

    @Test("endpoints.json names the doors")
    func endpoints() {
        let text = #"{"api":{"unix":"x","tcp":[]},"doors":{"home":54021,"remote":7455}}"#
        #expect(LocalDoors(Array(text.utf8))?.home == 54021)
        #expect(LocalDoors(Array(#"{"doors":{"home":1}}"#.utf8))?.remote == nil)
        #expect(LocalDoors(Array("{}".utf8)) == nil)
        let places = LocalDoors.directories(option: nil, isRoot: false) {
            ["HOME": "/h", "XDG_RUNTIME_DIR": "/r"][$0]
        }
        #expect(places == ["/r/latchkey", "/h/.local/state/latchkey/run", "/run/latchkey"])
    }

    @Test("a whole run: what a person sees and what it ends with")
    func run() async throws {
        let test = try TemporaryDevice()
        let host = try ScriptedHost(scripts: { link in
            try link.send(.windowList, HostLink.windowList)
            try link.send(.hostInfo, link.hostInfo(issuedAt: 5))
            try link.send(.goodbye, #"{"reason":"remoteOff"}"#)
        })
        let saved = try test.saved(host)
        let output = Mutex("")
        let complaints = Mutex("")
        let console = DeviceConsole(
            write: { text in output.withLock { $0 += text } },
            complain: { text in complaints.withLock { $0 += text } },
            environment: { _ in nil }, isRoot: false, machineName: "Test",
            stopRequest: {
                _ = try? await Task.sleep(for: .seconds(3600))
                return .done
            })
        let code = await runDevice(
            ["connect", saved.id, "--host", host.endpoint, "--dir", test.directory, "--json"], console)
        #expect(code == .refused)
        let text = output.withLock { $0 }
        #expect(
            text.hasPrefix(
                "{\"hostID\":\"\(saved.id)\",\"door\":\"remote\",\"tls\":\"TLSv1.3\",\"hostInfo\":\"verified\""
            ))
        #expect(text.contains(#""goodbye":{"reason":"remoteOff"},"ended":"goodbye"}"#))
        #expect(complaints.withLock { $0 }.contains("remote access is switched off"))
        #expect(
            await runDevice(["connect", "0000000000000000", "--dir", test.directory], console).rawValue == 4)
    }

    /// A world that keeps what is written, and is never stopped.
    static func console(
        _ output: @escaping @Sendable (String) -> Void, rows: ScriptedRows? = nil
    ) -> DeviceConsole {
        DeviceConsole(
            write: output, complain: output, environment: { _ in nil }, isRoot: false, machineName: "Test",
            stopRequest: {
                _ = try? await Task.sleep(for: .seconds(3600))
                return .done
            }, rows: { _ in rows }, now: { 1_790_265_600 })
    }

    @Test("dial: a table for people, an object for programs")
    func dial() async throws {
        let test = try TemporaryDevice()
        let host = try ScriptedHost(scripts: KeptSessionTests.streaming(1...1))
        let saved = try test.saved(host)
        let output = Mutex("")
        let console = Self.console { text in output.withLock { $0 += text } }
        let line = ["dial", saved.id, "--dir", test.directory, "--host", host.endpoint]
        #expect(await runDevice(line, console) == .done)
        let table = output.withLock { $0 }
        #expect(table.hasPrefix("   ADDRESS"))
        #expect(table.contains("1  \(host.endpoint)") && table.contains("  lan   remote  0.000 s  "))
        #expect(table.contains("(\(saved.id)) serves this device by address, after "))
        output.withLock { $0 = "" }
        #expect(await runDevice(line + ["--json"], console) == .done)
        let json = try JSON.parse(Array(output.withLock { $0 }.utf8))
        #expect(json["outcome"]?.string == "connected" && json["hostID"]?.string == saved.id)
        #expect(json["attempts"]?.array?.count == 1)
        output.withLock { $0 = "" }
        let nobody = ["dial", "--dir", test.directory, "--host", "127.0.0.1:1", "--json"]
        #expect(await runDevice(nobody, console) == .noAnswer)
        #expect(output.withLock { $0 }.contains(#""outcome":"refused""#))
    }

    @Test("connect --follow: from the remote door home, a line for each change, and one report of both")
    func follow() async throws {
        let key = try HostKey.generate()
        let isMoved = Mutex(false)
        let remote = try ScriptedHost(
            key: key,
            scripts: { link in
                defer { isMoved.withLock { $0 = true } }
                try KeptSessionTests.streaming(1...3)(link)
            })
        let home = try ScriptedHost(
            key: key,
            scripts: { link in
                try link.send(.windowList, KeptSessionTests.windowList(launch: "L"))
                try link.send(.hostInfo, link.hostInfo(issuedAt: 6))
                repeat { _ = try link.next(.ping) } while isMoved.withLock { !$0 }
                try link.send(.goodbye, #"{"reason":"removed"}"#)
            })
        let test = try TemporaryDevice()
        let saved = try test.saved(remote)
        let rows = ScriptedRows()
        rows.list([try ScriptedRows.row(home, of: saved.id)])
        let output = Mutex("")
        let console = Self.console({ text in output.withLock { $0 += text } }, rows: rows)
        let code = await runDevice(
            ["connect", "--follow", "--seconds", "60", "--dir", test.directory, "--json"], console)
        #expect(code == .refused)
        let lines = output.withLock { $0 }.split(separator: "\n")
        let objects = lines.compactMap { try? JSON.parse(Array($0.utf8)) }
        #expect(objects.compactMap { $0["change"]?.string } == ["connected", "moving", "moved", "over"])
        #expect(objects.compactMap { $0["door"]?.string } == ["remote", "home", "home"])
        #expect(objects.first?["at"]?.string == "2026-09-24T16:00:00.000Z")
        #expect(objects.contains { $0["change"]?.string == "over" && $0["reason"]?.string == "removed" })
        let report = objects.last
        #expect(report?["ended"]?.string == "goodbye" && report?["kinds"]?["1"]?.int == 3)
        #expect(report?["kinds"]?["2"]?.int == 2)
    }
}
