// SPDX-License-Identifier: Apache-2.0

internal import Wire

/// What `latchkey version` prints.
enum VersionText {
    /// This program's version.
    static let version = "0.1.0"

    static func line(isJSON: Bool) -> String {
        guard isJSON else { return "latchkey \(version)\n" }
        var writer = JSONWriter()
        writer.object { $0.field("version", version) }
        return writer.text + "\n"
    }
}
