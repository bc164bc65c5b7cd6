// SPDX-License-Identifier: Apache-2.0

/// What `latchkey help` prints. Made from the table alone, so that it cannot say what the parser does not do.
package enum HelpText {
    private static let width = 78

    /// About all commands.
    package static let overview: String = {
        var commands = Columns()
        for command in CommandTable.commands {
            commands.add([.init("  " + command.name), .init(command.summary)])
        }
        return """
            latchkey: who may connect to this streaming host

            Usage: latchkey [options] COMMAND …

            Commands:
            \(commands.text(.plain))
            Options, before or after the command:
            \(optionRows(CommandTable.global))
            All about one command: latchkey help COMMAND
            Exit codes: 0 done, 1 refused, 2 usage, 3 the service is not running, 4 not found,
            5 ambiguous, 10 maybe and 11 not reachable (--check), 75 in use, 130 Ctrl-C.

            """
    }()

    /// About one command; nil when there is none of that name.
    package static func about(_ name: String) -> String? {
        guard let command = CommandTable.command(name) else { return nil }
        var text = "latchkey \(command.name): \(command.summary)\n\nUsage: \(command.usage)\n"
        if let alias = command.alias { text += "       latchkey \(alias)\n" }
        for paragraph in command.details { text += "\n" + wrapped(paragraph) }
        if command.operand == .setting { text += settingRows }
        if !command.options.isEmpty { text += "\nOptions:\n" + optionRows(command.options) }
        text += "\nOptions of every command: latchkey help\n"
        if !command.examples.isEmpty {
            text += "\nExamples:\n"
            for example in command.examples { text += "  \(example.line)\n      \(example.does)\n" }
        }
        return text
    }

    private static func optionRows(_ options: [OptionInfo]) -> String {
        var rows = Columns()
        for option in options { rows.add([.init("  " + option.shown), .init(option.summary)]) }
        return rows.text(.plain)
    }

    private static var settingRows: String {
        var rows = Columns()
        for key in SettingKey.all {
            rows.add([.init("  " + key.name), .init(key.takes), .init(key.summary)])
        }
        return rows.text(.plain)
    }

    private static func wrapped(_ paragraph: String) -> String {
        var text = ""
        var line = ""
        for word in paragraph.split(separator: " ") {
            if !line.isEmpty, line.count + 1 + word.count > width {
                text += line + "\n"
                line = ""
            }
            line += (line.isEmpty ? "" : " ") + word
        }
        return text + line + "\n"
    }
}
