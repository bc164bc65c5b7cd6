// SPDX-License-Identifier: Apache-2.0

/// The rule for every text from the other side before it reaches a log, a screen or a record (file 02 §10).
package enum Label {
    /// One line of printable text of at most `limit` characters (grapheme clusters); may be empty.
    package static func clean(_ text: String, limit: Int = 64) -> String {
        var kept = String.UnicodeScalarView()
        var isSpaceDue = false
        for scalar in text.unicodeScalars {
            switch verdict(scalar) {
            case .space:
                isSpaceDue = !kept.isEmpty
            case .dropped:
                continue
            case .kept:
                if isSpaceDue { kept.append(" ") }
                isSpaceDue = false
                kept.append(scalar)
            }
        }
        let cleaned = String(kept)
        guard
            let end = cleaned.index(cleaned.startIndex, offsetBy: max(0, limit), limitedBy: cleaned.endIndex),
            end < cleaned.endIndex
        else { return cleaned }
        var cut = cleaned[..<end]
        while cut.last == " " { cut.removeLast() }
        return String(cut)
    }

    private enum Verdict {
        case space, dropped, kept
    }

    private static func verdict(_ scalar: Unicode.Scalar) -> Verdict {
        // Printable ASCII needs no look into the Unicode tables.
        if scalar.value > 0x20, scalar.value < 0x7F { return .kept }
        let properties = scalar.properties
        if properties.isWhitespace { return .space }
        switch properties.generalCategory {
        case .lineSeparator, .paragraphSeparator: return .space
        case .control, .format, .surrogate, .privateUse, .unassigned: return .dropped
        default: return .kept
        }
    }
}
