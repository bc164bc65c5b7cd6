// SPDX-License-Identifier: Apache-2.0

import Policy
import Testing
import Wire

/// 02 §6.
struct PairingWindowTests {
    func window() -> PairingWindow {
        var window = PairingWindow(secret: [1], expiry: at(300))
        window.setCodeKey([2])
        return window
    }

    static func source(_ number: Int) -> IPAddress { ip("192.168.1.\(number)") }

    @Test func fiveWrongProofsAndTheirSpacing() {
        var window = window()
        var verdicts: [PairingWindow.Verdict] = []
        // Exactly when the next is allowed, each from a source of its own.
        for (number, time) in [0.0, 1, 3, 7, 15].enumerated() {
            verdicts.append(
                window.judge(method: "qr", source: Self.source(number), at: at(time)) { _ in false })
        }
        #expect(
            verdicts == [
                .reject(triesLeft: 4), .reject(triesLeft: 3), .reject(triesLeft: 2), .reject(triesLeft: 1),
                .stopped,
            ])
    }

    @Test(arguments: [
        (1, 0.999, 0.001), (1, 0.5, 0.5), (2, 1.5, 1.5), (3, 3.25, 3.75), (4, 14.9, 0.1),
    ])
    func tooSoonForEverybody(_ wrong: Int, _ time: Double, _ rest: Double) {
        var window = window()
        for number in 0..<wrong {
            _ = window.judge(
                method: "qr", source: Self.source(number), at: at([0.0, 1, 3, 7][number])
            ) { _ in false }
        }
        // Even a right one, and it does not count.
        let verdict = window.judge(method: "qr", source: Self.source(99), at: at(time)) { _ in true }
        #expect(verdict == .busy(.milliseconds(Int64((rest * 1000).rounded()))))
        #expect(window.triesLeft == 5 - wrong)
    }

    @Test func aSourceWaits5sFromItsLastJudgedTry() {
        var window = window()
        let source = Self.source(1)
        func judge(_ time: Double) -> PairingWindow.Verdict {
            window.judge(method: "qr", source: source, at: at(time)) { _ in false }
        }
        #expect(judge(0) == .reject(triesLeft: 4))
        #expect(judge(2) == .busy(.seconds(3)))
        #expect(judge(4.999) == .busy(.milliseconds(1)))
        // The busy ones were not recorded.
        #expect(judge(5) == .reject(triesLeft: 3))
        #expect(judge(6.5) == .busy(.milliseconds(500)))
    }

    @Test func aCodeWaitsForItsKeyWithoutCounting() {
        var window = PairingWindow(secret: [1], expiry: at(300))
        #expect(
            window.judge(method: "code", source: Self.source(1), at: at(0)) { _ in true }
                == .busy(.seconds(1)))
        window.setCodeKey([2])
        #expect(
            window.judge(method: "code", source: Self.source(1), at: at(0.1)) { $0 == [2] } == .accept)
    }

    /// 02 §6.3, rule 4 before rule 5.
    @Test func aSourceWaitsBeforeItsCodesKeyIsAskedFor() {
        var window = PairingWindow(secret: [1], expiry: at(300))
        func judge(_ method: String, _ time: Double) -> PairingWindow.Verdict {
            window.judge(method: method, source: Self.source(1), at: at(time)) { _ in false }
        }
        #expect(judge("qr", 0) == .reject(triesLeft: 4))
        #expect(judge("code", 2) == .busy(.seconds(3)))
        #expect(judge("code", 5) == .busy(.seconds(1)))
    }

    @Test func eachMethodHasItsKey() {
        var window = window()
        #expect(window.judge(method: "qr", source: Self.source(1), at: at(0)) { $0 == [1] } == .accept)
        #expect(window.judge(method: "code", source: Self.source(2), at: at(0)) { $0 == [2] } == .accept)
        var wasAsked = false
        let verdict = window.judge(method: "fax", source: Self.source(3), at: at(0)) { _ in
            wasAsked = true
            return true
        }
        #expect(verdict == .reject(triesLeft: 4))
        #expect(!wasAsked)
    }

    @Test func expiredAtExactlyItsEnd() {
        var window = window()
        #expect(window.judge(method: "qr", source: Self.source(1), at: at(300)) { _ in true } == .expired)
        #expect(
            window.judge(method: "qr", source: Self.source(1), at: at(299.999)) { _ in true } == .accept)
    }

    /// 02 §6.3, rule 2 before rules 3 and 4.
    @Test func anExpiredWindowIsNotBusy() {
        var window = window()
        func judge(_ source: Int, _ time: Double) -> PairingWindow.Verdict {
            window.judge(method: "qr", source: Self.source(source), at: at(time)) { _ in false }
        }
        #expect(judge(1, 299.5) == .reject(triesLeft: 4))
        #expect(judge(2, 300.1) == .expired)
        #expect(judge(1, 302) == .expired)
    }

    /// However many sources take part, five wrong proofs are all there are, and they take 15 s.
    @Test func parallelSourcesBuyNothing() {
        var random = Seeded(state: 11)
        for _ in 0..<50 {
            var window = window()
            var judged: [Double] = []
            var time = 0.0
            var isStopped = false
            while time < 299 && !isStopped {
                time += Double.random(in: 0...0.4, using: &random)
                let source = Self.source(Int.random(in: 1...200, using: &random))
                switch window.judge(method: "qr", source: source, at: at(time), isRight: { _ in false }) {
                case .reject, .accept: judged.append(time)
                case .stopped:
                    judged.append(time)
                    isStopped = true
                case .busy, .expired: break
                }
            }
            #expect(judged.count == 5)
            let gaps = zip(judged.dropFirst(), judged).map { $0 - $1 }
            #expect(zip(gaps, [1.0, 2, 4, 8]).allSatisfy { $0 >= $1 - 1e-6 })
        }
    }
}
