// SPDX-License-Identifier: Apache-2.0

import Core
import Testing

@testable import Doors

struct HandshakeQueueTests {
    static func id(_ number: UInt64) -> ConnectionID { ConnectionID(owner: 1, serial: number) }

    static func drained(_ queue: inout HandshakeQueue) -> [ConnectionID] {
        var out: [ConnectionID] = []
        while let id = queue.next() { out.append(id) }
        return out
    }

    @Test func theNewestFirstAndThoseThatFailedLast() {
        var queue = HandshakeQueue()
        #expect(queue.isEmpty)
        for number: UInt64 in 1...6 { queue.add(Self.id(number), isSuspect: number.isMultiple(of: 2)) }
        #expect(!queue.isEmpty)
        #expect(Self.drained(&queue) == [5, 3, 1, 6, 4, 2].map(Self.id))
        #expect(queue.isEmpty)
    }

    @Test func whoeverComesWhileOthersWaitGoesFirst() {
        var queue = HandshakeQueue()
        for number: UInt64 in 1...1_000 { queue.add(Self.id(number), isSuspect: false) }
        #expect(queue.next() == Self.id(1_000))
        queue.add(Self.id(1_001), isSuspect: false)
        #expect(queue.next() == Self.id(1_001))
        #expect(queue.next() == Self.id(999))
    }
}
