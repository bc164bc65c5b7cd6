package import Core
package import Wire

/// Turns a log line into the bytes of one line of output. Pure; twin test: LogFormatterTests.swift.
package enum LogFormatter {
    /// One line with its line end, in the form asked for.
    package static func render(_ line: LogLine, at time: WallTime, as format: Options.LogFormat) -> String {
        switch format {
        case .text:
            "\(time.rfc3339) \(line.level.word.padded(to: 7)) \(line.message)\(pairs(line.fields))\n"
        case .json:
            json(line, at: time)
        case .journal:
            // The journal stamps lines itself and reads the level from this prefix (sd-daemon(3)).
            "<\(line.level.journalPriority)>\(line.message)\(pairs(line.fields))\n"
        }
    }

    private static func pairs(_ fields: [(String, String)]) -> String {
        fields.map { name, value in " \(name)=\(quoted(value))" }.joined()
    }

    /// Text from outside may hold spaces and quotes; a reader must see where it ends.
    private static func quoted(_ value: String) -> String {
        let plain =
            !value.isEmpty && value.unicodeScalars.allSatisfy { $0.value > 0x20 && $0 != "\"" && $0 != "=" }
        if plain { return value }
        return "\""
            + value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
            + "\""
    }

    private static func json(_ line: LogLine, at time: WallTime) -> String {
        var writer = JSONWriter()
        writer.object { object in
            object.field("time", time.rfc3339)
            object.field("level", line.level.word)
            object.field("message", line.message)
            for (name, value) in line.fields { object.field(name, value) }
        }
        return writer.text + "\n"
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }
}
