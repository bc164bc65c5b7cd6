// SPDX-License-Identifier: Apache-2.0

package import Wire

/// One setting of `latchkey set`, as people write it and as the API names it (spec 07, 09 points 18 and 41).
package struct SettingKey: Sendable {
    /// How a value is read. What cannot be read so goes to the service as text: it alone says what is
    /// allowed.
    enum Kind: Sendable { case onOff, number, bits, text }

    /// "home-bitrate".
    let name: String
    /// The way to it in the API's object: ["home", "bitrate"].
    let path: [String]
    let kind: Kind
    /// What it takes, for help.
    let takes: String
    let summary: String

    static let all: [SettingKey] = [
        .init(name: "name", path: ["name"], kind: .text, takes: "TEXT", summary: "the name devices show"),
        .init(
            name: "require-pairing", path: ["requirePairing"], kind: .onOff, takes: "on|off",
            summary: "turn unpaired devices away at the home door"),
        .init(
            name: "remote-access", path: ["remoteAccess"], kind: .onOff, takes: "on|off",
            summary: "open the remote door"),
        .init(
            name: "remote-port", path: ["remotePort"], kind: .number, takes: "PORT",
            summary: "its port; 0 takes any free one"),
        .init(
            name: "internet-access", path: ["internetAccess"], kind: .onOff, takes: "on|off",
            summary: "let it admit from the internet too"),
        .init(
            name: "address-name", path: ["addressName"], kind: .text, takes: "NAME",
            summary: "a name that leads here from outside"),
        .init(
            name: "home-bitrate", path: ["home", "bitrate"], kind: .bits, takes: "BITS",
            summary: "bits per second at home"),
        .init(
            name: "home-capture-scale", path: ["home", "captureScale"], kind: .number, takes: "1|2",
            summary: "capture scale at home"),
        .init(
            name: "away-bitrate", path: ["away", "bitrate"], kind: .bits, takes: "BITS",
            summary: "bits per second away"),
        .init(
            name: "away-capture-scale", path: ["away", "captureScale"], kind: .number, takes: "1|2",
            summary: "capture scale away"),
        .init(
            name: "max-fps", path: ["maxFPS"], kind: .number, takes: "N", summary: "frames per second at most"
        ),
        .init(
            name: "minimum-device-version", path: ["minimumDeviceVersion"], kind: .text, takes: "VERSION",
            summary: "the least app version let in; 0 for any"),
        .init(
            name: "port-mapping", path: ["portMapping"], kind: .text, takes: "off|upnp",
            summary: "ask the router to forward the port"),
        .init(
            name: "advertise", path: ["advertise"], kind: .onOff, takes: "on|off",
            summary: "announce the host on the local network"),
        .init(
            name: "stun-server", path: ["stunServer"], kind: .text, takes: "HOST:PORT",
            summary: "where to ask for the outside address"),
        .init(
            name: "permanent-mappings", path: ["permanentMappings"], kind: .onOff, takes: "on|off",
            summary: "allow mappings without an end"),
        .init(
            name: "ipv6-pinhole", path: ["ipv6Pinhole"], kind: .onOff, takes: "on|off",
            summary: "ask the router for an IPv6 pinhole"),
        .init(
            name: "direct", path: ["direct"], kind: .onOff, takes: "on|off",
            summary: "let peer-to-peer wireless in"),
    ]

    /// The key a person means: as `set` shows it, or as the API names it.
    static func named(_ text: String) -> SettingKey? {
        all.first { $0.name == text || $0.path.joined(separator: ".") == text }
    }

    /// The value in the API's terms.
    func value(_ text: String) -> JSON {
        switch kind {
        case .text: return .string(text)
        case .number: return Int64(text).map { JSON.integer($0) } ?? .string(text)
        case .onOff:
            switch text.lowercased() {
            case "on", "yes", "true": return .bool(true)
            case "off", "no", "false": return .bool(false)
            default: return .string(text)
            }
        case .bits:
            if let plain = Int64(text) { return .integer(plain) }
            let factor: Int64 =
                switch text.last {
                case "k", "K": 1000
                case "m", "M": 1_000_000
                default: 0
                }
            guard factor > 0, let amount = Int64(text.dropLast()) else { return .string(text) }
            let (bits, overflows) = amount.multipliedReportingOverflow(by: factor)
            return overflows ? .string(text) : .integer(bits)
        }
    }
}

/// One setting's new value.
package struct SettingChange: Equatable, Sendable {
    /// The way to it in the API's object.
    package let path: [String]
    package let value: JSON

    package init(path: [String], value: JSON) {
        self.path = path
        self.value = value
    }

    /// The body of one PATCH with all changes in it.
    package static func patch(_ changes: [SettingChange]) -> JSON {
        var members: [JSON.Member] = []
        for change in changes {
            guard let first = change.path.first else { continue }
            guard change.path.count > 1 else {
                members.append(JSON.Member(key: first, value: change.value))
                continue
            }
            let inner = JSON.Member(key: change.path[1], value: change.value)
            if let index = members.firstIndex(where: { $0.key == first }),
                case .object(let present) = members[index].value
            {
                members[index].value = .object(present + [inner])
            } else {
                members.append(JSON.Member(key: first, value: .object([inner])))
            }
        }
        return .object(members)
    }
}
