// SPDX-License-Identifier: Apache-2.0

import LatchkeyStream
import Testing

/// What runs (06 A2).
struct StreamTargetTests {
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
        let pair = QualityPair(bitrate: 15_000_000, captureScale: 2)
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
}
