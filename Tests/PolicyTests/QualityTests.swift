// SPDX-License-Identifier: Apache-2.0

import Policy
import Testing
import Wire

/// Presets, names, what runs (06 A1, A2, A5).
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
        (12_960_000, "13.0 Mbps", "Custom — 13.0 Mbps"),
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

    static let frameRates: [(Int, Int?, Bool, Int)] = [
        // limit, asked, software, fps
        (120, nil, false, 60), (120, 120, false, 120), (120, 240, false, 120), (60, 120, false, 60),
        (120, 10, false, 24), (120, 24, false, 24), (120, 30, false, 30), (24, nil, false, 24),
        (30, 60, false, 30), (120, 120, true, 60), (120, 61, true, 60), (120, 59, true, 59),
        (120, nil, true, 60),
    ]

    @Test(arguments: frameRates)
    func rates(_ limit: Int, _ asked: Int?, _ software: Bool, _ fps: Int) {
        #expect(StreamTarget.fps(maxFPS: limit, asked: asked, softwareEncoder: software) == fps)
    }

    static let targets: [(Int, Int, Int, Int)] = [
        (4_000_000, 60, 4_000_000, 4), (4_000_000, 120, 8_000_000, 8), (15_000_000, 120, 30_000_000, 30),
        (150_000_000, 120, 300_000_000, 300), (1_000_000, 59, 983_333, 0), (8_500_000, 60, 8_500_000, 8),
        (40_000_000, 24, 16_000_000, 16), (Int.max, 2, Int.max, Int.max / 1_000_000),
    ]

    @Test(arguments: targets)
    func encoderTargets(_ bitrate: Int, _ fps: Int, _ target: Int, _ megabits: Int) {
        let stream = StreamTarget(bitrate: bitrate, fps: fps, captureScale: 1)
        #expect(stream.encoderBitrate == target)
        #expect(stream.megabits == megabits)
    }

    @Test func aSoftwareEncoderDoesLess() {
        let pair = Quality(bitrate: 15_000_000, captureScale: 2)
        #expect(
            StreamTarget(pair, maxFPS: 120, asked: 120, softwareEncoder: true)
                == StreamTarget(bitrate: 15_000_000, fps: 60, captureScale: 1))
        #expect(
            StreamTarget(pair, maxFPS: 120, asked: 120)
                == StreamTarget(bitrate: 15_000_000, fps: 120, captureScale: 2))
    }

    static let streams: [(StreamTarget, Bool)] = [
        (StreamTarget(bitrate: 15_000_000, fps: 60, captureScale: 2), false),
        (StreamTarget(bitrate: 15_000_001, fps: 60, captureScale: 2), true),
        (StreamTarget(bitrate: 15_000_000, fps: 61, captureScale: 2), true),
        (StreamTarget(bitrate: 15_000_000, fps: 60, captureScale: 1), true),
        // The same bits a second at another rate are another stream.
        (StreamTarget(bitrate: 30_000_000, fps: 30, captureScale: 2), true),
    ]

    @Test(arguments: streams)
    func restarts(_ new: StreamTarget, _ restarts: Bool) {
        #expect(StreamTarget(bitrate: 15_000_000, fps: 60, captureScale: 2).restarts(to: new) == restarts)
    }

    @Test(arguments: [
        (120, false, false, 120), (120, true, false, 60), (120, false, true, 60), (120, true, true, 60),
        (60, false, true, 60), (48, false, true, 48),
    ])
    func askedAway(_ panel: Int, _ saves: Bool, _ away: Bool, _ fps: Int) {
        #expect(AskedFrameRate.fps(panel: panel, savesPower: saves, isAway: away) == fps)
    }
}
