// SPDX-License-Identifier: Apache-2.0

import Testing
import Wire

@Suite struct MessageReaderTests {
    private static func sample() -> [Message] {
        [(23, 2), (10, 8), (13, 0), (200, 1000), (13, 0), (22, 17)].map { kind, count in
            Message(
                header: MessageHeader(
                    kind: MessageKind(rawValue: kind), timestamp: 2.5, length: UInt32(count)),
                payload: (0..<count).map { UInt8(truncatingIfNeeded: $0 * 13) })
        }
    }

    private func read(_ chunks: [[UInt8]], spans: Bool = false) throws -> [Message] {
        var reader = MessageReader { _ in MessageCaps.fromDevice }
        var messages: [Message] = []
        for chunk in chunks {
            if spans { reader.appendAsSpan(chunk) } else { reader.append(chunk) }
            while let message = try reader.next() { messages.append(message) }
        }
        #expect(reader.isBetweenMessages)
        return messages
    }

    @Test func anySplitGivesTheSameMessages() throws {
        let messages = Self.sample()
        let bytes = messages.flatMap { $0.header.encode() + $0.payload }
        #expect(try read([bytes]) == messages)
        #expect(try read(bytes.map { [$0] }) == messages)
        #expect(try read(bytes.map { [$0] }, spans: true) == messages)
        var generator = SeededGenerator(seed: 6)
        for _ in 0..<200 {
            let splits = (0..<Int.random(in: 0...20, using: &generator))
                .map { _ in Int.random(in: 0...bytes.count, using: &generator) }.sorted()
            let edges = [0] + splits + [bytes.count]
            let chunks = zip(edges, edges.dropFirst()).map { Array(bytes[$0..<$1]) }
            #expect(try read(chunks) == messages)
            #expect(try read(chunks, spans: true) == messages)
        }
    }

    @Test func truncationAtEveryLength() throws {
        let messages = Array(Self.sample().prefix(3))
        let bytes = messages.flatMap { $0.header.encode() + $0.payload }
        for count in 0...bytes.count {
            var reader = MessageReader { _ in 4096 }
            reader.append(Array(bytes[..<count]))
            var whole = 0
            var consumed = 0
            while let message = try reader.next() {
                #expect(message == messages[whole])
                whole += 1
                consumed += MessageHeader.size + message.payload.count
            }
            #expect(reader.isBetweenMessages == (consumed == count))
        }
    }

    @Test func capIsExactAndStops() throws {
        var reader = MessageReader { $0.kind == .pairRequest ? MessageCaps.pairing : 0 }
        let allowed = MessageHeader(kind: .pairRequest, timestamp: 0, length: 4096)
        reader.append(allowed.encode() + [UInt8](repeating: 1, count: 4096))
        #expect(try reader.next()?.payload.count == 4096)
        let over = MessageHeader(kind: .pairRequest, timestamp: 0, length: 4097)
        reader.append(over.encode())
        for _ in 0..<2 {
            #expect(throws: MessageTooLong(header: over)) { _ = try reader.next() }
            reader.append([1, 2, 3])
            reader.appendAsSpan([1, 2, 3])
        }
        #expect(!reader.isBetweenMessages)
    }

    @Test func tooLongIsSaidBeforeThePayloadComes() {
        var reader = MessageReader { _ in 10 }
        let over = MessageHeader(kind: .hello, timestamp: 0, length: .max)
        reader.append(over.encode())
        #expect(throws: MessageTooLong(header: over)) { _ = try reader.next() }
    }
}
