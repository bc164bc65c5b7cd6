// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import AdminCLI

@Suite("Help and completions")
struct HelpTextTests {
    @Test("help of one command")
    func remove() {
        #expect(
            HelpText.about("remove") == """
                latchkey remove: unpair devices and end their sessions

                Usage: latchkey remove [--yes] DEVICE…

                Asks first on a terminal; without one, --yes is needed. A removed device must
                pair again.

                DEVICE is an ID, the first four or more characters of one, or an exact name
                that only one device has.

                While the service is down it works on the state directory itself, by the same
                rules.

                Options:
                  --yes  do not ask first

                Options of every command: latchkey help

                Examples:
                  latchkey remove "Anna's iPad"
                      asks, then removes
                  latchkey remove 7K3Q 9XYZ --yes
                      two at once, from a script

                """)
    }

    @Test(
        "every command has help, in lines that fit a terminal", arguments: CommandTable.commands.map(\.name))
    func everyCommand(_ name: String) throws {
        let text = try #require(HelpText.about(name))
        for line in text.split(separator: "\n") where !line.hasPrefix("Usage:") { #expect(line.count <= 80) }
        #expect(HelpText.overview.contains("\n  \(name) "))
    }

    @Test("every example is a line the parser takes", arguments: CommandTable.commands.map(\.name))
    func examples(_ name: String) throws {
        let command = try #require(CommandTable.command(name))
        for example in command.examples where example.line.hasPrefix("latchkey ") {
            let plain = example.line.split(separator: " | ")[0].split(separator: " > ")[0]
            _ = try CommandLineParser.parse(Self.words(String(plain)).dropFirst().map(\.self))
        }
    }

    @Test("bash takes its script")
    func bash() throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments = [
            "-c",
            """
            \(CompletionScript.text(for: .bash))
            COMP_WORDS=(latchkey --socket /s unl); COMP_CWORD=3; _latchkey; echo "${COMPREPLY[*]}"
            COMP_WORDS=(latchkey completion f); COMP_CWORD=2; _latchkey; echo "${COMPREPLY[*]}"
            COMP_WORDS=(latchkey pair --h); COMP_CWORD=2; _latchkey; echo "${COMPREPLY[*]}"
            latchkey() { echo '[{"id":"7K3Q","name":"A"},{"id":"9XYZ","name":"B"}]'; }
            COMP_WORDS=(latchkey show 9); COMP_CWORD=2; _latchkey; echo "${COMPREPLY[*]}"
            """,
        ]
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(output == "unlock\nfish\n--home-only --help\n9XYZ\n")
    }

    @Test("every script knows every command", arguments: Shell.allCases)
    func scripts(_ shell: Shell) {
        let text = CompletionScript.text(for: shell)
        for command in CommandTable.commands {
            #expect(text.contains(command.name))
            for option in command.options { #expect(text.contains(String(option.name.dropFirst(2)))) }
        }
    }

    @Test("the manual names every command and option")
    func manual() throws {
        let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appending(path: "../../docs/man/latchkey.1").standardizedFileURL
        let text = try String(contentsOf: page, encoding: .utf8).replacing("\\-", with: "-")
        for command in CommandTable.commands {
            #expect(text.contains(command.name))
            for option in command.options + CommandTable.global { #expect(text.contains(option.name)) }
        }
    }

    private static func words(_ line: String) -> [String] {
        var words: [String] = []
        for (index, part) in line.split(separator: "\"", omittingEmptySubsequences: false).enumerated() {
            if index % 2 == 1 {
                words.append(String(part))
            } else {
                words += part.split(separator: " ").map(String.init)
            }
        }
        return words
    }
}
