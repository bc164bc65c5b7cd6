// SPDX-License-Identifier: Apache-2.0

internal import Wire

/// The words of a UPnP search (05 B6 steps 1 and 2). Pure.
enum Search {
    /// What is searched for. The first and the last are also asked of the gateway alone.
    static let targets = [
        "urn:schemas-upnp-org:device:InternetGatewayDevice:1",
        "urn:schemas-upnp-org:device:InternetGatewayDevice:2",
        "urn:schemas-upnp-org:service:WANIPConnection:1",
        "urn:schemas-upnp-org:service:WANIPConnection:2",
        "urn:schemas-upnp-org:service:WANPPPConnection:1",
        "upnp:rootdevice",
    ]

    /// Where everybody listens.
    static let group = SocketAddress(ip: IPAddress(v4: 0xEFFF_FFFA), port: 1900)

    /// A longer answer is none.
    static let answerLimit = 2048

    /// One question. `isMulticast`: with the time within which to answer, 1 s.
    static func request(_ target: String, isMulticast: Bool) -> [UInt8] {
        var lines = ["M-SEARCH * HTTP/1.1", "HOST: 239.255.255.250:1900", "MAN: \"ssdp:discover\""]
        if isMulticast { lines.append("MX: 1") }
        lines.append("ST: \(target)")
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    }

    /// Where the sender of an answer says its description is; nil when the answer is none: too long, not 200, another
    /// target, or a place on another machine than the sender's.
    static func location(in answer: [UInt8], from source: IPAddress, onLink network: Network) -> WebLocation?
    {
        guard answer.count <= answerLimit, source.family == .v4, network.contains(source) else { return nil }
        let lines = String(decoding: answer, as: UTF8.self)
            .split(omittingEmptySubsequences: false) { $0 == "\r\n" || $0 == "\n" || $0 == "\r" }
        guard let first = lines.first, isSuccess(first) else { return nil }
        var target: String?
        var place: String?
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            let value = trimmed(line[line.index(after: colon)...])
            switch line[..<colon].lowercased() {
            // The first of each counts: a second one is a trick or a mistake.
            case "st": target = target ?? value
            case "location": place = place ?? value
            default: continue
            }
        }
        guard let target, targets.contains(target), let place, let found = WebLocation(place),
            found.address.ip == source
        else { return nil }
        return found
    }

    private static func isSuccess(_ line: Substring) -> Bool {
        let words = line.split(separator: " ")
        return words.count >= 2 && words[0].uppercased().hasPrefix("HTTP/1.") && words[1] == "200"
    }

    private static func trimmed(_ text: Substring) -> String {
        var text = text.drop { $0 == " " || $0 == "\t" }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return String(text)
    }
}

/// The hosts that are reached without a router.
struct Network: Sendable, Hashable {
    var address: IPAddress
    var bits: Int

    func contains(_ ip: IPAddress) -> Bool { ip.isInside(prefix: address, bits: bits) }
}

/// Which of the places that answers named are looked at: at most eight, of which strangers never take the gateway's.
struct FoundPlaces: Sendable {
    static let limit = 8
    /// What is kept free for the gateway.
    static let reserved = 2

    private let gateway: IPAddress?
    private(set) var all: [WebLocation] = []

    init(gateway: IPAddress?) { self.gateway = gateway }

    /// Whether it is new and there is room for it.
    mutating func add(_ place: WebLocation) -> Bool {
        guard !all.contains(place) else { return false }
        let others = all.count { $0.address.ip != gateway }
        let isGateway = place.address.ip == gateway
        let isFull = !isGateway && gateway != nil && others >= Self.limit - Self.reserved
        guard all.count < Self.limit, !isFull else { return false }
        all.append(place)
        return true
    }
}
