// Percent-encoding (RFC 3986 section 2.1). SPDX-License-Identifier: Apache-2.0

/// Decodes path segments and query values.
enum PercentEncoding {
    /// The text without `%XX`. Broken escapes stay as they are, and bytes that are not UTF-8 become U+FFFD: such a
    /// text names nothing we have, so the caller gets a 404 or a 400 for it.
    static func decode(_ text: some Sequence<UInt8>) -> String {
        var bytes: [UInt8] = []
        var pending: [UInt8] = []
        for byte in text {
            if pending.isEmpty {
                if byte == UInt8(ascii: "%") { pending.append(byte) } else { bytes.append(byte) }
            } else if pending.count == 1 {
                if digit(byte) != nil {
                    pending.append(byte)
                } else {
                    bytes += pending
                    pending = []
                    if byte == UInt8(ascii: "%") { pending.append(byte) } else { bytes.append(byte) }
                }
            } else if let high = digit(pending[1]), let low = digit(byte) {
                bytes.append(high << 4 | low)
                pending = []
            } else {
                bytes += pending
                pending = []
                if byte == UInt8(ascii: "%") { pending.append(byte) } else { bytes.append(byte) }
            }
        }
        return String(decoding: bytes + pending, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
