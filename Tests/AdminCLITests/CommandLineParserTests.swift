// SPDX-License-Identifier: Apache-2.0

import Testing
import Wire

@testable import AdminCLI

@Suite("Command line")
struct CommandLineParserTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let line: String
        let want: Command
        var testDescription: String { line }

        init(_ line: String, _ want: Command) {
            self.line = line
            self.want = want
        }

        /// Words parted by blanks; `_` stands for a blank inside one.
        var words: [String] { line.split(separator: " ").map { String($0.replacing("_", with: " ")) } }
    }

    static let rows = [
        Row("", .help(topic: nil)), Row("--help", .help(topic: nil)), Row("-h", .help(topic: nil)),
        Row("help", .help(topic: nil)), Row("help devices", .help(topic: "list")),
        Row("remove -h", .help(topic: "remove")), Row("remove --help --yes", .help(topic: "remove")),
        Row("version", .version), Row("--version", .version), Row("-V", .version),
        Row("status", .status), Row("list", .list), Row("devices", .list), Row("sessions", .sessions),
        Row("quality", .quality),
        Row("show 7K3Q", .show(device: "7K3Q")),
        Row("rename 7K3Q Anna's_iPad", .rename(device: "7K3Q", name: "Anna's iPad")),
        Row("rename -- 7K3Q --yes", .rename(device: "7K3Q", name: "--yes")),
        Row("remove a b --yes", .remove(devices: ["a", "b"], confirmed: true)),
        Row("remove a", .remove(devices: ["a"], confirmed: false)),
        Row("pair", .pair(PairOptions())),
        Row(
            "pair --lifetime 60 --home-only --no-wait --replace --svg a.svg",
            .pair(PairOptions(lifetime: 60, homeOnly: true, replace: true, noWait: true, svg: "a.svg"))),
        Row("pair --attach --draw", .pair(PairOptions(attach: true, draw: true))),
        Row("pair --lifetime=60", .pair(PairOptions(lifetime: 60))),
        Row("disconnect s1", .disconnect(session: "s1", message: nil)),
        Row("disconnect --message Good_night s1", .disconnect(session: "s1", message: "Good night")),
        Row("settings", .settings), Row("print-cable", .printCable), Row("--json print-cable", .printCable),
        Row(
            "set remote-access on internet-access off",
            .set([
                SettingChange(path: ["remoteAccess"], value: .bool(true)),
                SettingChange(path: ["internetAccess"], value: .bool(false)),
            ])),
        Row("events", .events(follow: false, since: nil)),
        Row("events --follow --since 42", .events(follow: true, since: 42)),
        Row("audit", .audit(limit: nil)), Row("audit --limit 5", .audit(limit: 5)),
        Row("identity", .identityShow), Row("identity show", .identityShow),
        Row("identity rotate", .identityRotate(confirmed: false)),
        Row("backup f", .backup(file: "f", passphraseFile: nil, replaces: false)),
        Row("backup --force --passphrase-file p f", .backup(file: "f", passphraseFile: "p", replaces: true)),
        Row("restore f", .restore(file: "f", passphraseFile: nil, restoresRemoved: false)),
        Row(
            "restore --restore-removed --passphrase-file=p f",
            .restore(file: "f", passphraseFile: "p", restoresRemoved: true)),
        Row("identity --yes rotate", .identityRotate(confirmed: true)),
        Row("unlock", .unlock(source: nil, device: nil)),
        Row("unlock --source ::1 --device 7K3Q", .unlock(source: "::1", device: "7K3Q")),
        Row("completion fish", .completion(.fish)),
    ]

    @Test("is understood", arguments: rows)
    func understood(_ row: Row) throws { #expect(try CommandLineParser.parse(row.words).command == row.want) }

    @Test("options of all commands stand before or after it", arguments: 0...2)
    func globals(_ place: Int) throws {
        var words = ["show", "7K3Q"]
        words.insert(contentsOf: ["--json", "--socket", "/s", "--state-dir=/d", "--no-color"], at: place)
        let invocation = try CommandLineParser.parse(words)
        var options = GlobalOptions()
        options.json = true
        options.socket = "/s"
        options.stateDirectory = "/d"
        options.noColor = true
        #expect(invocation == Invocation(.show(device: "7K3Q"), options))
    }

    struct Slip: CustomTestStringConvertible, Sendable {
        let line: String
        let message: String
        var advice: String?
        var testDescription: String { line }

        init(_ line: String, _ message: String, _ advice: String? = nil) {
            self.line = line
            self.message = message
            self.advice = advice
        }
    }

    static let slips = [
        Slip("stauts", "there is no command \"stauts\"", "Did you mean status?"),
        Slip("sess", "there is no command \"sess\"", "Did you mean sessions?"),
        Slip("frobnicate", "there is no command \"frobnicate\"", "See: latchkey help"),
        Slip("doctor", "there is no command \"doctor\""),
        Slip("identity rotat", "identity does not know \"rotat\""),
        Slip("identity show --yes", "--yes belongs to identity rotate"),
        Slip("backup", "backup needs FILE"), Slip("restore a b", "too many words: b"),
        Slip("backup f --restore-removed", "backup has no option --restore-removed"),
        Slip("identity rotate now", "too many words: now"),
        Slip("help doctor", "there is no command \"doctor\""),
        Slip("--json", "no command is named", "See: latchkey help"),
        Slip("list --jsn", "list has no option --jsn", "Did you mean --json?"),
        Slip("--yes remove a", "--yes comes after its command", "Usage: latchkey remove [--yes] DEVICE…"),
        Slip("list x", "too many words: x", "Usage: latchkey list"),
        Slip("show", "show needs DEVICE", "Usage: latchkey show DEVICE"),
        Slip("show a b", "too many words: b"),
        Slip("rename a", "rename needs DEVICE NAME"), Slip("remove", "no DEVICE is named"),
        Slip("disconnect", "disconnect needs SESSION"),
        Slip("set", "no KEY is named"), Slip("set remote-access", "remote-access has no value"),
        Slip("set remot-access on", "there is no setting \"remot-access\"", "Did you mean remote-access?"),
        Slip(
            "set min-version 2", "there is no setting \"min-version\"", "Did you mean minimum-device-version?"
        ),
        Slip("set direct on direct off", "direct is given twice"),
        Slip("set home.bitrate 1 home-bitrate 2", "home-bitrate is given twice"),
        Slip("pair --lifetime", "--lifetime needs a value: --lifetime SECONDS"),
        Slip("pair --lifetime soon", "--lifetime takes a number, not \"soon\""),
        Slip("pair --home-only=yes", "--home-only takes no value"), Slip("pair now", "too many words: now"),
        Slip("events --since x", "--since takes a number, not \"x\""),
        Slip("audit --limit 0", "--limit takes a number, not \"0\""),
        Slip("completion ksh", "there are completions for bash, zsh and fish"),
        Slip("status --socket /s --api http://h:1", "--socket and --api name two different ways; give one"),
        Slip("status --api http://h:1", "--api needs --token-file FILE"),
        Slip("status --token-file f", "--token-file belongs to --api"),
    ]

    @Test("a slip ends with 2 and says what to do", arguments: slips)
    func refused(_ slip: Slip) {
        let failure = #expect(throws: Failure.self) {
            try CommandLineParser.parse(slip.line.split(separator: " ").map(String.init))
        }
        #expect(failure?.exit == .usage)
        #expect(failure?.message == slip.message)
        if let advice = slip.advice { #expect(failure?.advice.contains(advice) == true) }
        #expect(failure?.advice.last?.hasPrefix("See: latchkey help") == true)
    }

    @Test("values of settings")
    func values() throws {
        let rows: [(String, String, JSON)] = [
            ("name", "on", .string("on")), ("require-pairing", "ON", .bool(true)),
            ("requirePairing", "no", .bool(false)), ("remote-access", "maybe", .string("maybe")),
            ("remote-port", "0", .integer(0)), ("remote-port", "http", .string("http")),
            ("home-bitrate", "15M", .integer(15_000_000)), ("away.bitrate", "800k", .integer(800_000)),
            ("home-bitrate", "9999999999999M", .string("9999999999999M")),
            ("home-bitrate", "M", .string("M")),
            ("minimum-device-version", "2", .string("2")), ("address-name", "", .string("")),
        ]
        for (name, text, want) in rows { #expect(try #require(SettingKey.named(name)).value(text) == want) }
    }

    @Test("changes of one pair travel in one object")
    func patch() throws {
        guard
            case .set(let changes) = try CommandLineParser.parse(
                ["set", "home-bitrate", "15M", "name", "X", "home-capture-scale", "1"]
            ).command
        else {
            Issue.record("not set")
            return
        }
        var writer = JSONWriter()
        writer.value(SettingChange.patch(changes))
        #expect(writer.text == #"{"home":{"bitrate":15000000,"captureScale":1},"name":"X"}"#)
    }

    @Test("no two commands, options or settings share a name")
    func namesAreUnique() {
        let names = CommandTable.commands.flatMap { [$0.name] + [$0.alias].compactMap(\.self) }
        #expect(Set(names).count == names.count)
        for command in CommandTable.commands {
            let options = (command.options + CommandTable.global).map(\.name)
            #expect(Set(options).count == options.count)
        }
        #expect(Set(SettingKey.all.map(\.name)).count == SettingKey.all.count)
    }
}
