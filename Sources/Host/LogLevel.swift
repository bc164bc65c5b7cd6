package import Core

/// How much is logged (spec 09, 16); Core's levels by their words.
package typealias LogLevel = LogLine.Level

extension LogLine.Level {
    /// nil for a word that names no level.
    package init?(word: String) {
        switch word {
        case "debug": self = .debug
        case "info": self = .info
        case "warning": self = .warning
        case "error": self = .error
        default: return nil
        }
    }

    /// The word of `--log-level` and of JSON lines.
    package var word: String {
        switch self {
        case .debug: "debug"
        case .info: "info"
        case .warning: "warning"
        case .error: "error"
        }
    }

    /// The journal's prefix, `sd-daemon(3)`.
    var journalPriority: Int {
        switch self {
        case .debug: 7
        case .info: 6
        case .warning: 4
        case .error: 3
        }
    }
}
