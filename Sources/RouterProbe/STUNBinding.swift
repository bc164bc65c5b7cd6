// SPDX-License-Identifier: Apache-2.0

internal import Policy
internal import Wire

/// STUN's binding question over UDP (RFC 8489). Pure.
enum STUNBinding {
    private static let cookie: [UInt8] = [0x21, 0x12, 0xA4, 0x42]
    private static let xorMappedAddress = 0x0020
    /// No answer of a simple server is longer.
    static let answerLimit = 1500

    /// The question. `transaction` has 12 bytes.
    static func request(_ transaction: [UInt8]) -> [UInt8] { [0, 1, 0, 0] + cookie + transaction }

    /// The IPv4 that the server saw; nil when this is no success of that transaction, or has none of the internet.
    static func address(in bytes: [UInt8], transaction: [UInt8]) -> IPAddress? {
        guard transaction.count == 12, bytes.count >= 20, bytes.count <= answerLimit, bytes[0] == 1,
            bytes[1] == 1, Array(bytes[4..<8]) == cookie, Array(bytes[8..<20]) == transaction
        else { return nil }
        let length = number(bytes, 2)
        guard length % 4 == 0, 20 + length == bytes.count else { return nil }
        var index = 20
        while index + 4 <= bytes.count {
            let kind = number(bytes, index)
            let size = number(bytes, index + 2)
            let value = index + 4
            guard value + size <= bytes.count else { return nil }
            // Family 1 with its 8 bytes; the address is crossed with the cookie.
            if kind == xorMappedAddress, size == 8, bytes[value + 1] == 1 {
                let seen = IPAddress(bytes: zip(bytes[(value + 4)..<(value + 8)], cookie).map { $0 ^ $1 })
                return seen.flatMap { RouterPolicy.isNowhere($0) ? nil : $0 }
            }
            index = value + (size + 3) / 4 * 4
        }
        return nil
    }

    private static func number(_ bytes: [UInt8], _ at: Int) -> Int {
        Int(bytes[at]) << 8 | Int(bytes[at + 1])
    }
}

/// The owner's STUN server, as it is set.
struct STUNServer: Sendable, Hashable {
    /// STUN's own port.
    static let usualPort: UInt16 = 3478

    let name: String
    let port: UInt16

    /// `host:port`, or a host alone.
    init?(_ text: String) {
        let parsed: DialAddress
        do throws(AddressProblem) { parsed = try DialAddress.parse(text) } catch { return nil }
        name = parsed.hostText
        port = parsed.port.flatMap { UInt16(exactly: $0) } ?? Self.usualPort
    }
}
