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
        let witness = try CableWitness(tree.reader())
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

    @Test("a look that hangs is answered without it, and others go on meanwhile")
    func hangs() throws {
        let release = DispatchSemaphore(value: 0)
        let begun = DispatchSemaphore(value: 0)
        let hung = try source()
        let witness = try CableWitness(judge: { ip in
            if ip == hung {
                begun.signal()
                release.wait()
            }
            return Self.cable
        })
        let late = Answers()
        witness.judge(hung, late.add)
        begun.wait()
        let quick = Answers()
        witness.judge(try #require(IPAddress("fe80::2%9")), quick.add)
        #expect(quick.wait(1) == [Self.cable])
        #expect(late.wait(1) == [.not(.unreadable)])
        release.signal()
        // The look's own word comes too late for anybody.
        witness.judge(try #require(IPAddress("fe80::2%9")), quick.add)
        #expect(quick.wait(2) == [Self.cable, Self.cable])
        witness.stop()
        #expect(late.all == [.not(.unreadable)])
    }

    @Test("looks that all hang hold no more threads than the limit, and everybody is answered")
    func bounded() throws {
        let release = DispatchSemaphore(value: 0)
        let looks = Mutex(0)
        let witness = try CableWitness(judge: { _ in
            looks.withLock { $0 += 1 }
            release.wait()
            return Self.cable
        })
        let answers = Answers()
        let source = try source()
        for _ in 0..<CableWitness.callerLimit + 10 { witness.judge(source, answers.add) }
        let all = answers.wait(CableWitness.callerLimit + 10)
        #expect(all.allSatisfy { $0 == .not(.unreadable) })
        #expect(looks.withLock { $0 } == CableWitness.lookLimit)
        for _ in 0..<CableWitness.lookLimit { release.signal() }
        witness.stop()
        #expect(answers.all.count == CableWitness.callerLimit + 10, "answered once each")
    }

    @Test("everybody is answered at the stop, and after it at once")
    func stops() throws {
        let release = DispatchSemaphore(value: 0)
        let begun = DispatchSemaphore(value: 0)
        let witness = try CableWitness(judge: { _ in
            begun.signal()
            release.wait()
            return Self.cable
        })
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
        let slow: Int? = within(.milliseconds(20)) {
            release.wait()
            return 1
        }
        release.signal()
        #expect(slow == nil)
        #expect(within(.seconds(60)) { 2 } == 2)
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
