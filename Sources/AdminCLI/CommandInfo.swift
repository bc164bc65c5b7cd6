// SPDX-License-Identifier: Apache-2.0

/// What is written about one option: in help, in completions, and for the parser.
struct OptionInfo: Sendable {
    /// With its dashes.
    let name: String
    /// What stands for its value in help; nil for a switch.
    let value: String?
    let summary: String

    init(_ name: String, _ value: String? = nil, _ summary: String) {
        self.name = name
        self.value = value
        self.summary = summary
    }

    /// "--lifetime SECONDS".
    var shown: String { value.map { "\(name) \($0)" } ?? name }
}

/// What is written about one command: in help, in completions, and for the parser.
struct CommandInfo: Sendable {
    /// What completes an operand.
    enum Operand: Sendable { case none, device, session, setting, command, shell, identityVerb, file }

    let name: String
    var alias: String?
    /// What follows the name in its usage line, without options.
    var operands = ""
    var operand = Operand.none
    /// One line, without a full stop.
    let summary: String
    var options: [OptionInfo] = []
    /// Paragraphs under the usage line.
    var details: [String] = []
    /// Each a command line and what it does.
    var examples: [(line: String, does: String)] = []
    /// Whether it also works on the state directory while the service is down (spec 09 point 32).
    var worksOffline = false

    /// "latchkey remove [--yes] DEVICE…".
    var usage: String {
        var words = ["latchkey", name]
        words += options.map { "[\($0.shown)]" }
        if !operands.isEmpty { words.append(operands) }
        return words.joined(separator: " ")
    }
}
