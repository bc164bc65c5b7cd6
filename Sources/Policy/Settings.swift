// SPDX-License-Identifier: Apache-2.0

internal import LatchkeyStream
package import Wire

/// One of the two qualities a stream can run at (06 A2).
package struct Quality: Sendable, Equatable, Hashable {
    /// Bits per second per 60 frames a second: 1,000,000 to 200,000,000.
    package var bitrate: Int
    /// 1 (points) or 2 (full pixels).
    package var captureScale: Int

    package init(bitrate: Int, captureScale: Int) {
        self.bitrate = bitrate
        self.captureScale = captureScale
    }
}

/// Everything an admin can set; defaults are those of 06 A2, 03 §4.1 and 09.41. A device changes none of it
/// but the quality, by its pick (`QualityChangePolicy`).
package struct Settings: Sendable, Equatable {
    /// The host's name to people; nil: the machine's own.
    package var name: String?
    /// Whether a session at the home door needs a paired key.
    package var requirePairing = true
    /// Whether the remote door runs for paired devices.
    package var remoteAccess = false
    /// 0 (any free port) or 1024 to 65535.
    package var remotePort = SettingRange.defaultRemotePort
    /// As stored; counts only while remote access is on, see `effectiveInternet`.
    package var internetAccess = false
    /// A name or address of the user's own, with an optional port, as `DialAddress` prints it.
    package var addressName: String?
    /// What runs while anybody at home is connected.
    package var home = Quality(bitrate: 15_000_000, captureScale: 2)
    /// What runs while everybody who is connected is away.
    package var away = Quality(bitrate: 4_000_000, captureScale: 1)
    /// 24 to 120.
    package var maxFPS = 120
    /// The oldest device version served (01 §8.3); `0` serves all.
    package var minimumDeviceVersion: String = "0"
    /// `off` or `upnp`.
    package var portMapping = "off"
    /// Whether the home door is announced by DNS-SD.
    package var advertise = true
    /// `host:port`; nil: none is asked.
    package var stunServer: String?
    /// Whether a router that takes only permanent mappings may get one.
    package var permanentMappings = false
    /// Whether the router may be asked to open its IPv6 firewall.
    package var ipv6Pinhole = false
    /// Whether peer-to-peer Wi-Fi belongs to the home door.
    package var direct = false

    package init() {}

    /// Internet access counts only under remote access (03 §10 point 5).
    package var effectiveInternet: Bool { remoteAccess && internetAccess }

    /// The floor as a version; zero when everybody is served.
    package var floor: Version { Version(minimumDeviceVersion) ?? .zero }
}

/// Why a setting was not taken: 400 `invalidSetting` (09.18).
package struct SettingRefusal: Error, Sendable, Equatable {
    /// The API's name of the field, such as `home.bitrate`.
    package var field: String
    /// Words that name the field and its range.
    package var message: String

    package init(field: String, message: String) {
        self.field = field
        self.message = message
    }
}

/// The ranges of 06 A2 and 03 §2.2.
package enum SettingRange {
    /// What any unusable port reads as.
    package static let defaultRemotePort = 7455
    /// Bits per second per 60 frames a second.
    package static let bitrate = 1_000_000...200_000_000
    /// Frames a second.
    package static let maxFPS = StreamTarget.frameRates

    /// 0 or 1024 to 65535.
    package static func isPort(_ port: Int) -> Bool { port == 0 || (1024...65535).contains(port) }
}
