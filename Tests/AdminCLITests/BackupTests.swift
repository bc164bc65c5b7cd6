// SPDX-License-Identifier: Apache-2.0

import Foundation
import Sockets
import StateDirectory
import Testing
import Wire

@testable import AdminCLI

@Suite("latchkey backup and restore")
struct BackupTests {
    /// A state directory with two devices, and room for files.
    private final class Desk {
        let state: OfflineTests.State
        let files = NSTemporaryDirectory() + "/lk-\(UUID().uuidString.prefix(8))"
        var secrets: [String] = []
        var isTerminal = false

        init() throws {
            state = try OfflineTests.State()
            try makeDirectory(files, mode: 0o700)
            try createExclusive(pass, Array("correct horse\nnot this\n".utf8), mode: 0o600)
        }

        deinit { try? FileManager.default.removeItem(atPath: files) }

        var pass: String { files + "/pass" }
        var file: String { files + "/host.latchkey" }

        func run(_ words: String...) -> (code: Int32, output: String, errors: String) {
            let console = TestConsole()
            console.secrets = secrets
            console.inputIsTerminal = isTerminal
            let code = AdminCLI.run(words + ["--state-dir", state.path], console.console).rawValue
            return (code, console.output, console.errors)
        }
    }

    private func hostID(_ desk: Desk) throws -> String {
        try Backup.take(from: desk.state.path, now: Fixtures.now, version: "1").host.text
    }

    @Test("there and back, for a person")
    func journey() throws {
        let desk = try Desk()
        let host = try hostID(desk)
        let done = desk.run("backup", "--passphrase-file", desk.pass, desk.file)
        #expect(done.code == 0 && done.errors.isEmpty)
        #expect(
            done.output == """
                Wrote \(desk.file): the host \(host) with 2 devices.
                Keep the passphrase: without it nobody can open the file.

                """)
        #expect(fileFacts(desk.file)?.mode == 0o600)

