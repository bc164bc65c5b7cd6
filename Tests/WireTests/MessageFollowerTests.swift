// SPDX-License-Identifier: Apache-2.0

import Testing
import Wire

@Suite struct MessageFollowerTests {
    /// Payload events joined, so that events of differently split streams can be compared.
    private func follow(
        _ stream: [UInt8], splitAt splits: [Int], direction: MessageFollower.Direction = .hostToDevice
    ) -> [MessageFollower.Event] {
        var follower = MessageFollower(direction: direction)
        var events: [MessageFollower.Event] = []
        let edges = [0] + splits + [stream.count]
        for (from, to) in zip(edges, edges.dropFirst()) {
            let chunk = Array(stream[from..<to])
            var start = 0
            var isDone = false
            while !isDone {
                let step = follower.step(chunk, from: start)
                let (event, consumed) = (step.event, step.consumed)
                start += consumed
                switch event {
                case .needMore:
                    #expect(start == chunk.count)
                    isDone = true
                case .payload(let count):
                    #expect(count == consumed && count > 0)
                    if case .payload(let before) = events.last {
                        events[events.count - 1] = .payload(before + count)
                    } else {
                        events.append(event)
                    }
                case .tooLong:
                    events.append(event)
                    return events
                case .end:
                    #expect(consumed == 0)
                    #expect(follower.isBetweenMessages)
                    events.append(event)
                case .header(let header):
                    #expect(follower.remainingPayload == Int(header.length))
                    events.append(event)
                }
            }
        }
        return events
    }

    private func sampleStream() -> (bytes: [UInt8], events: [MessageFollower.Event]) {
        var bytes: [UInt8] = []
        var events: [MessageFollower.Event] = []
        for (kind, count) in [(2, 40), (13, 0), (11, 8), (1, 300), (13, 0), (200, 1), (22, 17)] {
            let payload = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 7) }
            let message = encodeMessage(
                kind: MessageKind(rawValue: UInt8(kind)), timestamp: 1_790_265_600.5, payload: payload)
            bytes += message
            events.append(.header(header(of: message)))
            if count > 0 { events.append(.payload(count)) }
            events.append(.end)
        }
        return (bytes, events)
    }

    @Test func wholeInputAndByteByByte() {
        let (bytes, events) = sampleStream()
        #expect(follow(bytes, splitAt: []) == events)
        #expect(follow(bytes, splitAt: Array(1..<bytes.count)) == events)
    }

    @Test func everySingleSplit() {
        let (bytes, events) = sampleStream()
        for split in 0...bytes.count { #expect(follow(bytes, splitAt: [split]) == events) }
    }

    @Test func randomSplits() {
        let (bytes, events) = sampleStream()
        var generator = SeededGenerator(seed: 5)
        for _ in 0..<500 {
            let splits = (0..<Int.random(in: 0...20, using: &generator))
                .map { _ in Int.random(in: 0...bytes.count, using: &generator) }.sorted()
            #expect(follow(bytes, splitAt: splits) == events)
        }
    }

    @Test func truncationAtEveryLength() {
        let (bytes, _) = sampleStream()
        let edges = boundaries(of: bytes)
        for count in 0...bytes.count {
            var follower = MessageFollower(direction: .hostToDevice)
            let chunk = Array(bytes[..<count])
            var start = 0
            while true {
                let step = follower.step(chunk, from: start)
                let (event, consumed) = (step.event, step.consumed)
                start += consumed
                if event == .needMore { break }
            }
            #expect(start == count)
            #expect(follower.isBetweenMessages == edges.contains(count))
            let last = edges.last { $0 <= count } ?? 0
            let isInHeader = count - last < MessageHeader.size
            #expect(follower.pendingHeaderBytes == (isInHeader ? Array(bytes[last..<count]) : []))
        }
    }

    private func boundaries(of bytes: [UInt8]) -> [Int] {
        var edges = [0]
        while let last = edges.last, last < bytes.count {
            let header = header(of: bytes, at: last)
            edges.append(last + MessageHeader.size + Int(header.length))
        }
        return edges
    }

    @Test(
        arguments: [
            (MessageFollower.Direction.deviceToHost, 8, 1_048_576), (.deviceToHost, 1, 1_048_576),
            (.deviceToHost, 19, 1_048_576), (.hostToDevice, 1, 33_554_432), (.hostToDevice, 0, 4_194_304),
            (.hostToDevice, 20, 4_194_304), (.hostToDevice, 255, 4_194_304),
        ] as [(MessageFollower.Direction, UInt8, UInt32)])
    func capsAreExact(direction: MessageFollower.Direction, kind: UInt8, cap: UInt32) {
        let allowed = MessageHeader(kind: MessageKind(rawValue: kind), timestamp: 0, length: cap)
        #expect(follow(allowed.encode(), splitAt: [], direction: direction) == [.header(allowed)])
        for length in [cap + 1, .max] {
            var over = allowed
            over.length = length
            #expect(follow(over.encode() + [1, 2, 3], splitAt: [], direction: direction) == [.tooLong(over)])
            #expect(follow(over.encode(), splitAt: [5], direction: direction) == [.tooLong(over)])
        }
    }

    @Test func afterTooLongNothingIsRead() {
        var follower = MessageFollower(direction: .deviceToHost)
        let header = MessageHeader(kind: .input, timestamp: 0, length: 2_000_000)
        let bytes = header.encode() + [1, 2, 3]
        #expect(follower.step(bytes, from: 0) == .init(event: .tooLong(header), consumed: 14))
        #expect(follower.step(bytes, from: 14) == .init(event: .tooLong(header), consumed: 0))
        #expect(!follower.isBetweenMessages)
        #expect(follower.remainingPayload == 0)
    }

    @Test func pastTheEndIsNothing() {
        var follower = MessageFollower(direction: .deviceToHost)
        #expect(follower.step([], from: 0) == .init(event: .needMore, consumed: 0))
        #expect(follower.step([1, 2], from: 2) == .init(event: .needMore, consumed: 0))
        #expect(follower.step([1, 2], from: 5) == .init(event: .needMore, consumed: 0))
        #expect(follower.isBetweenMessages)
    }

    @Test func payloadCountsDown() {
        var follower = MessageFollower(direction: .deviceToHost)
        let header = MessageHeader(kind: .input, timestamp: 0, length: 10)
        _ = follower.step(header.encode())
        #expect(follower.remainingPayload == 10)
        #expect(follower.step([1, 2, 3, 4], from: 1) == .init(event: .payload(3), consumed: 3))
        #expect(follower.remainingPayload == 7)
        #expect(!follower.isBetweenMessages)
        #expect(follower.pendingHeaderBytes.isEmpty)
    }
}
