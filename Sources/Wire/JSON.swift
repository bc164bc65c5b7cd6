// SPDX-License-Identifier: Apache-2.0

/// A JSON value (RFC 8259) as the wire and the local API read it (file 01 §9.2).
///
/// Numbers are told apart by value, not by spelling: `1`, `1.0` and `1e0` are all `.integer(1)`.
package enum JSON: Sendable, Equatable {
    case null
    case bool(Bool)
    /// A number that is no integer, or none in the range of Int64. Always finite when it was parsed.
    case number(Double)
    case integer(Int64)
    case string(String)
    case array([JSON])
    /// Members in the order of the text. When a key occurs twice the first one counts.
    case object([Member])

    /// One key of an object and its value.
    package struct Member: Sendable, Equatable {
        /// The key as the sender wrote it, escapes resolved.
        package var key: String
        /// What it holds.
        package var value: JSON

        /// The pair.
        package init(key: String, value: JSON) {
            self.key = key
            self.value = value
        }
    }
}

/// Why a text is no JSON, or why a value in it is not what its reader needs.
package struct JSONError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The field at fault, `home.bitrate`; nil when the text as a whole is.
    package var field: String?
    /// What is wrong, for people. Never quotes the text, which may hold a secret.
    package var message: String

    /// The problem of one field, or of the whole text.
    package init(field: String? = nil, message: String) {
        self.field = field
        self.message = message
    }

    /// The same problem seen from the object around: `bitrate` inside `home` is `home.bitrate`.
    package func inside(_ parent: String) -> JSONError {
        JSONError(field: field.map { "\(parent).\($0)" } ?? parent, message: message)
    }

    package var description: String {
        field.map { "\($0): \(message)" } ?? message
    }
}

extension JSON {
    /// The value of the first member with exactly this key; nil when there is none, or this is no object.
    package subscript(key: String) -> JSON? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.key.isSameBytes(as: key) }?.value
    }

    /// The text, when this is a string.
    package var string: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// The truth value, when this is `true` or `false`.
    package var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The integer, when this is a number with an integer value.
    package var int: Int? {
        if case .integer(let value) = self { Int(exactly: value) } else { nil }
    }

    /// The number, when this is one.
    package var double: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }

    /// The elements, when this is an array.
    package var array: [JSON]? {
        if case .array(let values) = self { values } else { nil }
    }

    /// The members, when this is an object.
    package var members: [Member]? {
        if case .object(let members) = self { members } else { nil }
    }

    /// Whether this is `null`.
    package var isNull: Bool { self == .null }

    /// Reads one JSON text in UTF-8. A byte order mark before it is skipped, white space around it too.
    package static func parse(_ bytes: [UInt8]) throws(JSONError) -> JSON {
        var parser = JSONParser()
        return try parser.parse(bytes.span)
    }

    /// Reads one JSON text.
    package static func parse(_ text: String) throws(JSONError) -> JSON {
        try parse(Array(text.utf8))
    }
}
