// SPDX-License-Identifier: Apache-2.0

internal import Wire

/// A value bound to a parameter of a statement, in SQLite's own types.
enum SQLValue: Sendable, Equatable {
    case null
    case integer(Int64)
    case text(String)
    case blob([UInt8])

    /// Milliseconds since 1970, as every time is stored.
    static func time(_ time: WallTime?) -> SQLValue { time.map { .integer($0.milliseconds) } ?? .null }

    /// Text, or NULL for nil.
    static func optional(_ text: String?) -> SQLValue { text.map(SQLValue.text) ?? .null }

    /// The 32 bytes of a fingerprint.
    static func key(_ fingerprint: Fingerprint) -> SQLValue { .blob(fingerprint.bytes) }
}
