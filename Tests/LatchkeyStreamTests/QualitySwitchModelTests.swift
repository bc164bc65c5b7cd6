// SPDX-License-Identifier: Apache-2.0

import LatchkeyStream
import Testing

/// 06 A2 "What runs" and A3 "Taking a flip" once more, by looking at everybody each time.
struct QualitySwitchModelTests {
    struct Device {
        var id: Int
        var isAway: Bool
        var fps: Int?
    }

    /// What the encoder is given.
    struct Stream: Equatable {
        var fps: Int
        var scale: Int
        var bitsPerSecond: Int
    }

    struct Model {
        var inputs: QualitySwitch<Int>.Inputs
        var devices: [Device] = []
        var wanted = false
        var runs = false
        var waitsFor: Int?
        var waitsUntil = 0.0

        func stream(_ isAway: Bool) -> Stream {
            let asked = devices.map { $0.fps ?? 60 }.max() ?? 60
            var fps = min(inputs.maxFPS, max(24, asked))
            if inputs.softwareEncoder { fps = min(fps, 60) }
            let pair = isAway ? inputs.away : inputs.home
            return Stream(
                fps: fps, scale: inputs.softwareEncoder ? 1 : pair.captureScale,
                bitsPerSecond: pair.bitrate * fps / 60)
        }

        /// One input; `takes` says whether it takes a flip that waits by itself. What follows: whether the wish is another,
        /// the flip, and whether the stream begins anew.
        mutating func step(
            at now: Double, joined: Int? = nil, left: Int? = nil, takes: Bool = false,
            _ change: (inout Model) -> Void
        ) -> (wish: Bool, flip: Bool?, restart: Stream?) {
            let before = stream(runs)
            change(&self)
            let wishBefore = wanted
            if !devices.isEmpty { wanted = devices.allSatisfy(\.isAway) }
            var takes = takes
            if wanted != wishBefore {
                if let joined {
                    // It waits for that connection's first viewport, but no longer than a second.
                    (waitsFor, waitsUntil) = (wanted == runs ? nil : joined, now + 1)
                } else {
                    takes = true
                }
            }
            if let left, left == waitsFor { takes = true }
            // A restart for another reason takes it along.
            if stream(runs) != before { takes = true }
            var flip: Bool?
            if takes {
                waitsFor = nil
                if runs != wanted { flip = wanted }
                runs = wanted
            }
            return (wanted != wishBefore, flip, stream(runs) == before ? nil : stream(runs))
        }
    }

    static func inputs(_ random: inout Seeded) -> QualitySwitch<Int>.Inputs {
        func pair() -> QualityPair {
            QualityPair(
                bitrate: [4_000_000, 15_000_000, 40_000_000].randomElement(using: &random) ?? 4_000_000,
                captureScale: Int.random(in: 1...2, using: &random))
        }
        return QualitySwitch<Int>.Inputs(
            home: pair(), away: pair(), maxFPS: [24, 60, 120].randomElement(using: &random) ?? 120,
            softwareEncoder: Int.random(in: 0..<4, using: &random) == 0)
    }

    @Test(arguments: 0..<60) func agrees(_ seed: Int) {
        var random = Seeded(state: UInt64(seed) &* 31 &+ 7)
        let first = Self.inputs(&random)
        var quality = QualitySwitch<Int>(first)
        var model = Model(inputs: first)
        var now = 0.0
        for _ in 0..<300 {
            now += [0, 0.1, 0.4, 0.6].randomElement(using: &random) ?? 0
            let id = Int.random(in: 0..<4, using: &random)
            let index = model.devices.firstIndex { $0.id == id }
            let outcome: QualitySwitch<Int>.Outcome
            let wanted: (wish: Bool, flip: Bool?, restart: Stream?)
            switch Int.random(in: 0..<10, using: &random) {
            case 0, 1, 2:
                let isAway = Bool.random(using: &random)
                outcome = quality.joined(id, isAway: isAway, at: at(now))
                wanted = model.step(at: now, joined: index == nil ? id : nil) {
                    if index == nil { $0.devices.append(Device(id: id, isAway: isAway)) }
                }
            case 3, 4:
                outcome = quality.left(id)
                wanted = model.step(at: now, left: index == nil ? nil : id) { model in
                    if let index { model.devices.remove(at: index) }
                }
            case 5, 6:
                let fps = [10, 24, 30, 60, 120, 240].randomElement(using: &random) ?? 60
                outcome = quality.viewport(id, fps: fps)
                wanted = model.step(at: now, takes: index != nil && model.waitsFor == id) { model in
                    if let index { model.devices[index].fps = fps }
                }
            case 7:
                let inputs = Self.inputs(&random)
                outcome = quality.changed(inputs)
                wanted = model.step(at: now) { $0.inputs = inputs }
            case 8 where seed % 2 == 0:
                outcome = quality.restarting()
                wanted = model.step(at: now, takes: true) { _ in }
            default:
                outcome = quality.tick(at: at(now))
                wanted = model.step(at: now, takes: model.waitsFor != nil && now >= model.waitsUntil) { _ in }
            }
            #expect(outcome.wishChanged == wanted.wish)
            #expect(outcome.flip?.toAway == wanted.flip)
            #expect(outcome.restart.map { Self.stream($0) } == wanted.restart)
            #expect(quality.wantsAway == model.wanted && quality.runsAway == model.runs)
            #expect(Self.stream(quality.target) == model.stream(model.runs))
            #expect(Self.stream(quality.wantedTarget) == model.stream(model.wanted))
            #expect((quality.deadline != nil) == (model.waitsFor != nil))
            #expect(quality.showsAway == (model.wanted && !model.devices.isEmpty))
        }
    }

    private static func stream(_ target: StreamTarget) -> Stream {
        Stream(fps: target.fps, scale: target.captureScale, bitsPerSecond: target.encoderBitrate)
    }
}
