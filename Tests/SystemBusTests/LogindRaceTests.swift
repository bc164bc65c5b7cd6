// SPDX-License-Identifier: Apache-2.0

import Policy
import Testing

@testable import SystemBus

/// Any order of changes, questions, answers and time-outs: no verdict is ever laxer than what logind had said by then.
@Suite("logind, races")
struct LogindRaceTests {
    private enum Item {
        case signal(BusSignal)
        case answer(LogindModel.Asked, BusAnswer)
    }

    /// logind and the way to it and back, each in order.
    private struct World {
        var random: Chance
        let own: UInt32
        let configured: UInt32?
        var logind = FakeLogind.desktop
        var model: LogindModel
        var toLogind: [LogindModel.Asked] = []
        /// With what was true when it left.
        var toModel: [(Item, LockPolicy.Witness)] = []
        var truth = LockPolicy.Witness.silent
        var isFirstReading = true
        var isFollowed = false

        init(seed: UInt64) {
            random = Chance(seed: seed)
            configured = random.one(of: [nil, nil, nil, 1000, 1001])
            own = random.one(of: [990, 1000, 1001])
            model = LogindModel(configuredUser: configured, ownUser: own)
            model.begin()
            takeQuestions()
        }

        var now: LockPolicy.Witness { LogindPolicy.judge(logind.facts(configured: configured, own: own)) }

        mutating func takeQuestions() { toLogind += model.takeQuestions() }

        /// A change, as far as it makes sense now.
        mutating func change() {
            let id = random.one(of: ["c1", "c2", "c3"])
            // Most changes come with their values, as logind's do.
            let says = random.below(6) != 0
            var signals: [BusSignal] = []
            switch random.below(10) {
            case 0 where logind.sessions[id] == nil:
                signals = logind.add(
                    id,
                    .init(
                        user: random.one(of: [1000, 1001, 42]),
                        sessionClass: random.one(of: ["user", "user", "greeter"]),
                        type: random.one(of: ["wayland", "wayland", "x11", "tty"]),
                        hint: random.one(of: [.bool(false), .bool(false), .bool(true), nil])))
            case 1 where logind.sessions[id] != nil: signals = logind.remove(id)
            case 2, 3:
                if logind.hasSeat {
                    signals = logind.activate(logind.sessions[id] == nil ? nil : id, bySaying: says)
                }
            case 4 where logind.sessions[id] != nil: signals = logind.lock(id)
            case 5 where logind.sessions[id] != nil: signals = logind.unlock(id)
            case 6 where logind.sessions[id] != nil:
                let hint = BusValue.bool(logind.sessions[id]?.properties["LockedHint"] != .bool(true))
                signals = logind.set(["LockedHint": hint], of: id, bySaying: says)
            case 7 where logind.sessions[id] != nil:
                let type = random.one(of: ["wayland", "x11", "tty"])
                signals = logind.set(["Type": .string(type)], of: id, bySaying: says)
            case 8 where random.below(3) == 0:
                signals = logind.sleep(!logind.isSleepSignalled, isDelayed: says)
            case 9 where random.below(4) == 0:
                signals = logind.setSeat(!logind.hasSeat)
                if !logind.hasSeat { logind.active = nil }
            default: return
            }
            if isFollowed { for signal in signals { toModel.append((.signal(signal), now)) } }
            // Told before anybody listened, and nothing to read about it afterwards.
            if !isFollowed {
                logind.toldToLock = []
                if logind.isSleepSignalled != logind.isPreparing { _ = logind.sleep(false) }
            }
        }

        /// logind looks at the next question.
        mutating func look() {
            guard !toLogind.isEmpty else { return }
            let asked = toLogind.removeFirst()
            if asked.question == .signals { isFollowed = true }
            toModel.append((.answer(asked, logind.answer(asked.question)), now))
        }

        /// The machine goes to sleep between the first two questions. Of itself that is too rare to come up.
        mutating func sleepEarly() {
            look()
            for signal in logind.sleep(true, isDelayed: random.below(2) == 0) {
                toModel.append((.signal(signal), now))
            }
        }

        mutating func deliver() {
            guard !toModel.isEmpty else { return }
            let (item, truth) = toModel.removeFirst()
            switch item {
            case .signal(let signal): model.heard(signal)
            case .answer(let asked, let answer): model.answered(asked, answer)
            }
            self.truth = truth
            takeQuestions()
        }

        /// A question runs out of time; its answer, should it still come, is one to nothing.
        mutating func timeOut() {
            let answers = toModel.compactMap { item -> LogindModel.Asked? in
                if case .answer(let asked, _) = item.0 { asked } else { nil }
            }
            guard let asked = (toLogind + answers).randomElement(using: &random), asked.question != .signals
            else {
                return
            }
            model.answered(asked, .failure(BusError(.unanswered, "no answer")))
            takeQuestions()
        }

        mutating func readAgain() {
            guard model.hasFailed, !model.isReading else { return }
            model.readAll()
            takeQuestions()
        }

        var says: LockPolicy.Witness { LogindPolicy.judge(model.facts) }
    }

    private static func rank(_ witness: LockPolicy.Witness) -> Int {
        switch witness {
        case .locked: 0
        case .silent: 1
        case .unlocked: 2
        }
    }

    @Test("in any order", arguments: 0..<8)
    func anyOrder(_ part: UInt64) {
        var unlocked = 0
        for seed in 0..<60 {
            var world = World(seed: part * 1_000_003 + UInt64(seed))
            if seed % 6 == 0 { world.sleepEarly() }
            for step in 0..<150 {
                switch world.random.below(20) {
                case 0..<2: world.change()
                case 2..<9: world.look()
                case 9..<19: world.deliver()
                default:
                    if world.random.below(5) == 0 { world.timeOut() }
                    world.readAgain()
                }
                if !world.model.facts.hasSeat, world.isFirstReading { continue }
                world.isFirstReading = false
                if world.says == .unlocked { unlocked += 1 }
                if Self.rank(world.says) > Self.rank(world.truth) {
                    Issue.record("seed \(part) \(seed) step \(step): \(world.says), and it is \(world.truth)")
                    return
                }
            }
            // Left alone, it comes to the truth.
            for _ in 0..<200 {
                world.look()
                world.deliver()
                world.readAgain()
            }
            if world.says != world.now {
                Issue.record("seed \(part) \(seed): ends \(world.says), and it is \(world.now)")
                return
            }
        }
        // Not by always saying no.
        #expect(unlocked > 100)
    }
}

/// Chance that a seed repeats (xorshift64*).
struct Chance: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

    mutating func next() -> UInt64 {
        state ^= state >> 12
        state ^= state << 25
        state ^= state >> 27
        return state &* 0x2545_F491_4F6C_DD1D
    }

    mutating func below(_ limit: UInt64) -> UInt64 { (next() >> 33) % limit }

    mutating func one<Value>(of values: [Value]) -> Value { values[Int(below(UInt64(values.count)))] }
}
