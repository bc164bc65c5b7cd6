// SPDX-License-Identifier: Apache-2.0

package import APITypes
internal import QRCode
internal import Wire

/// A pairing window for people and programs. Pure.
package enum WindowText {
    /// For a terminal: picture, code, link.
    package static func screen(_ window: Window, columns: Int, style: Style) -> String {
        var text = picture(window.url, columns: columns, style: style)
        text += "\n  Code  \(style(window.groupedCode, .strong))\n  Link  \(window.url)\n\n"
        let where_ = window.remote ? "" : ", on this network"
        return text + "  Scan the picture with the device, or type the code into its app\(where_).\n"
    }

    /// For a pipe: link, grouped code and expiry, one a line.
    package static func lines(_ window: Window) -> String {
        "\(window.url)\n\(window.groupedCode)\n\(window.expiresAt.rfc3339)\n"
    }

    /// The line that counts down, without its end.
    package static func countdown(_ milliseconds: Int64) -> String {
        "  Closes in \(TimeText.countdown(milliseconds)). Ctrl-C cancels."
    }

    /// The outcome as one JSON line; `device` is the device's own JSON.
    package static func outcome(_ word: String, device: [UInt8]?) -> [UInt8] {
        var writer = JSONWriter(capacity: 512)
        writer.object { object in
            object.field("outcome", word)
            if let device { object.raw("device", device) }
        }
        return writer.bytes
    }

    /// Why no device paired.
    package static func why(_ outcome: String) -> String {
        switch outcome {
        case "expired": "the window expired before a device paired"
        case "stopped": "too many wrong codes closed the window"
        case "cancelled": "the window was cancelled elsewhere"
        case "withdrawn": "the window was withdrawn"
        default: "the window closed: \(outcome)"
        }
    }

    /// What to do when none did.
    package static let next = ["Open another with: latchkey pair"]

    /// The QR code, or how to see it when the terminal has no room.
    private static func picture(_ url: String, columns: Int, style: Style) -> String {
        guard let code = try? QRMatrix.encode(url) else { return "" }
        let blocks = code.halfBlocks.split(separator: "\n", omittingEmptySubsequences: true).map(String.init)
        let width = blocks.map(\.count).max() ?? 0
        if width > columns {
            return "  The QR code needs \(width) columns, and this terminal has \(columns). "
                + "Widen it, or use --svg FILE.\n"
        }
        var text = ""
        for row in blocks {
            // Light on dark whatever the terminal's colours are: some scanners read no inverted picture.
            text += style.isColoured ? "\u{1B}[97;40m\(row)\u{1B}[0m\n" : row + "\n"
        }
        return text
    }
}
