// SPDX-License-Identifier: Apache-2.0

extension String {
    /// The text with every control character replaced: what a device calls itself must not steer a terminal.
    var visible: String {
        // Nearly all text is this, and a list may have a hundred thousand rows.
        if isPlainASCII { return self }
        var shown = ""
        for scalar in unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: shown.unicodeScalars.append("\u{FFFD}")
            case .format where scalar.value != 0x200D: continue
            default: shown.unicodeScalars.append(scalar)
            }
        }
        return shown
    }

    /// Columns it takes on a terminal: two for East Asian wide characters and emoji, none for combining
    /// marks.
    var columns: Int { isPlainASCII ? utf8.count : reduce(0) { $0 + $1.columns } }

    private var isPlainASCII: Bool { utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F } }

    /// The text with spaces after it up to `width` columns.
    func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - columns))
    }
}

extension Character {
    /// Columns one visible character takes.
    fileprivate var columns: Int {
        guard let first = unicodeScalars.first else { return 0 }
        let properties = first.properties
        if properties.isEmojiPresentation || unicodeScalars.contains("\u{FE0F}") { return 2 }
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        switch first.value {
        // Unicode's East_Asian_Width W and F, in blocks: Hangul Jamo, CJK and kana, Hangul, compatibility,
        // fullwidth.
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3,
            0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x20000...0x3FFFD:
            return 2
        default: return 1
        }
    }
}
