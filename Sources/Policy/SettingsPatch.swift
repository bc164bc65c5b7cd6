// SPDX-License-Identifier: Apache-2.0

package import Wire

extension Settings {
    /// `PATCH /v1/settings` (09.18): all or nothing, nothing clamped. Throws the first field that is unknown, of
    /// the wrong type or out of range.
    package static func patch(_ json: JSON, on settings: Settings) throws(SettingRefusal) -> Settings {
        guard case .object(let members) = json else {
            throw SettingRefusal(field: "", message: "the body must be an object of settings")
        }
        var result = settings
        for member in members {
            try SettingsPatch.apply(member.key, member.value, to: &result)
        }
        return result
    }
}

/// The rules of one PATCH, field by field.
enum SettingsPatch {
    static func apply(_ key: String, _ value: JSON, to settings: inout Settings) throws(SettingRefusal) {
        switch key {
        case "name": settings.name = try name(value)
        case "requirePairing": settings.requirePairing = try flag(key, value)
        case "remoteAccess": settings.remoteAccess = try flag(key, value)
        case "remotePort": settings.remotePort = try port(key, value)
        case "internetAccess": settings.internetAccess = try flag(key, value)
        case "addressName": settings.addressName = try addressName(value)
        case "home": settings.home = try quality(key, value, settings.home)
        case "away": settings.away = try quality(key, value, settings.away)
        case "maxFPS": settings.maxFPS = try number(key, value, in: SettingRange.maxFPS)
        case "minimumDeviceVersion": settings.minimumDeviceVersion = try version(key, value)
        case "portMapping": settings.portMapping = try choice(key, value, ["off", "upnp"])
        case "advertise": settings.advertise = try flag(key, value)
        case "stunServer": settings.stunServer = try stun(key, value)
        case "permanentMappings": settings.permanentMappings = try flag(key, value)
        case "ipv6Pinhole": settings.ipv6Pinhole = try flag(key, value)
        case "direct": settings.direct = try flag(key, value)
        default: throw SettingRefusal(field: key, message: "\(Label.clean(key)) is not a setting")
        }
    }

    /// `host:port`, both needed, in the form it is stored.
    static func stunServer(_ text: String) throws(SettingRefusal) -> String {
        guard let address = try? DialAddress.parse(text), address.port != nil else {
            throw SettingRefusal(field: "stunServer", message: "stunServer must be host:port, or empty")
        }
        return address.text
    }

    private static func flag(_ key: String, _ value: JSON) throws(SettingRefusal) -> Bool {
        guard let flag = value.bool else {
            throw SettingRefusal(field: key, message: "\(key) must be true or false")
        }
        return flag
    }

    private static func number(
        _ key: String, _ value: JSON, in range: ClosedRange<Int>
    ) throws(SettingRefusal) -> Int {
        guard let number = value.int, range.contains(number) else {
            throw SettingRefusal(
                field: key,
                message: "\(key) must be a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    private static func port(_ key: String, _ value: JSON) throws(SettingRefusal) -> Int {
        guard let port = value.int, SettingRange.isPort(port) else {
            throw SettingRefusal(
                field: key, message: "\(key) must be 0 (any free port) or a port from 1024 to 65535")
        }
        return port
    }

    private static func quality(
        _ key: String, _ value: JSON, _ old: Quality
    ) throws(SettingRefusal) -> Quality {
        guard case .object(let members) = value else {
            throw SettingRefusal(field: key, message: "\(key) must be an object of bitrate and captureScale")
        }
        var quality = old
        for member in members {
            let field = "\(key).\(member.key)"
            switch member.key {
            case "bitrate": quality.bitrate = try number(field, member.value, in: SettingRange.bitrate)
            case "captureScale": quality.captureScale = try number(field, member.value, in: 1...2)
            default:
                throw SettingRefusal(field: field, message: "\(Label.clean(field)) is not a setting")
            }
        }
        return quality
    }

    private static func name(_ value: JSON) throws(SettingRefusal) -> String? {
        if value.isNull { return nil }
        guard let text = value.string else {
            throw SettingRefusal(field: "name", message: "name must be a text of at most 64 characters")
        }
        let cleaned = Label.clean(text)
        return cleaned.isEmpty ? nil : cleaned
    }

    private static func addressName(_ value: JSON) throws(SettingRefusal) -> String? {
        if value.isNull || value.string == "" { return nil }
        guard let text = value.string, let address = try? DialAddress.parse(text) else {
            throw SettingRefusal(
                field: "addressName",
                message: "addressName must be a host name or address with an optional port, or empty")
        }
        return address.text
    }

    private static func version(_ key: String, _ value: JSON) throws(SettingRefusal) -> String {
        guard let text = value.string, let version = Version(text) else {
            throw SettingRefusal(field: key, message: "\(key) must be a version such as 1.2, or 0 for none")
        }
        return version.isZero ? "0" : version.shown
    }

    private static func choice(
        _ key: String, _ value: JSON, _ choices: [String]
    ) throws(SettingRefusal) -> String {
        guard let text = value.string, choices.contains(text) else {
            throw SettingRefusal(
                field: key, message: "\(key) must be \(choices.joined(separator: " or "))")
        }
        return text
    }

    private static func stun(_ key: String, _ value: JSON) throws(SettingRefusal) -> String? {
        if value.isNull || value.string == "" { return nil }
        guard let text = value.string else {
            throw SettingRefusal(field: key, message: "stunServer must be host:port, or empty")
        }
        return try stunServer(text)
    }
}
