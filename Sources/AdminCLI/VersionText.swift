// SPDX-License-Identifier: Apache-2.0

internal import APITypes
internal import Wire

/// What `latchkey version` prints.
enum VersionText {
    static func line(isJSON: Bool) -> String {
        guard isJSON else { return "latchkey \(latchkeyVersion)\n" }
        var writer = JSONWriter()
        writer.object { $0.field("version", latchkeyVersion) }
        return writer.text + "\n"
    }
}
