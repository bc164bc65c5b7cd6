// SPDX-License-Identifier: Apache-2.0

import LatchkeyStream
import Policy
import Testing

/// Presets, names, what is told (06 A1, A2, A4).
struct QualityTests {
    /// The table of 06 A1: the name, bits per second per 60 frames, megabits at 120.
    static let presets: [(String, Int, Int)] = [
        ("Low", 4_000_000, 8), ("Efficient", 8_000_000, 16), ("Balanced", 15_000_000, 30),
        ("High", 25_000_000, 50), ("Pro", 40_000_000, 80), ("Ultra", 80_000_000, 160),
        ("Extreme", 150_000_000, 300),
    ]

    @Test func theTableOfPresets() {
        #expect(QualityPreset.allCases.map(\.name) == Self.presets.map(\.0))
        #expect(QualityPreset.allCases.map(\.rawValue) == Self.presets.map(\.1))
        let at120 = QualityPreset.allCases.map {
            StreamTarget(bitrate: $0.rawValue, fps: 120, captureScale: 2).megabits
        }
        #expect(at120 == Self.presets.map(\.2))
    }

    @Test func presetsAreTheseNumbersInThisOrder() {
        #expect(
            QualityPreset.allCases.map(\.rawValue) == [
                4_000_000, 8_000_000, 15_000_000, 25_000_000, 40_000_000, 80_000_000, 150_000_000,
            ])
        #expect(QualityPreset.allCases.filter(\.wantsFastLink) == [.ultra, .extreme])
    }

    @Test(arguments: [
        (4_000_000, "Low", "Low — 4 Mbps"), (8_000_000, "Efficient", "Efficient — 8 Mbps"),
        (15_000_000, "Balanced", "Balanced — 15 Mbps"), (25_000_000, "High", "High — 25 Mbps"),
        (40_000_000, "Pro", "Pro — 40 Mbps"), (80_000_000, "Ultra", "Ultra — 80 Mbps"),
        (150_000_000, "Extreme", "Extreme — 150 Mbps"), (12_000_000, "12 Mbps", "Custom — 12 Mbps"),
        (8_500_000, "8.5 Mbps", "Custom — 8.5 Mbps"), (1_000_000, "1 Mbps", "Custom — 1 Mbps"),
        (12_960_000, "13.0 Mbps", "Custom — 13.0 Mbps"), (12_950_000, "13.0 Mbps", "Custom — 13.0 Mbps"),
        (12_949_999, "12.9 Mbps", "Custom — 12.9 Mbps"), (1, "0.0 Mbps", "Custom — 0.0 Mbps"),
        (.max, "9223372036854.8 Mbps", "Custom — 9223372036854.8 Mbps"),
    ])
    func names(_ bitrate: Int, _ name: String, _ title: String) {
        #expect(Quality.name(ofBitrate: bitrate) == name)
        #expect(Quality.title(ofBitrate: bitrate) == title)
    }

    @Test func namesWithTheResolution() {
        #expect(Quality(bitrate: 4_000_000, captureScale: 1).name == "Low · Standard")
        #expect(Quality(bitrate: 12_000_000, captureScale: 2).name == "12 Mbps · Retina")
    }

    static let storedScales: [(Double, Int)] = [
        (1.5, 2), (1.499, 1), (2, 2), (1, 1), (0, 1), (-3, 1), (3, 2), (.infinity, 2), (.nan, 1),
    ]

    @Test(arguments: storedScales)
    func scales(_ stored: Double, _ scale: Int) { #expect(Quality.captureScale(stored) == scale) }

    @Test(arguments: [
        (999_999, 1_000_000), (1_000_000, 1_000_000), (200_000_000, 200_000_000),
        (200_000_001, 200_000_000), (-1, 1_000_000), (12_345_678, 12_345_678),
    ])
    func bitrates(_ stored: Int, _ bitrate: Int) { #expect(Quality.clampedBitrate(stored) == bitrate) }

    /// What every connection is told in the example of 06 A4.
    @Test func whatIsTold() {
        var settings = Settings()
        settings.home = Quality(bitrate: 40_000_000, captureScale: 2)
        let alone = ConnectionQuality(settings, isAway: true, wantsAway: true)
        #expect(alone.settings == settings.away && alone.thisConnectionAway && alone.awayRunning)
        #expect(alone.home == settings.home && alone.away == settings.away && alone.maxFPS == 120)
        let second = ConnectionQuality(settings, isAway: false, wantsAway: false)
        #expect(second.settings == settings.home && !second.thisConnectionAway && !second.awayRunning)
        let first = ConnectionQuality(settings, isAway: true, wantsAway: false)
        #expect(first.settings == settings.away && first.thisConnectionAway && !first.awayRunning)
    }

    @Test func aPairWhenNobodySaidARate() {
        #expect(
            StreamTarget(usual: Quality(bitrate: 8_000_000, captureScale: 2))
                == StreamTarget(bitrate: 8_000_000, fps: 60, captureScale: 2))
    }
}
