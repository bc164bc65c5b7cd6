// SPDX-License-Identifier: Apache-2.0

internal import Wire

extension Settings {
    /// Reads stored texts; whatever is missing or cannot be read is its careful value (03 §10 point 8).
    /// `requirePairingOff` is true only when the stored signature was verified (03 §4.2).
    package static func load(_ stored: [String: String], requirePairingOff: Bool) -> Settings {
        var settings = Settings()
        settings.requirePairing = !requirePairingOff
        settings.name = stored["name"].map { Label.clean($0) }.flatMap { $0.isEmpty ? nil : $0 }
        settings.remoteAccess = stored["remoteAccess"] == on
        if let port = stored["remotePort"].flatMap({ Int($0) }), SettingRange.isPort(port) {
            settings.remotePort = port
        }
        settings.internetAccess = stored["internetAccess"] == on
        settings.addressName = stored["addressName"].flatMap { try? DialAddress.parse($0).text }
        settings.home = quality(stored, "home", settings.home)
        settings.away = quality(stored, "away", settings.away)
        if let fps = stored["maxFPS"].flatMap({ Int($0) }) {
            settings.maxFPS = min(max(fps, SettingRange.maxFPS.lowerBound), SettingRange.maxFPS.upperBound)
        }
        if let floor = stored["minimumDeviceVersion"], Version(floor) != nil {
            settings.minimumDeviceVersion = floor
        }
        if stored["portMapping"] == "upnp" { settings.portMapping = "upnp" }
        settings.advertise = stored["advertise"] != off
        settings.stunServer = stored["stunServer"].flatMap { try? SettingsPatch.stunServer($0) }
        settings.permanentMappings = stored["permanentMappings"] == on
        settings.ipv6Pinhole = stored["ipv6Pinhole"] == on
        settings.direct = stored["direct"] == on
        return settings
    }

    /// The stored texts that differ from `old`, under the API's names; nil deletes one. `requirePairing` is
    /// never in it, since only a signature may store it.
    package func stored(changedFrom old: Settings) -> [String: String?] {
        let before = old.stored
        return stored.filter { before[$0.key] != .some($0.value) }
    }

    /// These settings with a change that was committed. Nil for `requirePairing` leaves it.
    package func applying(_ values: [String: String?], requirePairing: Bool?) -> Settings {
        var merged = stored.compactMapValues { $0 }
        for (key, value) in values { merged[key] = value }
        return .load(merged, requirePairingOff: !(requirePairing ?? self.requirePairing))
    }

    private static let on = "1"
    private static let off = "0"

    private var stored: [String: String?] {
        func flag(_ value: Bool) -> String { value ? Self.on : Self.off }
        return [
            "name": name, "remoteAccess": flag(remoteAccess), "remotePort": String(remotePort),
            "internetAccess": flag(internetAccess), "addressName": addressName,
            "home.bitrate": String(home.bitrate), "home.captureScale": String(home.captureScale),
            "away.bitrate": String(away.bitrate), "away.captureScale": String(away.captureScale),
            "maxFPS": String(maxFPS), "minimumDeviceVersion": minimumDeviceVersion,
            "portMapping": portMapping, "advertise": flag(advertise), "stunServer": stunServer,
            "permanentMappings": flag(permanentMappings), "ipv6Pinhole": flag(ipv6Pinhole),
            "direct": flag(direct),
        ]
    }

    private static func quality(_ stored: [String: String], _ pair: String, _ base: Quality) -> Quality {
        var quality = base
        if let bitrate = stored[pair + ".bitrate"].flatMap({ Int($0) }) {
            quality.bitrate = Quality.clampedBitrate(bitrate)
        }
        if let scale = stored[pair + ".captureScale"].flatMap({ Double($0) }) {
            quality.captureScale = Quality.captureScale(scale)
        }
        return quality
    }
}
