// SPDX-License-Identifier: Apache-2.0

/// What a person who mistyped a word probably meant.
enum Suggestion {
    /// The nearest of `words`; nil when none is near.
    ///
    /// A word that the typed one begins counts as near; otherwise one slip for each three letters is
    /// forgiven.
    static func nearest(to typed: String, in words: [String]) -> String? {
        let typed = typed.lowercased()
        if typed.count >= 2, let whole = words.first(where: { $0.lowercased().hasPrefix(typed) }) {
            return whole
        }
        if let abbreviated = words.first(where: { abbreviates(typed, $0.lowercased()) }) {
            return abbreviated
        }
        let ranked = words.map { (word: $0, slips: distance(typed, $0.lowercased())) }
        guard let best = ranked.min(by: { $0.slips < $1.slips }) else { return nil }
        return best.slips <= max(1, best.word.count / 3) ? best.word : nil
    }

    /// Whether each part between dashes begins a part of `word`, in order: "min-version" is "minimum-device-version".
    private static func abbreviates(_ typed: String, _ word: String) -> Bool {
        let parts = typed.split(separator: "-")
        guard parts.count >= 2 else { return false }
        var rest = word.split(separator: "-")[...]
        for part in parts {
            rest = rest.drop { !$0.hasPrefix(part) }
            if rest.popFirst() == nil { return false }
        }
        return true
    }

    /// Optimal string alignment: insertions, deletions, changes and swaps of neighbours that lead from one to
    /// the other.
    static func distance(_ from: String, _ to: String) -> Int {
        let from = Array(from.prefix(64))
        let to = Array(to.prefix(64))
        var before: [Int] = []
        var last = Array(0...to.count)
        for (row, letter) in from.enumerated() {
            var current = [row + 1]
            for (column, other) in to.enumerated() {
                var slips = min(
                    last[column + 1] + 1, current[column] + 1, last[column] + (letter == other ? 0 : 1))
                if row > 0, column > 0, letter == to[column - 1], other == from[row - 1] {
                    slips = min(slips, before[column - 1] + 1)
                }
                current.append(slips)
            }
            before = last
            last = current
        }
        return last[to.count]
    }
}
