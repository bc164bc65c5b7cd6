// SPDX-License-Identifier: Apache-2.0

import Testing
import Wire

@testable import Doors

/// Both streams against rules written a second way: over whole messages, where no chunk boundary exists.
@Suite("Streams against an oracle")
struct StreamOracleTests {
    /// xorshift64*: small, and the same on every run.
    struct Random: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state ^= state >> 12
            state ^= state << 25
            state ^= state >> 27
            return state &* 2_685_821_657_736_338_717
        }
    }

    static func messages(_ kinds: [UInt8], _ random: inout Random) -> [[UInt8]] {
        (0..<40).map { _ in
            let kind = kinds.randomElement(using: &random) ?? 13
            let length = Bool.random(using: &random) ? 0 : Int.random(in: 0...200, using: &random)
            return message(kind, length, fill: UInt8.random(in: 0...255, using: &random))
        }
    }

    @Test("host to device", arguments: 1...60)
    func fromHost(seed: Int) {
        var random = Random(state: UInt64(seed) &* 7919)
        let all = Self.messages([1, 2, 13, 16, 18, 18, 22], &random)
        // Whole messages: 18 goes, ours comes after the first 16 unless a 22 came before.
        var want: [HostStreamTests.Seen] = []
        var sent = false
        var ended = false
        var passed: [UInt8] = []
        for one in all where one[0] != 18 {
            passed += one
            if one[0] == 22 { ended = true }
            if one[0] == 16, !sent, !ended {
                sent = true
                want += [.bytes(passed), .own("18")]
                passed = []
            }
        }
        if !passed.isEmpty { want.append(.bytes(passed)) }

        var run = HostStreamTests.Run()
        var rest = all.flatMap { $0 }[...]
        while !rest.isEmpty {
            let count = Int.random(in: 1...90, using: &random)
            run.feed(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        #expect(run.seen == want)
    }

    @Test("device to host", arguments: 1...60)
    func fromDevice(seed: Int) {
        var random = Random(state: UInt64(seed) &* 104_729)
        let all = Self.messages([8, 10, 19, 21, 21, 23], &random)
        let passed = all.filter { $0[0] != 21 }.flatMap { $0 }
        let asked = all.count { $0[0] == 21 }

        var run = DeviceStreamTests.Run()
        var rest = all.flatMap { $0 }[...]
        while !rest.isEmpty {
            let count = Int.random(in: 1...90, using: &random)
            run.feed(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        #expect(run.passed == passed)
        #expect(run.notes.count { $0 == "21" } == asked)
        #expect(run.notes.count { $0.hasPrefix("hello") } == (all.contains { $0[0] == 23 } ? 1 : 0))
    }

    @Test("random bytes never trap, and nothing is passed twice", arguments: 1...40)
    func noise(seed: Int) {
        var random = Random(state: UInt64(seed) &* 15_485_863)
        var host = HostStreamTests.Run()
        var device = DeviceStreamTests.Run()
        var fed = 0
        for _ in 0..<50 {
            let bytes = (0..<Int.random(in: 0...100, using: &random)).map { _ in
                // Mostly zeros, so that lengths stay small and many messages begin.
                UInt8.random(in: 0...3, using: &random) == 0 ? UInt8.random(in: 0...30, using: &random) : 0
            }
            fed += bytes.count
            host.feed(bytes)
            device.feed(bytes)
            if Bool.random(using: &random) { host.stream.hostInfoChanged() }
        }
        let passed = host.seen.reduce(0) { if case .bytes(let bytes) = $1 { $0 + bytes.count } else { $0 } }
        #expect(passed <= fed && device.passed.count <= fed)
    }
}
