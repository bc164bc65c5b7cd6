// SPDX-License-Identifier: Apache-2.0

import Testing
import Wire

@testable import Doors

@Suite("Device to host")
struct DeviceStreamTests {
    struct Run {
        var stream = DeviceStream(helloWasRead: false)
        var passed: [UInt8] = []
        var notes: [String] = []

        mutating func feed(_ input: [UInt8], pieces: Int = .max) {
            var rest = input[...]
            repeat {
                var piece = Array(rest.prefix(pieces))
                rest = rest.dropFirst(pieces)
                while let step = stream.next(piece.span) {
                    switch step {
                    case .pass(let count):
                        passed += piece.prefix(count)
                        piece.removeFirst(count)
                    case .drop(let count): piece.removeFirst(count)
                    case .held(let bytes): passed += bytes
                    case .pairingWanted: notes.append("21")
                    case .hello(let payload): notes.append("hello \(payload.count) at \(passed.count)")
                    case .tooLong: notes.append("too long")
                    }
                }
                #expect(piece.isEmpty)
            } while !rest.isEmpty
        }
    }

    @Test("all but kind 21 passes untouched, whatever the pieces", arguments: 1...40)
    func passing(pieces: Int) {
        let start = message(23, 30) + message(10, 8)
        let end = message(19, 4) + message(20) + message(23, 2) + message(200, 60)
        var run = Run()
        run.feed(start + message(21) + message(10, 8) + message(21, 33) + end, pieces: pieces)
        #expect(run.passed == start + message(10, 8) + end)
        #expect(run.notes == ["hello 30 at 44", "21", "21"])
    }

    @Test("an empty hello is one too; only the first counts; one read by the gate is none")
    func hello() {
        var run = Run()
        run.feed(message(23) + message(23, 5))
        #expect(run.notes == ["hello 0 at 14"])
        var gated = Run()
        gated.stream = DeviceStream(helloWasRead: true)
        gated.feed(message(23, 5))
        #expect(gated.notes == [] && gated.passed == message(23, 5))
    }

    @Test(
        "a length above 1 MiB ends it before its header, whatever the pieces", arguments: [1, 3, 14, 20, 500])
    func tooLong(pieces: Int) {
        let header = MessageHeader(kind: .input, timestamp: 0, length: 1_048_577).encode()
        var run = Run()
        run.feed(message(10, 8) + header + [1, 2, 3], pieces: pieces)
        #expect(run.passed == message(10, 8))
        #expect(run.notes == ["too long"])
        #expect(run.stream.isOver)
    }

    @Test("a length of 1 MiB passes")
    func atCap() {
        var run = Run()
        let all = message(8, 1_048_576) + message(10, 8)
        run.feed(all, pieces: 65_536)
        #expect(run.passed == all)
    }
}
