// SPDX-License-Identifier: Apache-2.0

internal import Wire

/// Where a host may be dialled: a name or an address, and a port when one was given.
///
/// Read by the one parser for addresses from people and links (02 section 9), which is stricter than a system resolver:
/// `100.1` is refused rather than dialled as 100.0.0.1.
public struct Endpoint: Hashable, Sendable, CustomStringConvertible {
    /// As the wire module reads it.
    let address: DialAddress

    /// Reads `host`, `host:port`, `[ipv6]` or `[ipv6]:port`. Throws `badAddress`, saying what is wrong with it.
    public init(_ text: String) throws(DeviceError) {
        do {
            address = try DialAddress.parse(text)
        } catch {
            throw DeviceError(.badAddress, Self.explain(error, text))
        }
    }

    /// One that has been read already.
    init(_ address: DialAddress) { self.address = address }

    /// The name or address, an IPv6 address without brackets.
    public var host: String { address.hostText }

    /// The port that was given; nil means the host's remote port.
    public var port: Int? { address.port }

    /// The text form of 02 section 9.3; it parses back to the same endpoint.
    public var description: String { address.text }

    /// The same host with the port that dialling it uses.
    func with(defaultPort: Int) -> Endpoint {
        guard address.port == nil else { return self }
        var copy = address
        copy.port = defaultPort
        return Endpoint(copy)
    }

    private static func explain(_ problem: AddressProblem, _ text: String) -> String {
        switch problem {
        case .empty: "an address is needed"
        case .pairingLink: "this is a pairing link, not an address"
        case .malformed: "\(text) is not an address"
        case .zone: "\(text): an address with a zone (%) cannot be dialled from elsewhere"
        case .ipv6: "\(text) is not an IPv6 address"
        case .ipv4: "\(text) is not an IPv4 address (four numbers are needed)"
        case .name: "\(text) is not a host name"
        case .port: "\(text): the port must be 1 to 65535"
        }
    }
}
