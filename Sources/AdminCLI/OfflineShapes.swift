// SPDX-License-Identifier: Apache-2.0

internal import APITypes
internal import Policy
internal import Wire

/// A stored device in the API's shape. Nobody is connected while the service is down.
enum DeviceShape {
    static func device(_ record: DeviceRecord) -> Device {
        Device(
            id: record.id.text, name: record.name, model: record.model,
            fingerprint: record.fingerprint.base64url, shortName: record.fingerprint.shortName,
            pairedAt: record.pairedAt, pairedHow: record.pairedHow, lastSeenAt: record.lastSeenAt,
            lastRoute: record.lastRoute, connected: 0, cableBound: record.cableDevice != nil)
    }
}

/// Stored settings in the API's shape. Nothing overrides them while the service is down.
enum SettingsShape {
    static func body(_ settings: Settings, fallbackName: String) -> SettingsBody {
        SettingsBody(
            name: settings.name ?? fallbackName, requirePairing: settings.requirePairing,
            remoteAccess: settings.remoteAccess, remotePort: settings.remotePort,
            internetAccess: settings.internetAccess, addressName: settings.addressName,
            home: SettingsBody.Quality(
                bitrate: settings.home.bitrate, captureScale: settings.home.captureScale),
            away: SettingsBody.Quality(
                bitrate: settings.away.bitrate, captureScale: settings.away.captureScale),
            maxFPS: settings.maxFPS, minimumDeviceVersion: settings.minimumDeviceVersion,
            portMapping: settings.portMapping, advertise: settings.advertise, stunServer: settings.stunServer,
            permanentMappings: settings.permanentMappings, ipv6Pinhole: settings.ipv6Pinhole,
            direct: settings.direct, overridden: [])
    }
}
