// SPDX-License-Identifier: Apache-2.0

/// How words are set off on a terminal; plain text everywhere else.
package struct Style: Sendable, Equatable {
    /// What a word is, not how it looks.
    package enum Role: Sendable { case heading, good, bad, attention, faint, strong }

    /// Whether escape sequences may be written at all.
    package let isColoured: Bool

    package init(isColoured: Bool) { self.isColoured = isColoured }

    /// No colour.
    package static let plain = Style(isColoured: false)

    /// The text in its role. ECMA-48 codes of the eight basic colours, which every scheme keeps readable.
    func callAsFunction(_ text: String, _ role: Role) -> String {
        guard isColoured, !text.isEmpty else { return text }
        let code =
            switch role {
            case .heading, .strong: "1"
            case .good: "32"
            case .bad: "31"
            case .attention: "33"
            case .faint: "2"
            }
        return "\u{1B}[\(code)m\(text)\u{1B}[0m"
    }
}
