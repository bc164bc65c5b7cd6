// SPDX-License-Identifier: Apache-2.0

package import Wire

/// An `http` URL whose host is a literal IPv4: the only kind of place that a router may send us to (05 B6). Or the same at
/// the router's IPv6, which only we say.
package struct WebLocation: Sendable, Hashable {
    /// Where to connect.
    package let address: SocketAddress
    /// Begins with `/`.
    package let target: String

    /// No router has a reason for a longer one.
    static let limit = 1024

    /// nil for anything else: another scheme, a name, a user, a fragment, spaces, port 0.
    init?(_ text: String) {
        let bytes = Array(text.utf8)
        let scheme = "http://"
        guard bytes.count <= Self.limit, bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7F }),
            text.prefix(scheme.count).lowercased() == scheme
        else { return nil }
        let rest = text.dropFirst(scheme.count)
        let host = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let tail = rest.dropFirst(host.count)
        guard !tail.contains("#"), let address = Self.address(host) else { return nil }
        self.address = address
        target = tail.hasPrefix("/") ? String(tail) : "/" + tail
    }

    /// The same port and target at another address of the machine's.
    func at(_ ip: IPAddress) -> WebLocation {
        WebLocation(address: SocketAddress(ip: ip, port: address.port), target: target)
    }

    private init(address: SocketAddress, target: String) {
        self.address = address
        self.target = target
    }

    /// As the `Host` field has it: the usual port is left out, as browsers do; some routers compare texts. Without a zone,
    /// which means something on this machine alone.
    var host: String {
        guard address.port == 80 else { return address.description }
        return address.ip.family == .v6 ? "[\(address.ip)]" : address.ip.description
    }

    /// The whole text, in one spelling.
    var text: String { "http://\(address)\(target)" }

    private static func address(_ host: Substring) -> SocketAddress? {
        let parts = host.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let ip = IPAddress(String(first)), ip.family == .v4 else { return nil }
        guard parts.count == 2 else { return SocketAddress(ip: ip, port: 80) }
        guard (1...5).contains(parts[1].utf8.count),
            parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = UInt16(parts[1]), port != 0
        else { return nil }
        return SocketAddress(ip: ip, port: port)
    }
}
