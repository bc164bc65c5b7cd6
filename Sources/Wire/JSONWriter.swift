// SPDX-License-Identifier: Apache-2.0

/// Writes one JSON text into one buffer, field by field, without a tree in between.
///
/// Escapes what RFC 8259 says must be (quote, backslash, control characters) and nothing else. Calls follow the shape
/// of the text: `object` or `array` at value position, `field` inside objects, `element` inside arrays.
package struct JSONWriter {
    /// The text so far, in UTF-8.
    package private(set) var bytes: [UInt8] = []

    // Whether a value stands directly before: the next one needs a comma first.
    private var needsComma = false

    /// An empty text in a buffer of this many bytes.
    package init(capacity: Int = 256) {
        bytes.reserveCapacity(max(0, capacity))
    }

    /// The text so far.
    package var text: String { String(decoding: bytes, as: UTF8.self) }

    // MARK: Objects and arrays

    /// An object as the whole text or as an element of an array.
    package mutating func object(_ body: (inout JSONWriter) -> Void) {
        separate()
        bracket(UInt8(ascii: "{"), UInt8(ascii: "}"), body)
    }

    /// An array as the whole text or as an element of an array.
    package mutating func array(_ body: (inout JSONWriter) -> Void) {
        separate()
        bracket(UInt8(ascii: "["), UInt8(ascii: "]"), body)
    }

    /// A field that holds an object.
    package mutating func object(_ name: String, _ body: (inout JSONWriter) -> Void) {
        key(name)
        bracket(UInt8(ascii: "{"), UInt8(ascii: "}"), body)
    }

    /// A field that holds an array.
    package mutating func array(_ name: String, _ body: (inout JSONWriter) -> Void) {
        key(name)
        bracket(UInt8(ascii: "["), UInt8(ascii: "]"), body)
    }

    // MARK: Fields

    /// A field that holds a text.
    package mutating func field(_ name: String, _ value: String) {
        key(name)
        write(value)
    }

    /// A field that holds a truth value.
    package mutating func field(_ name: String, _ value: Bool) {
        key(name)
        write(value)
    }

    /// A field that holds an integer.
    package mutating func field(_ name: String, _ value: Int) {
        key(name)
        write(Int64(value))
    }

    /// A field that holds an integer.
    package mutating func field(_ name: String, _ value: Int64) {
        key(name)
        write(value)
    }

    /// A field that holds an integer.
    package mutating func field(_ name: String, _ value: UInt64) {
        key(name)
        write(magnitude: value)
    }

    /// A field that holds a number; whole ones are written as integers, NaN and infinities as null.
    package mutating func field(_ name: String, _ value: Double) {
        key(name)
        write(value)
    }

    /// A field that holds any value.
    package mutating func field(_ name: String, _ value: JSON) {
        key(name)
        write(value)
    }

    /// A text field that is left out when there is no value.
    package mutating func field(_ name: String, ifPresent value: String?) {
        if let value { field(name, value) }
    }

    /// A truth value's field that is left out when there is no value.
    package mutating func field(_ name: String, ifPresent value: Bool?) {
        if let value { field(name, value) }
    }

    /// An integer field that is left out when there is no value.
    package mutating func field(_ name: String, ifPresent value: Int?) {
        if let value { field(name, value) }
    }

    /// A number field that is left out when there is no value.
    package mutating func field(_ name: String, ifPresent value: Double?) {
        if let value { field(name, value) }
    }

    /// A field that holds null.
    package mutating func null(_ name: String) {
        key(name)
        write(.null)
    }

    /// A field whose value is JSON already, and is copied as it is.
    package mutating func raw(_ name: String, _ json: [UInt8]) {
        key(name)
        bytes.append(contentsOf: json)
        needsComma = true
    }

    // MARK: Elements and whole values

    /// A text in an array.
    package mutating func element(_ value: String) {
        separate()
        write(value)
    }

    /// A truth value in an array.
    package mutating func element(_ value: Bool) {
        separate()
        write(value)
    }

    /// An integer in an array.
    package mutating func element(_ value: Int) {
        separate()
        write(Int64(value))
    }

    /// A number in an array.
    package mutating func element(_ value: Double) {
        separate()
        write(value)
    }

    /// Any value in an array.
    package mutating func element(_ value: JSON) {
        separate()
        write(value)
    }

    /// An element of an array that is JSON already, and is copied as it is.
    package mutating func rawElement(_ json: [UInt8]) {
        separate()
        bytes.append(contentsOf: json)
        needsComma = true
    }

    /// Any value as the whole text.
    package mutating func value(_ json: JSON) {
        separate()
        write(json)
    }
}

