// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Policy
import Synchronization
import Testing
import Wire

@testable import NetFacts

@Suite("Cable witness", .serialized)
struct CableWitnessTests {
    static let cable = CableVerdict.cable(CableFinding(device: "d", plug: "3:17/9", interface: "usb0"))

    private func source() throws -> IPAddress { try #require(IPAddress("fe80::c0d3:1%9")) }

    @Test("answers what the reader finds, afresh each time")
    func afresh() throws {
        let tree = try CableTree()
        let reader = tree.reader()
        let witness = try CableWitness(budget: patience) { reader.judge($0) }
        defer { witness.stop() }
        let answers = Answers()
        witness.judge(try source(), answers.add)
        #expect(answers.wait(1) == [CableReaderTests.found])
        try tree.write("\(tree.usb)/product", "Mac\n")
        witness.judge(try source(), answers.add)
        #expect(answers.wait(2).last == .not(.wrongProduct))
        try tree.write("\(tree.usb)/product", "iPad\n")
        witness.judge(try source(), answers.add)
        #expect(answers.wait(3).last == CableReaderTests.found)
    }

    @Test(
        "a source that fails 3.1 is answered before the call returns, with nothing read",
        arguments: [
            ("192.168.1.20", .notLinkLocal), ("fd00::1%9", .notLinkLocal), ("fe80::1", .noZone),
        ] as [(String, CableReason)])
    func noRead(_ text: String, _ want: CableReason) throws {
        let looks = Mutex(0)
        let witness = try CableWitness(judge: { _ in
            looks.withLock { $0 += 1 }
            return Self.cable
        })
        let answers = Answers()
        witness.judge(try #require(IPAddress(text)), answers.add)
        #expect(answers.all == [.not(want)])
        witness.stop()
        #expect(looks.withLock { $0 } == 0)
    }

    @Test("a look that takes long holds no other one up")
    func besideALongOne() throws {
        let release = DispatchSemaphore(value: 0)
        let begun = DispatchSemaphore(value: 0)
        let long = try source()
        let witness = try CableWitness(budget: patience) { ip in
            if ip == long {
                begun.signal()
                release.wait()
            }
            return Self.cable
        }
        defer { witness.stop() }
        let late = Answers()
        witness.judge(long, late.add)
        begun.wait()
        let quick = Answers()
        witness.judge(try #require(IPAddress("fe80::2%9")), quick.add)
        #expect(quick.wait(1) == [Self.cable])
        #expect(late.all.isEmpty)
        release.signal()
        #expect(late.wait(1) == [Self.cable])
    }

    @Test("a look that hangs is answered without it, and its own word comes too late for anybody")
    func hangs() throws {
        let release = DispatchSemaphore(value: 0)
        let ended = DispatchSemaphore(value: 0)
        let begun = Mutex(false)
        let witness = try CableWitness(budget: .milliseconds(1)) { _ in
            begun.withLock { $0 = true }
            release.wait()
            defer { ended.signal() }
            return Self.cable
        }
        let answers = Answers()
        var asked = 0
        // On a slow machine the time may be up before a look has begun.
        while !begun.withLock({ $0 }) {
            witness.judge(try source(), answers.add)
            asked += 1
            #expect(answers.wait(asked).last == .not(.unreadable))
        }
        release.signal()
        ended.wait()
        witness.stop()
        #expect(answers.all == Array(repeating: .not(.unreadable), count: asked))
    }

    @Test("looks that all hang hold no more threads than the limit, and everybody is answered once")
    func bounded() throws {
        let release = DispatchSemaphore(value: 0)
        let begun = DispatchSemaphore(value: 0)
        let looks = Mutex(0)
        let witness = try CableWitness(budget: patience) { _ in
            looks.withLock { $0 += 1 }
            begun.signal()
            release.wait()
            return Self.cable
        }
        let answers = Answers()
        let source = try source()
        for _ in 0..<CableWitness.callerLimit { witness.judge(source, answers.add) }
        for _ in 0..<CableWitness.lookLimit { begun.wait() }
        #expect(answers.all.isEmpty)
        // No more room: answered before the call returns.
        for _ in 0..<10 { witness.judge(source, answers.add) }
        #expect(answers.all == Array(repeating: .not(.unreadable), count: 10))
        witness.stop()
        #expect(
            answers.all == Array(repeating: .not(.unreadable), count: 10 + CableWitness.callerLimit))
        #expect(looks.withLock { $0 } == CableWitness.lookLimit)
        for _ in 0..<CableWitness.lookLimit { release.signal() }
    }

    @Test("everybody is answered at the stop, and after it at once")
    func stops() throws {
        let release = DispatchSemaphore(value: 0)
        let begun = DispatchSemaphore(value: 0)
        let witness = try CableWitness(budget: patience) { _ in
            begun.signal()
            release.wait()
            return Self.cable
        }
        let answers = Answers()
        witness.judge(try source(), answers.add)
        begun.wait()
        witness.stop()
        #expect(answers.all == [.not(.unreadable)])
        witness.judge(try source(), answers.add)
        #expect(answers.all.count == 2)
        witness.stop()
        release.signal()
    }

    @Test("what takes too long is nil, what does not is its value")
    func limits() {
        let release = DispatchSemaphore(value: 0)
        let slow: Int? = within(.milliseconds(1)) {
            release.wait()
            return 1
        }
        release.signal()
        #expect(slow == nil)
        #expect(within(patience) { 2 } == 2)
    }
}

/// The answers that came, in order.
private final class Answers: Sendable {
    private let list = Mutex<[CableVerdict]>([])
    private let came = DispatchSemaphore(value: 0)

    var add: @Sendable (CableVerdict) -> Void {
        { verdict in
            self.list.withLock { $0.append(verdict) }
            self.came.signal()
        }
    }

    var all: [CableVerdict] { list.withLock { $0 } }

    /// All, once there are so many.
    func wait(_ count: Int) -> [CableVerdict] {
        while all.count < count { came.wait() }
        return all
    }
}
