// SPDX-License-Identifier: Apache-2.0

import Policy
import Testing
import Wire

/// What a device may set (06 A2 last column, A4).
struct QualityChangeTests {
    static let before: Settings = {
        var settings = Settings()
        settings.home = Quality(bitrate: 40_000_000, captureScale: 2)
        settings.away = Quality(bitrate: 4_000_000, captureScale: 1)
        return settings
    }()

    struct Row: Sendable {
        var isAway: Bool
        var change: QualityChange
        var home = Quality(bitrate: 40_000_000, captureScale: 2)
        var away = Quality(bitrate: 4_000_000, captureScale: 1)
        var maxFPS = 120
        var applied: [String] = []
        var refused: [String] = []
    }

    @Test(arguments: [
        // The four rows of 06 A4.
        Row(
            isAway: true, change: QualityChange(maxFPS: 60, bitrate: 15_000_000, captureScale: 2),
            away: Quality(bitrate: 15_000_000, captureScale: 2), maxFPS: 60,
            applied: ["maxFPS", "bitrate", "captureScale"]),
        Row(
            isAway: true, change: QualityChange(bitrate: 25_000_000),
            away: Quality(bitrate: 25_000_000, captureScale: 1), applied: ["bitrate"]),
        Row(
            isAway: false, change: QualityChange(bitrate: 15_000_000, captureScale: 2),
            home: Quality(bitrate: 15_000_000, captureScale: 2), applied: ["bitrate", "captureScale"]),
        Row(
            isAway: true,
            change: QualityChange(bitrate: 12_000_000, captureScale: 1.5, directWireless: true),
            refused: ["bitrate", "captureScale", "directWireless"]),
        // Each alone; presets, the two scales and the two rates only.
        Row(
            isAway: false, change: QualityChange(maxFPS: 90, bitrate: 8_000_000, captureScale: 1),
            home: Quality(bitrate: 8_000_000, captureScale: 1), applied: ["bitrate", "captureScale"],
            refused: ["maxFPS"]),
        Row(
            isAway: true, change: QualityChange(maxFPS: 120, bitrate: 4_000_001), applied: ["maxFPS"],
            refused: ["bitrate"]),
        Row(isAway: true, change: QualityChange(captureScale: 0.5), refused: ["captureScale"]),
        Row(isAway: true, change: QualityChange(captureScale: 3), refused: ["captureScale"]),
        Row(isAway: false, change: QualityChange(maxFPS: 59), refused: ["maxFPS"]),
        Row(isAway: false, change: QualityChange(maxFPS: 24), refused: ["maxFPS"]),
        Row(
            isAway: false, change: QualityChange(bitrate: 150_000_000),
            home: Quality(bitrate: 150_000_000, captureScale: 2), applied: ["bitrate"]),
        Row(isAway: false, change: QualityChange(directWireless: false), refused: ["directWireless"]),
        Row(isAway: false, change: QualityChange()),
    ])
    func applied(_ row: Row) {
        let result = QualityChangePolicy.apply(row.change, fromAway: row.isAway, to: Self.before)
        var want = Self.before
        want.home = row.home
        want.away = row.away
        want.maxFPS = row.maxFPS
        #expect(result.settings == want)
        #expect(result.applied == row.applied)
        #expect(result.refused == row.refused)
        #expect(result.isAwayPair == row.isAway)
    }

    @Test func eachReadsItsOwnPairAfterwards() {
        let result = QualityChangePolicy.apply(
            QualityChange(bitrate: 25_000_000), fromAway: true, to: Self.before)
        func read(_ isAway: Bool) -> Int {
            ConnectionQuality(result.settings, isAway: isAway, wantsAway: false).settings.bitrate
        }
        #expect(read(true) == 25_000_000)
        #expect(read(false) == 40_000_000)
    }

    @Test func asItCame() throws {
        let json = try JSON.parse(
            """
            {"token":7,"maxFPS":60,"bitrate":1.5e7,"captureScale":2,"prioritizeSpeed":true,"virtualDisplay":false,
             "remoteAccess":true,"x":1}
            """)
        let change = try QualityChange(json: json)
        #expect(change.maxFPS == 60 && change.bitrate == 15_000_000 && change.captureScale == 2)
        #expect(change.prioritizeSpeed == true && change.virtualDisplay == false)
        #expect(change.directWireless == nil && change.token == .integer(7))
        // Nobody away or at home reaches a switch.
        let result = QualityChangePolicy.apply(change, fromAway: false, to: Self.before)
        #expect(!result.settings.remoteAccess)
        #expect(try QualityChange(json: JSON.parse(#"{"bitrate":null,"token":null}"#)) == QualityChange())
    }

    @Test(arguments: [
        #"{"bitrate":"15000000"}"#, #"{"bitrate":1.5}"#, #"{"maxFPS":true}"#, #"{"captureScale":"2"}"#,
        #"{"prioritizeSpeed":1}"#, #"{"virtualDisplay":0}"#, #"{"directWireless":"on"}"#, "[]", "7", "null",
    ])
    func undecodable(_ text: String) throws {
        let json = try JSON.parse(text)
        #expect(throws: JSONError.self) { try QualityChange(json: json) }
    }

    @Test func fourInASlidingSecond() {
        var limit = QualityChangeLimit()
        let times: [(Double, QualityChangeLimit.Verdict)] = [
            (0, .apply), (0.1, .apply), (0.2, .apply), (0.3, .apply), (0.4, .tooMany(log: true)),
            (0.999, .tooMany(log: false)), (1, .apply), (1.05, .tooMany(log: false)), (1.1, .apply),
            (1.15, .tooMany(log: false)), (1.2, .apply), (1.3, .apply), (1.4, .tooMany(log: true)),
            (10, .apply), (10, .apply), (10, .apply), (10, .apply), (10, .tooMany(log: true)),
        ]
        for (time, verdict) in times { #expect(limit.take(at: at(time)) == verdict, "at \(time)") }
    }
}
