// SPDX-License-Identifier: Apache-2.0

internal import CSystemd

/// One message, sent or received; lets go of it when it ends.
@safe final class BusMessage {
    /// What sd-bus said of a value it would not take or give: a negative error number.
    struct Failure: Error { let code: Int32 }

    private let raw: OpaquePointer  // sd_bus_message *, one reference of it ours

    /// Takes over a reference.
    init(adopting raw: OpaquePointer) { unsafe self.raw = raw }

    /// Keeps a message that a callback was lent.
    init(lent raw: OpaquePointer) { unsafe self.raw = sd_bus_message_ref(raw) }

    deinit { unsafe sd_bus_message_unref(raw) }

    /// For sd-bus's own calls; stays this object's.
    var pointer: OpaquePointer { unsafe raw }

    var isSignal: Bool {
        var type: UInt8 = 0
        return unsafe sd_bus_message_get_type(raw, &type) >= 0 && type == UInt8(SD_BUS_MESSAGE_SIGNAL)
    }

    /// As the bus itself wrote it: always the unique name, or `org.freedesktop.DBus` for the bus. Empty without a bus.
    var sender: String { unsafe text(sd_bus_message_get_sender(raw)) }
    var path: String { unsafe text(sd_bus_message_get_path(raw)) }
    var interface: String { unsafe text(sd_bus_message_get_interface(raw)) }
    var member: String { unsafe text(sd_bus_message_get_member(raw)) }

    /// Name and words of an error; nil for any other message.
    var error: (name: String, message: String)? {
        guard unsafe sd_bus_message_is_method_error(raw, nil) > 0,
            let error = unsafe sd_bus_message_get_error(raw)
        else { return nil }
        return unsafe (text(error.pointee.name), text(error.pointee.message))
    }

    private func text(_ pointer: UnsafePointer<CChar>?) -> String {
        unsafe pointer.map { unsafe String(cString: $0) } ?? ""
    }

    // MARK: Writing

    /// Adds values at the end.
    func append(_ values: [BusValue]) throws(Failure) { for value in values { try append(value) } }

    private func append(_ value: BusValue) throws(Failure) {
        switch value {
        case .byte(let value): try append("y", value)
        case .bool(let value): try append("b", Int32(value ? 1 : 0))
        case .int16(let value): try append("n", value)
        case .uint16(let value): try append("q", value)
        case .int32(let value): try append("i", value)
        case .uint32(let value): try append("u", value)
        case .int64(let value): try append("x", value)
        case .uint64(let value): try append("t", value)
        case .double(let value): try append("d", value)
        case .string(let text): try append("s", text: text)
        case .objectPath(let text):
            guard unsafe sd_bus_object_path_is_valid(text) > 0 else { throw Failure(code: -EINVAL) }
            try append("o", text: text)
        // sd-bus would send a wrong one, and the bus then ends the connection.
        case .signature: throw Failure(code: -EOPNOTSUPP)
        case .bytes(let bytes):
            try check(
                unsafe bytes.withUnsafeBytes { bytes in
                    unsafe sd_bus_message_append_array(raw, letter("y"), bytes.baseAddress, bytes.count)
                })
        case .array(let element, let elements): try append("a", element, elements)
        case .structure(let members):
            // The same with an empty one.
            if members.isEmpty { throw Failure(code: -EINVAL) }
            try append("r", members.map(\.signature).joined(), members)
        case .entry(let key, let value): try append("e", key.signature + value.signature, [key, value])
        case .variant(let value): try append("v", value.signature, [value])
        }
    }

    private func append<Number: BitwiseCopyable>(_ type: Unicode.Scalar, _ value: Number) throws(Failure) {
        try check(
            unsafe withUnsafePointer(to: value) { unsafe sd_bus_message_append_basic(raw, letter(type), $0) })
    }

    private func append(_ type: Unicode.Scalar, text: String) throws(Failure) {
        // A C string would end at the zero byte, and something else than was meant would be sent.
        if text.utf8.contains(0) { throw Failure(code: -EINVAL) }
        try check(unsafe text.withCString { unsafe sd_bus_message_append_basic(raw, letter(type), $0) })
    }

