// SPDX-License-Identifier: Apache-2.0

internal import Wire

/// An address with a port as streaming processes write it; an IPv6 zone may be an interface's name.
enum EndpointText {
    /// nil for anything else.
    static func read(_ text: String) -> (address: SocketAddress, zoneName: String?)? {
        if let percent = text.utf8.firstIndex(of: UInt8(ascii: "%")) {
            guard let end = text.utf8.lastIndex(of: UInt8(ascii: "]")), percent < end else { return nil }
            let zone = text[text.utf8.index(after: percent)..<end]
            if zone.isEmpty { return nil }
            if UInt32(zone) == nil {
                guard let address = SocketAddress(String(text[..<percent]) + String(text[end...])) else {
                    return nil
                }
                return (address, String(zone))
            }
        }
        return SocketAddress(text).map { ($0, nil) }
    }

    /// The same from ASCII bytes. An IPv4 address is read right here, since the hot call has two of them.
    static func read(_ bytes: ArraySlice<UInt8>) -> (address: SocketAddress, zoneName: String?)? {
        if let address = plainIPv4(bytes) { return (address, nil) }
        return read(String(decoding: bytes, as: UTF8.self))
    }

    /// `1.2.3.4:5` in its shortest form; nil for all else, also what the general reader takes.
    private static func plainIPv4(_ bytes: ArraySlice<UInt8>) -> SocketAddress? {
        var address: UInt32 = 0
        var groups = 0
        var number: UInt32 = 0
        var digits = 0
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                // A leading zero and a sixth digit are the general reader's business.
                if digits > 0 && number == 0 || digits == 5 { return nil }
                number = number * 10 + UInt32(byte - UInt8(ascii: "0"))
                digits += 1
            case UInt8(ascii: "."), UInt8(ascii: ":"):
                groups += 1
                guard digits > 0, number <= 255, (byte == UInt8(ascii: ":")) == (groups == 4) else {
                    return nil
                }
                address = address << 8 | number
                number = 0
                digits = 0
            default: return nil
            }
        }
        guard groups == 4, digits > 0, let port = UInt16(exactly: number) else { return nil }
        return SocketAddress(ip: IPAddress(v4: address), port: port)
    }
}
