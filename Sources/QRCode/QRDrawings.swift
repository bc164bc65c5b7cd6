// SPDX-License-Identifier: Apache-2.0

extension QRMatrix {
    /// An SVG 1.1 document, one unit a module, with a white ground that includes the quiet zone. It has no size of its
    /// own: `viewBox` lets the page decide.
    package var svg: String {
        let side = size + 2 * Self.quiet
        var path = ""
        for (row, modules) in rows.enumerated() {
            for run in Self.darkRuns(modules) {
                path += "M\(run.lowerBound + Self.quiet) \(row + Self.quiet)h\(run.count)v1h-\(run.count)z"
            }
        }
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(side) \(side)" shape-rendering="crispEdges">\
            <rect width="\(side)" height="\(side)" fill="#fff"/><path d="\(path)" fill="#000"/></svg>

            """
    }

    /// Lines of half blocks, two rows of modules a line, quiet zone included; each line ends with a newline.
    ///
    /// Light modules are what is printed, so that the code is dark on light on a terminal that is light on dark.
    package var halfBlocks: String {
        let range = -Self.quiet..<(size + Self.quiet)
        var text = ""
        for row in stride(from: range.lowerBound, to: range.upperBound, by: 2) {
            for column in range {
                let top = !isDark(row: row, column: column)
                // Below the last row there is nothing to print.
                let bottom = row + 1 < range.upperBound && !isDark(row: row + 1, column: column)
                switch (top, bottom) {
                case (true, true): text += "█"
                case (true, false): text += "▀"
                case (false, true): text += "▄"
                case (false, false): text += " "
                }
            }
            text += "\n"
        }
        return text
    }

    /// The object of settled question 21: `{"size":45,"quiet":4,"level":"M","rows":["0110…",…]}`; `1` is dark, and the
    /// rows leave the quiet zone to whoever draws.
    package func json() -> String {
        let lines = rows.map { row in "\"" + row.map { $0 ? "1" : "0" }.joined() + "\"" }
        return """
            {"size":\(size),"quiet":\(Self.quiet),"level":"\(Self.level)","rows":[\(lines.joined(separator: ","))]}
            """
    }

    /// The stretches of neighbouring dark modules in one row.
    private static func darkRuns(_ modules: [Bool]) -> [Range<Int>] {
        var runs: [Range<Int>] = []
        var start: Int?
        for (column, isDark) in (modules + [false]).enumerated() {
            if isDark {
                start = start ?? column
            } else if let begin = start {
                runs.append(begin..<column)
                start = nil
            }
        }
        return runs
    }
}
