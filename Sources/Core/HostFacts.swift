// SPDX-License-Identifier: Apache-2.0

internal import Policy
package import Wire

/// The two cryptographic functions the rules need, handed in so that the core links no library.
package struct Primitives: Sendable {
    /// HMAC-SHA256 of a message.
    package var hmacSHA256: @Sendable (_ key: [UInt8], _ message: [UInt8]) -> [UInt8]
    /// Constant-time comparison; texts of different length are unequal.
    package var equal: @Sendable ([UInt8], [UInt8]) -> Bool

    package init(
        hmacSHA256: @escaping @Sendable (_ key: [UInt8], _ message: [UInt8]) -> [UInt8],
        equal: @escaping @Sendable ([UInt8], [UInt8]) -> Bool
    ) {
        self.hmacSHA256 = hmacSHA256
        self.equal = equal
    }
}

/// Who the host is. All but its key is fixed for one run of the service.
package struct HostFacts: Sendable {
    /// Of the host's own key.
    package var fingerprint: Fingerprint
    /// 32 bytes that paired devices recognise the host by (02 §11). Never logged.
    package var recognitionKey: [UInt8]
    /// The machine's own name, shown while none is set.
    package var fallbackName: String
    /// When the service started.
    package var startedAt: WallTime
    /// Begins every session's ID, so that no ID comes again after a restart.
    package var sessionPrefix: String
    /// The wall clock at monotonic zero as it was at the start.
    package var bootWall: WallTime
    /// Latchkey's own version.
    package var version: String

    package init(
        fingerprint: Fingerprint, recognitionKey: [UInt8], fallbackName: String, startedAt: WallTime,
        sessionPrefix: String, bootWall: WallTime, version: String
    ) {
        self.fingerprint = fingerprint
        self.recognitionKey = recognitionKey
        self.fallbackName = fallbackName
        self.startedAt = startedAt
        self.sessionPrefix = sessionPrefix
        self.bootWall = bootWall
        self.version = version
    }
}

/// Settings that the command line fixed for this run (09.16).
package struct SettingsOverrides: Sendable, Equatable {
    /// `--name`.
    package var name: String?
    /// `--remote-port`; 0 or 1024 to 65535.
    package var remotePort: Int?
    /// `--home-port`: 0 lets the kernel choose; nil removes the door.
    package var homePort: Int?
    /// Whether the service has a remote door of its own; `--remote-port off` leaves it to a streaming process.
    package var hasRemoteDoor: Bool
    /// `--home-listen`: the one address the home door is at; nil: all.
    package var homeListen: IPAddress?
    /// false with `--no-advertise`. Unlike a name or port this leaves the setting free: it says whether to speak at all.
    package var advertises: Bool

    package init(
        name: String? = nil, remotePort: Int? = nil, homePort: Int? = 0, hasRemoteDoor: Bool = true,
        homeListen: IPAddress? = nil, advertises: Bool = true
    ) {
        self.name = name
        self.remotePort = remotePort
        self.homePort = homePort
        self.hasRemoteDoor = hasRemoteDoor
        self.homeListen = homeListen
        self.advertises = advertises
    }
}

extension SettingsOverrides {
    /// The settings in force.
    func applied(to stored: Settings) -> Settings {
        var settings = stored
        if let name { settings.name = name }
        if let remotePort { settings.remotePort = remotePort }
        return settings
    }
}
