// SPDX-License-Identifier: Apache-2.0

/// A command that could not be done: what happened, what to do next, and how to end.
package struct Failure: Error, Equatable, Sendable {
    package let exit: ExitCode
    /// One sentence without a full stop, lower case: it follows "latchkey: ".
    package let message: String
    /// What to do next, one line each.
    package let advice: [String]

    package init(_ exit: ExitCode, _ message: String, advice: [String] = []) {
        self.exit = exit
        self.message = message
        self.advice = advice
    }

    /// As it stands on standard error.
    package var text: String {
        var text = "latchkey: \(message.visible)\n"
        for line in advice { text += "  \(line.visible)\n" }
        return text
    }
}