        #expect(desk.state.run("remove", "Phone", "--yes").code == 0)
        let restored = desk.run("restore", desk.file, "--passphrase-file", desk.pass)
        #expect(restored.code == 0 && restored.errors.isEmpty)
        let lines = restored.output.split(separator: "\n")
        #expect(lines.first == "Restored the host \(host) with 1 device, as it was just now.")
        #expect(
            lines.dropFirst().first
                == "Removed since, and so not brought back without --restore-removed: 1 device.")
        #expect(
            lines.dropFirst(2).first?.hasPrefix(
                "What was there before is kept in \(desk.state.path)/identity-until-") == true)
        #expect(lines.last == "Start the service: systemctl start latchkeyd")
        #expect(!desk.state.run("list").output.contains("Phone"))

        let all = desk.run("restore", "--restore-removed", desk.file, "--passphrase-file", desk.pass)
        #expect(all.code == 0 && !all.output.contains("Removed since"))
        #expect(desk.state.run("list").output.contains("Phone"))
    }

    @Test("there and back, for a program")
    func json() throws {
        let desk = try Desk()
        let done = desk.run("backup", desk.file, "--passphrase-file", desk.pass, "--json")
        let saved = try JSON.parse(Array(done.output.utf8))
        #expect(try saved["hostID"]?.string == hostID(desk) && saved["file"]?.string == desk.file)
        #expect(saved["devices"]?.int == 2 && saved["madeAt"]?.string == Fixtures.now.rfc3339)
        #expect(saved["bytes"]?.int == fileFacts(desk.file).map { Int($0.size) })
        let restored = desk.run("restore", desk.file, "--passphrase-file", desk.pass, "--json")
        let outcome = try JSON.parse(Array(restored.output.utf8))
        #expect(outcome["devices"]?.int == 2 && outcome["stayedRemoved"]?.int == 0)
        #expect(outcome["keptIn"]?.string?.hasPrefix(desk.state.path) == true)
    }

    @Test("a file that is there is replaced only with --force")
    func force() throws {
        let desk = try Desk()
        try createExclusive(desk.file, Array("mine".utf8), mode: 0o644)
        let refused = desk.run("backup", desk.file, "--passphrase-file", desk.pass)
        #expect(refused.code == 1)
        #expect(refused.errors == "latchkey: \(desk.file) is there already\n  Add --force to replace it.\n")
        #expect(try readFile(desk.file) == Array("mine".utf8))
        #expect(desk.run("backup", desk.file, "--passphrase-file", desk.pass, "--force").code == 0)
        #expect(fileFacts(desk.file)?.mode == 0o600)
        let lost = desk.run("backup", desk.files + "/no/where", "--passphrase-file", desk.pass)
        #expect(lost.code == 1 && lost.errors.contains("the backup cannot be written: open"))
    }

    @Test("the passphrase is typed twice for a backup, once for a restore, and never shown")
    func typed() throws {
        let desk = try Desk()
        #expect(desk.run("backup", desk.file).code == 2)
        #expect(desk.run("backup", desk.file).errors.contains("--passphrase-file FILE"))
        desk.isTerminal = true
        for (secrets, code, words) in [
            ([], 130, "no passphrase was given"), (["correct horse"], 130, "no passphrase was given"),
            (["correct horse", "correct house"], 1, "the two are not the same"),
            (["short", "short"], 1, "too short: at least 8"), (["", ""], 1, "is empty"),
        ] as [([String], Int32, String)] {
            desk.secrets = secrets
            let done = desk.run("backup", desk.file)
            #expect(done.code == code && done.errors.contains(words), "\(words)")
            #expect(fileFacts(desk.file) == nil && !done.errors.contains("correct"))
        }
        desk.secrets = ["correct horse", "correct horse"]
        let done = desk.run("backup", desk.file)
        #expect(done.code == 0 && done.errors == "A passphrase for the backup: The same again: ")
        desk.secrets = ["wrong horse"]
        let wrong = desk.run("restore", desk.file)
        #expect(wrong.code == 1)
        #expect(
            wrong.errors.hasSuffix(
                "latchkey: the passphrase is not the one \(desk.file) was made with, or the file is damaged\n"
                    + "  Nothing was changed.\n"))
        desk.secrets = ["correct horse"]
        #expect(desk.run("restore", desk.file).code == 0)
    }

    @Test("what cannot be used is named, with the way on")
    func refusals() throws {
        let desk = try Desk()
        let gone = desk.run("restore", desk.file, "--passphrase-file", desk.pass)
        #expect(gone.code == 1 && gone.errors.contains("open \(desk.file): No such file"))
        let noPass = desk.run("backup", desk.file, "--passphrase-file", desk.files + "/none")
        #expect(noPass.code == 1 && noPass.errors.contains("the passphrase cannot be read"))
        let remote = desk.run("backup", desk.file, "--api", "http://127.0.0.1:1", "--token-file", desk.pass)
        #expect(remote.code == 2 && remote.errors.contains("takes no --api"))
        #expect(unsafe chmod(desk.pass, 0o644) == 0)
        let loose = desk.run("backup", desk.file, "--passphrase-file", desk.pass)
        #expect(loose.code == 0 && loose.errors.contains("do: chmod 600 \(desk.pass)"))

        let opened = try StateDirectory.open(path: desk.state.path, for: .commandLine, now: Fixtures.now)
        let held = desk.run("restore", desk.file, "--passphrase-file", desk.pass)
        #expect(held.code == 75 && held.errors.contains("is in use by process"))
        #expect(held.errors.contains("systemctl stop latchkeyd"))
        // A backup needs no lock.
        #expect(desk.run("backup", desk.file, "--force", "--passphrase-file", desk.pass).code == 0)
        opened.directory.close()

        let nowhere = TestConsole()
        let words = [
            "backup", desk.file + "2", "--passphrase-file", desk.pass, "--state-dir", "/nonexistent",
        ]
        #expect(AdminCLI.run(words, nowhere.console) == .refused)
        #expect(nowhere.errors.contains("there is no state directory /nonexistent"))
        #expect(fileFacts(desk.file + "2") == nil)
    }
}
