// SPDX-License-Identifier: Apache-2.0

internal import Sockets
internal import Wire

/// Where a host may be dialled: a name or an address, and a port when one was given.
///
/// Read by the one parser for addresses from people and links (02 section 9), which is stricter than a system resolver:
/// `100.1` is refused rather than dialled as 100.0.0.1.
public struct Endpoint: Hashable, Sendable, CustomStringConvertible {
    /// As the wire module reads it.
    let address: DialAddress
    /// The interface that a link-local address is on; nil for any other.
    private let zone: Zone?

    private struct Zone: Hashable {
        /// As it was given.
        let text: String
        let index: UInt32
    }

    /// Reads `host`, `host:port`, `[ipv6]` or `[ipv6]:port`. Throws `badAddress`, saying what is wrong with it.
    public init(_ text: String) throws(DeviceError) {
        zone = nil
        do {
            address = try DialAddress.parse(text)
        } catch {
            throw DeviceError(.badAddress, Self.explain(error, text))
        }
    }

    /// Reads what is dialled from this very machine: also a link-local IPv6 address with its interface,
    /// `[fe80::1%usb0]:54021`. Throws `badAddress`, saying what is wrong with it.
    public init(here text: String) throws(DeviceError) {
        guard let zone = IPAddress.zone(in: text) else {
            self = try Endpoint(text)
            return
        }
        guard
            let index = UInt32(zone).flatMap({ interfaceName($0) == nil ? nil : $0 }) ?? interfaceIndex(zone)
        else { throw DeviceError(.badAddress, "\(text): there is no network interface \(zone) here") }
        let plain = try Endpoint(text.replacing("%" + zone, with: "", maxReplacements: 1))
        guard case .ipv6(let host) = plain.address.host, IPAddress(host)?.isLinkLocal == true else {
            throw DeviceError(.badAddress, "\(text): only a link-local IPv6 address has an interface (%)")
        }
        self.init(plain.address, zone: Zone(text: zone, index: index))
    }

    /// One that has been read already.
    init(_ address: DialAddress) { self.init(address, zone: nil) }

    /// An address that a record on an interface names. A link-local one of IPv6 means nothing without it.
    init(_ ip: IPAddress, port: UInt16, on interface: (name: String, index: UInt32)) {
        let host: DialAddress.Host = ip.family == .v4 ? .ipv4("\(ip)") : .ipv6("\(ip)")
        let needsZone = ip.family == .v6 && ip.isLinkLocal
        self.init(
            DialAddress(host: host, port: Int(port)),
            zone: needsZone ? Zone(text: interface.name, index: interface.index) : nil)
    }

    private init(_ address: DialAddress, zone: Zone?) {
        self.address = address
        self.zone = zone
    }

    /// The address of one with an interface; nil for any other, which is looked up.
    var scoped: IPAddress? {
        guard let zone, let plain = IPAddress(address.hostText) else { return nil }
        return IPAddress(bytes: plain.bytes, scope: zone.index)
    }

    /// The name or address, an IPv6 address without brackets.
    public var host: String { address.hostText }

    /// The port that was given; nil means the host's remote port.
    public var port: Int? { address.port }

    /// The text form of 02 section 9.3; it parses back to the same endpoint.
    public var description: String {
        guard let zone else { return address.text }
        return "[\(address.hostText)%\(zone.text)]" + (address.port.map { ":\($0)" } ?? "")
    }

    /// The same host with the port that dialling it uses.
    func with(defaultPort: Int) -> Endpoint {
        guard address.port == nil else { return self }
        var copy = address
        copy.port = defaultPort
        return Endpoint(copy, zone: zone)
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
