// SPDX-License-Identifier: Apache-2.0

/// The 12 digits a person types: 11 random ones and a Damm check digit (file 02 §2).
package enum TypedCode {
    /// Digits of a code.
    package static let length = 12

    /// What is wrong with what a person typed. Said to the person; nothing is sent, so no try is lost.
    package enum Problem: Error, Equatable {
        /// Not 12 digits.
        case length
        /// 12 digits that no host shows: one is wrong, or two are swapped.
        case typo
    }

    /// A code of 11 random digits, each 0 to 9, and their check digit.
    package static func make(randomDigits: [UInt8]) -> String {
        let digits = randomDigits.map { $0 % 10 }
        return String(decoding: (digits + [check(digits)]).map { UInt8(ascii: "0") + $0 }, as: UTF8.self)
    }

    /// Whether these are 12 ASCII digits whose check digit holds.
    package static func isValid(_ digits: String) -> Bool {
        let units = digits.utf8
        guard units.count == length, units.allSatisfy(\.isASCIIDigit) else { return false }
        return check(units.map { $0 - UInt8(ascii: "0") }) == 0
    }

    /// As it is shown: `4829 1355 7208`.
    package static func grouped(_ code: String) -> String {
        let units = Array(code.utf8)
        let groups = stride(from: 0, to: units.count, by: 4).map { start in
            String(decoding: units[start..<min(start + 4, units.count)], as: UTF8.self)
        }
        return groups.joined(separator: " ")
    }

    /// The 12 digits of what a person typed. Spaces, no-break spaces and hyphens are ignored wherever they stand, and
    /// nothing else is.
    package static func read(_ typed: String) throws(Problem) -> String {
        let rest = typed.unicodeScalars.filter { $0 != " " && $0 != "-" && $0 != "\u{A0}" }
        let digits = String(String.UnicodeScalarView(rest))
        guard digits.utf8.count == length, digits.utf8.allSatisfy(\.isASCIIDigit) else { throw .length }
        guard isValid(digits) else { throw .typo }
        return digits
    }

    /// The interim digit after all of these; as a check digit it makes the whole end in 0.
    private static func check(_ digits: [UInt8]) -> UInt8 {
        digits.reduce(0) { table[Int($0)][Int($1)] }
    }

    // A weakly totally anti-symmetric quasigroup: rows are interim digits, columns the next digit (file 02 §2.2).
    private static let table: [[UInt8]] = [
        [0, 3, 1, 7, 5, 9, 8, 6, 4, 2],
        [7, 0, 9, 2, 1, 5, 4, 8, 6, 3],
        [4, 2, 0, 6, 8, 7, 1, 3, 5, 9],
        [1, 7, 5, 0, 9, 8, 3, 4, 2, 6],
        [6, 1, 2, 3, 0, 4, 5, 9, 7, 8],
        [3, 6, 7, 4, 2, 0, 9, 5, 8, 1],
        [5, 8, 6, 9, 7, 2, 0, 1, 3, 4],
        [8, 9, 4, 5, 3, 6, 2, 0, 1, 7],
        [9, 4, 3, 8, 6, 1, 7, 2, 0, 5],
        [2, 5, 8, 1, 4, 3, 6, 7, 9, 0],
    ]
}
