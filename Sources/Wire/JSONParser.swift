// SPDX-License-Identifier: Apache-2.0

/// Reads one JSON text, strictly by RFC 8259, over bytes that were not copied.
///
/// Text comes from peers before they are trusted, so depth and number length are bounded, and no error quotes the text.
struct JSONParser {
    /// Objects and arrays inside each other; more is refused, so that a peer cannot use up the stack.
    static let depthLimit = 32

    /// The next byte to read. Numbers are read in a file of their own.
    var index = 0

    private var depth = 0

    /// The value that is the whole text.
    mutating func parse(_ bytes: Span<UInt8>) throws(JSONError) -> JSON {
        if bytes.count >= 3, bytes[0] == 0xEF, bytes[1] == 0xBB, bytes[2] == 0xBF { index = 3 }
        skipSpace(bytes)
        let value = try parseValue(bytes)
        skipSpace(bytes)
        guard index == bytes.count else { throw problem("something follows the value") }
        return value
    }

    /// What is wrong at the next byte.
    func problem(_ what: String) -> JSONError {
        JSONError(message: "\(what) at byte \(index)")
    }

    private mutating func skipSpace(_ bytes: Span<UInt8>) {
        while index < bytes.count {
            switch bytes[index] {
            case 0x20, 0x0A, 0x0D, 0x09: index += 1
            default: return
            }
        }
    }

    private mutating func parseValue(_ bytes: Span<UInt8>) throws(JSONError) -> JSON {
        guard index < bytes.count else { throw problem("the text ends too early") }
        switch bytes[index] {
        case UInt8(ascii: "\""): return .string(try parseString(bytes))
        case UInt8(ascii: "{"): return try parseObject(bytes)
        case UInt8(ascii: "["): return try parseArray(bytes)
        case UInt8(ascii: "t"): return try parseWord("true", .bool(true), bytes)
        case UInt8(ascii: "f"): return try parseWord("false", .bool(false), bytes)
        case UInt8(ascii: "n"): return try parseWord("null", .null, bytes)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try parseNumber(bytes)
        default: throw problem("no value")
        }
    }

    private mutating func parseWord(
        _ word: String, _ value: JSON, _ bytes: Span<UInt8>
    ) throws(JSONError) -> JSON {
        for unit in word.utf8 {
            guard index < bytes.count, bytes[index] == unit else { throw problem("no value") }
            index += 1
        }
        return value
    }

    /// Goes past `unit`, or says that it is missing.
    private mutating func expect(_ unit: UInt8, _ bytes: Span<UInt8>) throws(JSONError) {
        guard index < bytes.count, bytes[index] == unit else {
            throw problem("a \"\(Character(Unicode.Scalar(unit)))\" is missing")
        }
        index += 1
    }

    private mutating func enter() throws(JSONError) {
        guard depth < Self.depthLimit else { throw problem("values are nested too deeply") }
        depth += 1
        index += 1
    }

    private mutating func parseObject(_ bytes: Span<UInt8>) throws(JSONError) -> JSON {
        try enter()
        var members: [JSON.Member] = []
        skipSpace(bytes)
        if index < bytes.count, bytes[index] == UInt8(ascii: "}") {
            index += 1
            depth -= 1
            return .object(members)
        }
        members.reserveCapacity(8)
        while true {
            skipSpace(bytes)
            let key = try parseString(bytes)
            skipSpace(bytes)
            try expect(UInt8(ascii: ":"), bytes)
            skipSpace(bytes)
            members.append(JSON.Member(key: key, value: try parseValue(bytes)))
            skipSpace(bytes)
            if index < bytes.count, bytes[index] == UInt8(ascii: ",") {
                index += 1
                continue
            }
            try expect(UInt8(ascii: "}"), bytes)
            depth -= 1
            return .object(members)
        }
    }

