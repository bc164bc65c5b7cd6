// SPDX-License-Identifier: Apache-2.0

import Testing
import Wire

@testable import Doors

/// A message of `count` payload bytes.
func message(_ kind: UInt8, _ count: Int = 0, fill: UInt8 = 0xAB) -> [UInt8] {
    encodeMessage(
        kind: MessageKind(rawValue: kind), timestamp: 1, payload: [UInt8](repeating: fill, count: count))
}

@Suite("Host to device")
struct HostStreamTests {
    /// What a device would see: bytes, and the relay's own messages as words.
    enum Seen: Equatable {
        case bytes([UInt8])
        case own(String)
    }

    /// Feeds `input` in pieces and performs the steps.
    struct Run {
        var stream = HostStream()
        var seen: [Seen] = []
        var starts = 0
        /// Where frames end in what a device sees.
        var frames = FrameEnds()
        var position: UInt64 = 0
        /// Bytes of each of the relay's own messages.
        var ownSize: UInt64 = 0

        mutating func feed(_ input: [UInt8], pieces: Int = .max) {
            var rest = input[...]
            repeat {
                var piece = Array(rest.prefix(pieces))
                rest = rest.dropFirst(pieces)
                while let step = stream.next(piece.span, at: position, noting: &frames) {
                    switch step {
                    case .pass(let count):
                        position += UInt64(count)
                        see(Array(piece.prefix(count)))
                        piece.removeFirst(count)
                    case .drop(let count): piece.removeFirst(count)
                    case .hostInfo:
                        position += ownSize
                        seen.append(.own("18"))
                    case .goodbye:
                        position += ownSize
                        seen.append(.own("22"))
                    case .started: starts += 1
                    case .broken(let isClean): seen.append(.own(isClean ? "broken" : "broken inside"))
                    }
                }
                #expect(piece.isEmpty)
            } while !rest.isEmpty
        }

        private mutating func see(_ bytes: [UInt8]) {
            if case .bytes(let last)? = seen.last {
                seen[seen.count - 1] = .bytes(last + bytes)
            } else if !bytes.isEmpty {
                seen.append(.bytes(bytes))
            }
        }
    }

    static let catalog = message(2, 10) + message(16, 5) + message(4, 300) + message(13) + message(1, 2000)
    static let firstTwo = message(2, 10) + message(16, 5)
    static var rest: [UInt8] { Array(catalog.dropFirst(firstTwo.count)) }

    @Test("kind 18 stands right after the first kind 16, whatever the pieces", arguments: 1...40)
    func afterSettings(pieces: Int) {
        var run = Run()
        run.feed(Self.catalog + message(16, 5), pieces: pieces)
        #expect(run.seen == [.bytes(Self.firstTwo), .own("18"), .bytes(Self.rest + message(16, 5))])
        #expect(run.starts == 1)
    }

    @Test("the backend's own kind 18 never passes, whatever the pieces", arguments: 1...40)
    func ownInfo(pieces: Int) {
        var run = Run()
        run.feed(message(2, 3) + message(18, 77) + message(18) + message(13) + message(18, 1), pieces: pieces)
        #expect(run.seen == [.bytes(message(2, 3) + message(13))])
    }

    @Test("without a kind 16 it waits for the end of the wait, and for the end of a message")
    func waitEnded() {
        var run = Run()
        run.stream.hostInfoChanged()
        run.feed(message(2, 10))
        #expect(run.seen == [.bytes(message(2, 10))])
        run.stream.hostInfoWaitEnded()
        run.feed([])
        #expect(run.seen.last == .own("18"))
        run.stream.hostInfoWaitEnded()
        run.feed(message(16, 4))
        #expect(run.seen.count == 3)

        var inside = Run()
        let frame = message(1, 100)
        inside.feed(Array(frame.prefix(50)))
        inside.stream.hostInfoWaitEnded()
        inside.feed([])
        inside.feed(Array(frame.dropFirst(50)) + message(13))
        #expect(inside.seen == [.bytes(frame), .own("18"), .bytes(message(13))])
    }

    @Test("a change is told again between two messages")
    func changed() {
        var run = Run()
        let frame = message(1, 100)
        run.feed(Self.firstTwo + frame.prefix(20))
        run.stream.hostInfoChanged()
        run.feed(Array(frame.dropFirst(20)))
        #expect(run.seen == [.bytes(Self.firstTwo), .own("18"), .bytes(frame), .own("18")])
        run.stream.hostInfoChanged()
        run.feed([])
        #expect(run.seen.count == 5)
    }

    @Test("a goodbye waits for the message in progress, and nothing follows it")
    func goodbye() {
        var run = Run()
        let frame = message(1, 100)
        run.feed(Array(frame.prefix(99)))
        run.stream.requestGoodbye()
        run.feed([])
        #expect(run.seen.count == 1 && !run.stream.isClosed)
        run.feed(Array(frame.dropFirst(99)) + message(1, 5))
        #expect(run.seen == [.bytes(frame), .own("22")])
        #expect(run.stream.isClosed)
        run.feed(message(2, 2))
        #expect(run.seen.count == 2)
    }

    @Test("a goodbye before the backend has said anything, and inside a kind 18 that is dropped")
    func goodbyeEarly() {
        var early = Run()
        early.stream.requestGoodbye()
        early.feed([])
        #expect(early.seen == [.own("22")])
        var dropped = Run()
        dropped.feed(Array(message(18, 50).prefix(30)))
        dropped.stream.requestGoodbye()
        dropped.feed([])
        #expect(dropped.seen == [.own("22")])
    }

    @Test("nothing of the relay's own follows the backend's goodbye; its own bytes do")
    func backendGoodbye() {
        var run = Run()
        run.feed(Self.firstTwo + message(22, 9))
        run.stream.requestGoodbye()
        run.stream.hostInfoChanged()
        run.feed(message(13))
        #expect(run.seen == [.bytes(Self.firstTwo), .own("18"), .bytes(message(22, 9) + message(13))])
        #expect(run.stream.backendSaidGoodbye && !run.stream.isClosed)
    }

    @Test("a length above the cap breaks the stream; whether a goodbye may follow depends on what has passed")
    func tooLong() {
        let header = MessageHeader(kind: .windowList, timestamp: 0, length: 4_194_305).encode()
        var clean = Run()
        clean.feed(message(13) + header + [1, 2, 3])
        #expect(clean.seen == [.bytes(message(13)), .own("broken")])
        var inside = Run()
        inside.feed(message(13) + header + [1, 2, 3], pieces: 20)
        #expect(inside.seen.last == .own("broken inside"))
        var atCap = Run()
        atCap.feed(MessageHeader(kind: .frame, timestamp: 0, length: 33_554_432).encode() + [1])
        #expect(atCap.seen.count == 1 && !atCap.stream.isBroken)
    }
}
