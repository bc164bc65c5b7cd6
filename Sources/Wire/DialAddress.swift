// SPDX-License-Identifier: Apache-2.0

/// An address that a person or a link gave (file 02 §9).
///
/// There is one parser for all of them, because system resolvers are lenient in ways that dial another machine: `1.2.3`
/// as 1.2.0.3.
package struct DialAddress: Hashable, Sendable {
    /// What to dial, as it is written.
    package enum Host: Hashable, Sendable {
        /// Four decimal numbers.
        case ipv4(String)
        /// As `inet_ntop` writes it, without brackets.
        case ipv6(String)
        /// A host name exactly as typed, letter case and trailing dot kept.
        case name(String)
    }

    /// What to dial.
    package var host: Host

    /// The port that was given; nil means the host's remote port, or 7455 when that is unknown.
    package var port: Int?

    /// An address.
    package init(host: Host, port: Int? = nil) {
        self.host = host
        self.port = port
    }

    /// The host alone, an IPv6 address without brackets: the form for resolvers and for host info.
    package var hostText: String {
        switch host {
        case .ipv4(let text), .ipv6(let text), .name(let text): text
        }
    }

    /// `host` or `host:port`, an IPv6 host in brackets. Parses back to the same address.
    package var text: String {
        let host = if case .ipv6(let text) = host { "[\(text)]" } else { hostText }
        return port.map { "\(host):\($0)" } ?? host
    }
}

/// Why a text is no address to dial.
package enum AddressProblem: String, Error, Sendable, CaseIterable {
    /// Nothing but white space.
    case empty
    /// A pairing link in the place of an address; the caller can hand it on.
    case pairingLink
    /// White space or control characters inside, or punctuation where none can stand.
    case malformed
    /// A link-local address with its interface, which means nothing on another machine.
    case zone
    /// Meant as IPv6, and is none.
    case ipv6
    /// Meant as IPv4, and is none, or is a form that resolvers read as another address.
    case ipv4
    /// No host name.
    case name
    /// A port that is missing after its colon, or not 1 to 65535.
    case port
}