// The pieces that fields, elements and whole values share. None but `key` and `separate` writes a comma.
extension JSONWriter {
    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
    }

    private mutating func key(_ name: String) {
        separate()
        write(name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    private mutating func bracket(_ open: UInt8, _ close: UInt8, _ body: (inout JSONWriter) -> Void) {
        bytes.append(open)
        needsComma = false
        body(&self)
        bytes.append(close)
        needsComma = true
    }

    private mutating func write(_ value: Bool) {
        bytes.append(contentsOf: value ? "true".utf8 : "false".utf8)
        needsComma = true
    }

    private mutating func write(_ value: Int64) {
        if value < 0 { bytes.append(UInt8(ascii: "-")) }
        write(magnitude: value.magnitude)
    }

    private mutating func write(magnitude: UInt64) {
        needsComma = true
        var digits = InlineArray<20, UInt8>(repeating: 0)
        var first = digits.count
        var rest = magnitude
        repeat {
            first -= 1
            digits[first] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        } while rest > 0
        for index in first..<digits.count { bytes.append(digits[index]) }
    }

    private mutating func write(_ value: Double) {
        // Up to 2^53 a whole Double is exactly the integer it prints as.
        if let whole = value.exactInteger {
            write(whole)
        } else {
            bytes.append(contentsOf: value.isFinite ? value.description.utf8 : "null".utf8)
            needsComma = true
        }
    }

    private mutating func write(_ value: JSON) {
        switch value {
        case .null:
            bytes.append(contentsOf: "null".utf8)
            needsComma = true
        case .bool(let value): write(value)
        case .number(let value): write(value)
        case .integer(let value): write(value)
        case .string(let value): write(value)
        case .array(let values):
            bracket(UInt8(ascii: "["), UInt8(ascii: "]")) { writer in
                for value in values { writer.element(value) }
            }
        case .object(let members):
            bracket(UInt8(ascii: "{"), UInt8(ascii: "}")) { writer in
                for member in members { writer.field(member.key, member.value) }
            }
        }
    }

    private mutating func write(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        // Copied in one go, and looked through where it is in one piece; a text to escape is rare, and is written again.
        let start = bytes.count
        bytes.append(contentsOf: text.utf8)
        if Self.needsEscape(bytes.span, from: start) {
            bytes.removeSubrange(start...)
            for unit in text.utf8 { writeEscaped(unit) }
        }
        bytes.append(UInt8(ascii: "\""))
        needsComma = true
    }

    private static func needsEscape(_ bytes: Span<UInt8>, from start: Int) -> Bool {
        // Without an early exit, so that the compiler looks at many bytes at once.
        var found = false
        for index in start..<bytes.count { found = needsEscape(bytes[index]) || found }
        return found
    }

    private static func needsEscape(_ unit: UInt8) -> Bool {
        unit < 0x20 || unit == UInt8(ascii: "\"") || unit == UInt8(ascii: "\\")
    }

    private mutating func writeEscaped(_ unit: UInt8) {
        guard Self.needsEscape(unit) else { return bytes.append(unit) }
        bytes.append(UInt8(ascii: "\\"))
        switch unit {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes.append(unit)
        case 0x08: bytes.append(UInt8(ascii: "b"))
        case 0x09: bytes.append(UInt8(ascii: "t"))
        case 0x0A: bytes.append(UInt8(ascii: "n"))
        case 0x0C: bytes.append(UInt8(ascii: "f"))
        case 0x0D: bytes.append(UInt8(ascii: "r"))
        default:
            bytes.append(contentsOf: "u00".utf8)
            bytes.append(Hex.digit(unit >> 4))
            bytes.append(Hex.digit(unit & 0x0F))
        }
    }
}
