// SPDX-License-Identifier: Apache-2.0

internal import Wire

/// One address of a saved host.
public struct SavedAddress: Hashable, Sendable {
    /// A name, an IPv4 address or an IPv6 address without brackets.
    public let host: String
    /// Only when it differs from the host's remote port.
    public let port: Int?
    /// `vpn`, `lan` or `internet`; another word counts as internet.
    public let kind: String
    /// Where the address comes from, for display: `Tailscale`, `Router`; may be empty.
    public let via: String

    /// An address with everything known about it.
    init(host: String, port: Int?, kind: String, via: String) {
        self.host = host
        self.port = port
        self.kind = kind
        self.via = via
    }

    /// One that a host said, as far as it can be dialled and shown; nil for what no parser takes.
    init?(_ address: HostAddress) {
        let host = address.host
        guard (try? DialAddress.parse(host.contains(":") ? "[\(host)]" : host)) != nil,
            address.port.map({ (1...65535).contains($0) }) ?? true
        else { return nil }
        self.init(
            host: host, port: address.port,
            kind: Self.kinds.contains(address.kind) ? address.kind : "internet",
            via: Self.shown(address.via) ?? "")
    }

    private static let kinds = ["vpn", "lan", "internet"]
    /// A character may have any number of marks. Far more than any label needs.
    private static let labelBytes = 1024

    /// A label as it is kept; nil for one that is empty or of any size.
    static func shown(_ label: String) -> String? {
        let cleaned = Label.clean(label)
        return cleaned.isEmpty || cleaned.utf8.count > labelBytes ? nil : cleaned
    }

    /// An address that came without a kind: typed, or from a link (06 B2).
    init(_ endpoint: Endpoint) {
        let tailscale = Self.isTailscaleShape(endpoint.host)
        self.init(
            host: endpoint.host, port: endpoint.port, kind: Self.kind(ofHost: endpoint.host),
            via: tailscale ? "Tailscale" : "")
    }

    /// The kind of an address that came without one (06 B2).
    static func kind(ofHost host: String) -> String {
        if isTailscaleShape(host) { return "vpn" }
        if let ip = IPAddress(host) {
            switch ip.family {
            case .v4: return ip.isPrivate || ip.isLoopback || ip.isLinkLocal ? "lan" : "internet"
            case .v6:
                let lower = host.lowercased()
                let near = ["fc", "fd", "fe8"].contains { lower.hasPrefix($0) } || lower == "::1"
                return near ? "lan" : "internet"
            }
        }
        let name = Self.withoutDot(host.lowercased())
        return name.hasSuffix(".local") || name.hasSuffix("localhost") ? "lan" : "internet"
    }

    /// Whether it looks like an address of Tailscale's: reachable only through it, whatever kind it was given.
    static func isTailscaleShape(_ host: String) -> Bool {
        let lower = host.lowercased()
        if lower.hasPrefix("fd7a:115c:a1e0:") { return true }
        if let ip = IPAddress(host) { return ip.isCarrier }
        return withoutDot(lower).hasSuffix(".ts.net")
    }

    private static func withoutDot(_ name: String) -> String {
        name.hasSuffix(".") ? String(name.dropLast()) : name
    }

    /// Whether it may be kept for another day: an address that means this network only, or this machine only, would
    /// name somebody else tomorrow (06 B1). `keepLoopback` is for trying both sides on one machine.
    static func isKeepable(_ host: String, keepLoopback: Bool) -> Bool {
        if host.isEmpty || host.contains("%") { return false }
        if let ip = IPAddress(host) {
            if ip.isLinkLocal { return false }
            return keepLoopback || !ip.isLoopback
        }
        return keepLoopback || withoutDot(host.lowercased()) != "localhost"
    }

    /// What makes two entries the same: host without regard to case, and the port dialled.
    func identity(remotePort: Int) -> String { "\(host.lowercased())|\(port ?? remotePort)" }
}