    private func append(_ type: Unicode.Scalar, _ contents: String, _ values: [BusValue]) throws(Failure) {
        try check(unsafe sd_bus_message_open_container(raw, letter(type), contents))
        try append(values)
        try check(unsafe sd_bus_message_close_container(raw))
    }

    // MARK: Reading

    /// Every value, from the first; reading twice gives the same.
    func values() throws(Failure) -> [BusValue] {
        try check(unsafe sd_bus_message_rewind(raw, 1))
        return try readToEnd()
    }

    private func readToEnd() throws(Failure) -> [BusValue] {
        var values: [BusValue] = []
        while true {
            var type: CChar = 0
            var contents: UnsafePointer<CChar>?
            let isThere = try check(unsafe sd_bus_message_peek_type(raw, &type, &contents))
            if isThere == 0 { return values }
            values.append(try read(Unicode.Scalar(UInt8(bitPattern: type)), contents: unsafe text(contents)))
        }
    }

    private func read(_ type: Unicode.Scalar, contents: String) throws(Failure) -> BusValue {
        switch type {
        case "y": return .byte(try read(type, 0))
        case "b": return .bool(try read(type, Int32(0)) != 0)
        case "n": return .int16(try read(type, 0))
        case "q": return .uint16(try read(type, 0))
        case "i": return .int32(try read(type, 0))
        case "u": return .uint32(try read(type, 0))
        case "x": return .int64(try read(type, 0))
        case "t": return .uint64(try read(type, 0))
        case "d": return .double(try read(type, 0))
        case "s": return .string(try readText(type))
        case "o": return .objectPath(try readText(type))
        case "g": return .signature(try readText(type))
        case "a" where contents == "y": return .bytes(try readBytes())
        case "a": return .array(of: contents, try readInside(type, contents))
        case "r": return .structure(try readInside(type, contents))
        case "v":
            guard let value = try readInside(type, contents).first else { throw Failure(code: -EBADMSG) }
            return .variant(value)
        case "e":
            let pair = try readInside(type, contents)
            guard pair.count == 2 else { throw Failure(code: -EBADMSG) }
            return .entry(pair[0], pair[1])
        default: throw Failure(code: -EOPNOTSUPP)
        }
    }

    private func read<Number: BitwiseCopyable>(
        _ type: Unicode.Scalar, _ zero: Number
    ) throws(Failure) -> Number {
        var value = zero
        try check(
            unsafe withUnsafeMutablePointer(to: &value) {
                unsafe sd_bus_message_read_basic(raw, letter(type), $0)
            })
        return value
    }

    private func readText(_ type: Unicode.Scalar) throws(Failure) -> String {
        var pointer: UnsafePointer<CChar>?
        try check(
            unsafe withUnsafeMutablePointer(to: &pointer) {
                unsafe sd_bus_message_read_basic(raw, letter(type), $0)
            })
        return unsafe text(pointer)
    }

    private func readBytes() throws(Failure) -> [UInt8] {
        var pointer: UnsafeRawPointer?
        var count = 0
        try check(unsafe sd_bus_message_read_array(raw, letter("y"), &pointer, &count))
        return unsafe Array(UnsafeRawBufferPointer(start: pointer, count: pointer == nil ? 0 : count))
    }

    private func readInside(_ type: Unicode.Scalar, _ contents: String) throws(Failure) -> [BusValue] {
        try check(unsafe sd_bus_message_enter_container(raw, letter(type), contents))
        let values = try readToEnd()
        try check(unsafe sd_bus_message_exit_container(raw))
        return values
    }

    private func letter(_ scalar: Unicode.Scalar) -> CChar { CChar(truncatingIfNeeded: scalar.value) }

    @discardableResult
    private func check(_ result: Int32) throws(Failure) -> Int32 {
        if result < 0 { throw Failure(code: result) }
        return result
    }
}
