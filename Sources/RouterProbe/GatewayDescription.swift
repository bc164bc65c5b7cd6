// SPDX-License-Identifier: Apache-2.0

internal import CMiniUPnPC
internal import Glibc
internal import Wire

/// One service of an Internet Gateway Device: what to call it, and where it is controlled.
struct ControlPoint: Sendable, Hashable {
    let service: String
    let place: WebLocation
}

/// What a description says about an Internet Gateway Device. libminiupnpc reads it; nothing of the library's stays here,
/// and no pointer leaves this file. The three calls are the same in every API version of the library (17, 18 and later).
struct GatewayDescription: Sendable, Equatable {
    /// The WAN connection services: one or two.
    var connections: [ControlPoint]
    /// `WANIPv6FirewallControl`.
    var firewall: ControlPoint?
    /// `friendlyName`, cleaned.
    var name: String?

    /// nil when it is no IGD (05 B6 step 3), or its control is elsewhere than at `origin`'s own host.
    init?(_ text: [UInt8], from origin: WebLocation) {
        // A description is text; the library takes a zero byte for an end.
        guard !text.isEmpty, text.count <= Int(Int32.max) / 2, !text.contains(0) else { return nil }
        var data = IGDdatas()
        // The reader of the library may look a byte or two beyond the end that it is told.
        let padded = text.map { CChar(bitPattern: $0) } + [CChar](repeating: 0, count: 16)
        unsafe parserootdesc(padded, Int32(text.count), &data)

        let common = Self.text(of: data.CIF.servicetype)
        let types = [Self.text(of: data.first.servicetype), Self.text(of: data.second.servicetype)]
        guard common.hasPrefix("urn:schemas-upnp-org:service:WANCommonInterfaceConfig:"),
            Self.isConnection(types[0])
        else { return nil }

        let first = Self.places(&data, origin)
        // The library makes whole URLs of the first connection only.
        swap(&data.first, &data.second)
        let second = Self.isConnection(types[1]) ? Self.places(&data, origin).connection : nil
        connections = zip(types, [first.connection, second]).compactMap { type, place in
            place.map { ControlPoint(service: type, place: $0) }
        }
        guard !connections.isEmpty else { return nil }
        let firewallType = Self.text(of: data.IPv6FC.servicetype)
        if firewallType.hasPrefix("urn:schemas-upnp-org:service:WANIPv6FirewallControl:"),
            Self.isPlain(firewallType), let place = first.firewall
        {
            firewall = ControlPoint(service: firewallType, place: place)
        }
        name = FriendlyName.find(in: text)
    }

    private static func isConnection(_ type: String) -> Bool {
        isPlain(type)
            && (type.hasPrefix("urn:schemas-upnp-org:service:WANIPConnection:")
                || type.hasPrefix("urn:schemas-upnp-org:service:WANPPPConnection:"))
    }

    /// It goes into XML and into a header field.
    private static func isPlain(_ type: String) -> Bool {
        type.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !Array("<>&\"'".utf8).contains($0) }
    }

    /// The control places as whole URLs, those at another host left out.
    private static func places(
        _ data: inout IGDdatas, _ origin: WebLocation
    ) -> (connection: WebLocation?, firewall: WebLocation?) {
        let written = (Self.text(of: data.first.controlurl), Self.text(of: data.IPv6FC.controlurl))
        var urls = unsafe UPNPUrls()
        unsafe GetUPNPUrls(&urls, &data, origin.text, 0)
        defer { unsafe FreeUPNPUrls(&urls) }
        func own(_ written: String, _ url: UnsafeMutablePointer<CChar>?) -> WebLocation? {
            // The library takes for a path whatever does not begin with `http://`, another scheme included.
            let whole = unsafe hasScheme(written) ? written : url.map { unsafe String(cString: $0) }
            guard let whole, let place = WebLocation(whole), place.address.ip == origin.address.ip else {
                return nil
            }
            return place
        }
        return unsafe (own(written.0, urls.controlURL), own(written.1, urls.controlURL_6FC))
    }

    /// Whether a URL says how it is to be reached (RFC 3986 section 3.1), so that no base is put before it.
    private static func hasScheme(_ url: String) -> Bool {
        let bytes = url.utf8
        let scheme = bytes.prefix { $0 != UInt8(ascii: ":") }
        guard scheme.count < bytes.count, let first = scheme.first, isLetter(first) else { return false }
        return scheme.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || "+-.".utf8.contains($0) }
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }

    /// One of the library's fixed fields, which Swift sees as a tuple.
    private static func text<Field>(of field: Field) -> String {
        var field = field
        return unsafe withUnsafeBytes(of: &field) { bytes in
            unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }
}

/// The name a device gives itself, which the library does not read. Pure.
enum FriendlyName {
    /// The first `friendlyName`, with the usual entities undone, cleaned; nil without one.
    static func find(in text: [UInt8]) -> String? {
        guard let start = end(of: "<friendlyName>", in: text[...]) else { return nil }
        let value = text[start...].prefix(512).prefix { $0 != UInt8(ascii: "<") }
        var name = String(decoding: value, as: UTF8.self)
        for (entity, character) in [("lt", "<"), ("gt", ">"), ("quot", "\""), ("apos", "'"), ("amp", "&")] {
            name = name.split(separator: "&\(entity);", omittingEmptySubsequences: false)
                .joined(separator: character)
        }
        name = Label.clean(name)
        return name.isEmpty ? nil : name
    }

    /// Where the first `word` ends.
    private static func end(of word: String, in text: ArraySlice<UInt8>) -> Int? {
        let word = Array(word.utf8)
        var index = text.startIndex
        while index + word.count <= text.endIndex {
            guard let next = text[index...].firstIndex(of: word[0]) else { return nil }
            if text[next...].starts(with: word) { return next + word.count }
            index = next + 1
        }
        return nil
    }
}
