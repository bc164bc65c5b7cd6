// SPDX-License-Identifier: Apache-2.0

/// A D-Bus value with its type (D-Bus specification, "Type System"). File descriptors are never asked for, so there is
/// no case for them.
package indirect enum BusValue: Sendable, Equatable {
    /// `y`
    case byte(UInt8)
    /// `b`
    case bool(Bool)
    /// `n`
    case int16(Int16)
    /// `q`
    case uint16(UInt16)
    /// `i`
    case int32(Int32)
    /// `u`
    case uint32(UInt32)
    /// `x`
    case int64(Int64)
    /// `t`
    case uint64(UInt64)
    /// `d`
    case double(Double)
    /// `s`: UTF-8 without a zero byte, else it cannot be sent.
    case string(String)
    /// `o`
    case objectPath(String)
    /// `g`; only ever received
    case signature(String)
    /// `ay`
    case bytes([UInt8])
    /// `a…`: the signature of one element (an empty array has one too), and the elements.
    case array(of: String, [BusValue])
    /// `(…)`, not empty
    case structure([BusValue])
    /// `{…}`, only inside an array
    case entry(BusValue, BusValue)
    /// `v`
    case variant(BusValue)

    /// `as`
    package static func strings(_ texts: [String]) -> BusValue {
        .array(of: "s", texts.map(BusValue.string))
    }

    /// `aay`, as Avahi takes TXT records.
    package static func byteArrays(_ arrays: [[UInt8]]) -> BusValue {
        .array(of: "ay", arrays.map(BusValue.bytes))
    }

    /// Its type in D-Bus's letters.
    package var signature: String {
        switch self {
        case .byte: "y"
        case .bool: "b"
        case .int16: "n"
        case .uint16: "q"
        case .int32: "i"
        case .uint32: "u"
        case .int64: "x"
        case .uint64: "t"
        case .double: "d"
        case .string: "s"
        case .objectPath: "o"
        case .signature: "g"
        case .bytes: "ay"
        case .array(let element, _): "a" + element
        case .structure(let members): "(" + members.map(\.signature).joined() + ")"
        case .entry(let key, let value): "{" + key.signature + value.signature + "}"
        case .variant: "v"
        }
    }
}

/// What a reader expects; nil when the value is of another type.
extension BusValue {
    /// Of an `s`.
    package var text: String? { if case .string(let text) = self { text } else { nil } }
    /// Of an `o`.
    package var path: String? { if case .objectPath(let path) = self { path } else { nil } }
    /// Of a `b`.
    package var flag: Bool? { if case .bool(let flag) = self { flag } else { nil } }
    /// Of a `u`.
    package var number: UInt32? { if case .uint32(let number) = self { number } else { nil } }
    /// Of an `i`.
    package var signedNumber: Int32? { if case .int32(let number) = self { number } else { nil } }
    /// What a `v` holds.
    package var held: BusValue? { if case .variant(let value) = self { value } else { nil } }
    /// The members of a `(…)`.
    package var members: [BusValue]? { if case .structure(let members) = self { members } else { nil } }
    /// The elements of an array other than `ay` (see ``bytes(_:)``).
    package var elements: [BusValue]? { if case .array(_, let elements) = self { elements } else { nil } }

    /// Of an `a{sv}`, which holds properties by name; nil also when a name stands there twice.
    package var properties: [String: BusValue]? {
        guard case .array("{sv}", let entries) = self else { return nil }
        var found: [String: BusValue] = [:]
        for entry in entries {
            guard case .entry(.string(let name), .variant(let value)) = entry,
                found.updateValue(value, forKey: name) == nil
            else { return nil }
        }
        return found
    }
}
