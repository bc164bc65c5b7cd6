// SPDX-License-Identifier: Apache-2.0

/// Rows of text whose columns stand under each other.
struct Columns {
    /// A piece of text and the role it is shown in.
    struct Cell {
        let text: String
        let role: Style.Role?

        init(_ text: String, _ role: Style.Role? = nil) {
            self.text = text.visible
            self.role = role
        }
    }

    private static let gap = "  "
    private var rows: [[Cell]] = []

    init() {}

    /// A table with its headings.
    init(headings: [String]) { rows = [headings.map { Cell($0, .heading) }] }

    /// Adds a row; rows may differ in length.
    mutating func add(_ cells: [Cell]) { rows.append(cells) }

    /// Adds a row "name  value".
    mutating func add(_ name: String, _ value: String, _ role: Style.Role? = nil) {
        rows.append([Cell(name, .faint), Cell(value, role)])
    }

    /// The rows, one a line, without blanks at their ends.
    func text(_ style: Style) -> String {
        var widths: [Int] = []
        for row in rows {
            for (index, cell) in row.enumerated() {
                if index == widths.count { widths.append(0) }
                widths[index] = max(widths[index], cell.text.columns)
            }
        }
        var text = ""
        for row in rows {
            var line = ""
            for (index, cell) in row.enumerated() {
                let last = row[(index + 1)...].allSatisfy(\.text.isEmpty)
                let shown = cell.role.map { style(cell.text, $0) } ?? cell.text
                line += shown
                if last { break }
                line += String(repeating: " ", count: widths[index] - cell.text.columns) + Self.gap
            }
            text += line + "\n"
        }
        return text
    }
}