    private mutating func parseArray(_ bytes: Span<UInt8>) throws(JSONError) -> JSON {
        try enter()
        var values: [JSON] = []
        skipSpace(bytes)
        if index < bytes.count, bytes[index] == UInt8(ascii: "]") {
            index += 1
            depth -= 1
            return .array(values)
        }
        while true {
            skipSpace(bytes)
            values.append(try parseValue(bytes))
            skipSpace(bytes)
            if index < bytes.count, bytes[index] == UInt8(ascii: ",") {
                index += 1
                continue
            }
            try expect(UInt8(ascii: "]"), bytes)
            depth -= 1
            return .array(values)
        }
    }
}

// Strings.
extension JSONParser {
    private mutating func parseString(_ bytes: Span<UInt8>) throws(JSONError) -> String {
        try expect(UInt8(ascii: "\""), bytes)
        let start = index
        while index < bytes.count {
            let unit = bytes[index]
            if unit == UInt8(ascii: "\"") {
                let text = try makeString(bytes.extracting(start..<index))
                index += 1
                return text
            }
            if unit == UInt8(ascii: "\\") { return try parseEscapedString(bytes, from: start) }
            guard unit >= 0x20 else { throw problem("a control character in a string") }
            index += 1
        }
        throw problem("the text ends inside a string")
    }

    /// The text of these bytes, which have to be UTF-8.
    func makeString(_ bytes: Span<UInt8>) throws(JSONError) -> String {
        do {
            return String(copying: try UTF8Span(validating: bytes))
        } catch {
            throw problem("a string that is not UTF-8")
        }
    }

    /// The slow way, taken at the first backslash: unescaped bytes go to a buffer.
    private mutating func parseEscapedString(_ bytes: Span<UInt8>, from start: Int) throws(JSONError)
        -> String
    {
        var out: [UInt8] = []
        out.reserveCapacity(index - start + 32)
        for position in start..<index { out.append(bytes[position]) }
        while index < bytes.count {
            let unit = bytes[index]
            if unit == UInt8(ascii: "\"") {
                let text = try makeString(out.span)
                index += 1
                return text
            }
            guard unit >= 0x20 else { throw problem("a control character in a string") }
            index += 1
            if unit == UInt8(ascii: "\\") {
                try parseEscape(bytes, into: &out)
            } else {
                out.append(unit)
            }
        }
        throw problem("the text ends inside a string")
    }

    private mutating func parseEscape(_ bytes: Span<UInt8>, into out: inout [UInt8]) throws(JSONError) {
        guard index < bytes.count else { throw problem("the text ends inside a string") }
        let unit = bytes[index]
        index += 1
        switch unit {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): out.append(unit)
        case UInt8(ascii: "b"): out.append(0x08)
        case UInt8(ascii: "f"): out.append(0x0C)
        case UInt8(ascii: "n"): out.append(0x0A)
        case UInt8(ascii: "r"): out.append(0x0D)
        case UInt8(ascii: "t"): out.append(0x09)
        case UInt8(ascii: "u"):
            var code = try parseHexQuad(bytes)
            if code >> 10 == 0xD800 >> 10 {
                // The first half of a pair; the second has to follow at once.
                guard index + 1 < bytes.count, bytes[index] == UInt8(ascii: "\\"),
                    bytes[index + 1] == UInt8(ascii: "u")
                else { throw problem("half a surrogate pair") }
                index += 2
                let second = try parseHexQuad(bytes)
                guard second >> 10 == 0xDC00 >> 10 else { throw problem("half a surrogate pair") }
                code = 0x10000 + (code & 0x3FF) << 10 + second & 0x3FF
            }
            guard let scalar = Unicode.Scalar(code) else { throw problem("half a surrogate pair") }
            out.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
        default: throw problem("an unknown escape")
        }
    }

    private mutating func parseHexQuad(_ bytes: Span<UInt8>) throws(JSONError) -> UInt32 {
        guard index + 4 <= bytes.count else { throw problem("the text ends inside a string") }
        var code: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = Hex.value(of: bytes[index]) else { throw problem("an unknown escape") }
            code = code << 4 | UInt32(digit)
            index += 1
        }
        return code
    }
}
