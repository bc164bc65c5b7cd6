// SPDX-License-Identifier: Apache-2.0

/// An address and a TCP port.
package struct SocketAddress: Hashable, Sendable, CustomStringConvertible {
    /// The address, with its interface when it is link-local.
    package var ip: IPAddress

    /// The port; 0 asks the system for any free one.
    package var port: UInt16

    /// The pair.
    package init(ip: IPAddress, port: UInt16) {
        self.ip = ip
        self.port = port
    }

    /// `1.2.3.4:5`, `[::1]:5`, `[fe80::1%3]:5`. IPv6 needs its brackets; a named zone is dropped, as in ``IPAddress``.
    package init?(_ text: String) {
        guard let colon = text.utf8.lastIndex(of: UInt8(ascii: ":")) else { return nil }
        let host = text[..<colon]
        let digits = text[text.utf8.index(after: colon)...].utf8
        guard (1...5).contains(digits.count), digits.allSatisfy(\.isASCIIDigit),
            let port = UInt16(String(digits) ?? ""), let ip = IPAddress(String(host))
        else { return nil }
        guard host.hasPrefix("[") || !host.utf8.contains(UInt8(ascii: ":")) else { return nil }
        self.init(ip: ip, port: port)
    }

    /// `1.2.3.4:5` or `[::1]:5`, without a zone.
    package var description: String {
        ip.family == .v4 ? "\(ip):\(port)" : "[\(ip)]:\(port)"
    }
}
