// SPDX-License-Identifier: Apache-2.0

internal import Wire

/// PCP's read-only ANNOUNCE (RFC 6887 section 14.1). Pure.
enum PCPAnnounce {
    private static let version: UInt8 = 2

    /// The question, from an IPv4 address, which goes as `::ffff:a.b.c.d`.
    static func request(from client: IPAddress) -> [UInt8] {
        let mapped = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF] + client.bytes.suffix(4)
        return [version, 0, 0, 0, 0, 0, 0, 0] + mapped
    }

    /// Whether the datagram is an answer to it, whatever its result.
    static func isAnswer(_ bytes: [UInt8]) -> Bool {
        bytes.count >= 24 && bytes.count <= 1100 && bytes.count % 4 == 0 && bytes[0] == version
            && bytes[1] == 0x80
    }
}
