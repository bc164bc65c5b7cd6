// SPDX-License-Identifier: Apache-2.0

/// The bitrates that have a name (06 A1). The number is what is stored and sent; a name may change, a number may not.
package enum QualityPreset: Int, Sendable, CaseIterable {
    // In ascending order, which is the order they are always listed in. Bits per second per 60 frames a second.
    case low = 4_000_000
    case efficient = 8_000_000
    case balanced = 15_000_000
    case high = 25_000_000
    case pro = 40_000_000
    case ultra = 80_000_000
    case extreme = 150_000_000

    /// Its name to people.
    package var name: String {
        switch self {
        case .low: "Low"
        case .efficient: "Efficient"
        case .balanced: "Balanced"
        case .high: "High"
        case .pro: "Pro"
        case .ultra: "Ultra"
        case .extreme: "Extreme"
        }
    }

    /// Meant for a cable or very fast Wi-Fi.
    package var wantsFastLink: Bool { self == .ultra || self == .extreme }
}

extension Quality {
    /// How a bitrate is called: `Balanced`, or `12 Mbps` for one set by hand.
    package static func name(ofBitrate bitrate: Int) -> String {
        QualityPreset(rawValue: bitrate)?.name ?? "\(SettingsChangeLog.megabits(bitrate)) Mbps"
    }

    /// The long form: `Balanced — 15 Mbps`, `Custom — 12 Mbps`.
    package static func title(ofBitrate bitrate: Int) -> String {
        let name = QualityPreset(rawValue: bitrate)?.name ?? "Custom"
        return "\(name) — \(SettingsChangeLog.megabits(bitrate)) Mbps"
    }

    /// With the resolution: `Low · Standard`, `12 Mbps · Retina`.
    package var name: String {
        "\(Self.name(ofBitrate: bitrate)) · \(captureScale == 2 ? "Retina" : "Standard")"
    }

    /// Any stored or sent scale as one of the two there are; what is no number is the smaller.
    package static func captureScale(_ value: Double) -> Int { value >= 1.5 ? 2 : 1 }

    /// A bitrate of an old store or a streaming process, inside the range.
    package static func clampedBitrate(_ bitrate: Int) -> Int {
        min(max(bitrate, SettingRange.bitrate.lowerBound), SettingRange.bitrate.upperBound)
    }
}
