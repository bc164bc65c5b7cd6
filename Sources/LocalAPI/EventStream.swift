// One client's stream of events, on the server's thread. SPDX-License-Identifier: Apache-2.0

internal import Wire

/// What a stream has still to send. It holds no events of its own but the block it is sending: it reads on in the hub's
/// ring, and when it has fallen behind by more than the ring keeps it is ended. So a slow client costs nothing.
final class EventStream {
    /// What to do next.
    enum Step: Equatable {
        /// Send `block` from `offset` on.
        case send
        /// Nothing is there: sleep until `wake`.
        case sleep
        /// The client is too slow: break off.
        case breakOff
        /// The service stops: end well.
        case end
    }

    private let hub: EventHub
    private var cursor: Int64
    /// Bytes on their way; from `offset` on they are not sent yet.
    private(set) var block: [UInt8]
    private(set) var offset = 0
    /// When bytes were last sent.
    private(set) var lastSent: MonotonicTime
    /// Whether its connection is suspended.
    var isAsleep = false
    private var owesComment = false
    private var isEnding = false

    init(_ subscription: EventSubscription, now: MonotonicTime) {
        hub = subscription.hub
        cursor = subscription.cursor
        block = subscription.preamble
        lastSent = now
    }

    /// Decides what is next, and loads the next block when there is one.
    func step() -> Step {
        if offset < block.count { return .send }
        if isEnding { return .end }
        block.removeAll(keepingCapacity: true)
        offset = 0
        guard hub.read(after: &cursor, into: &block, limit: ServerLimits.streamBlock) else {
            return .breakOff
        }
        if block.isEmpty, owesComment { block += EventFrame.comment }
        owesComment = false
        return block.isEmpty ? .sleep : .send
    }

    /// `count` bytes of the block were sent.
    func sent(_ count: Int, now: MonotonicTime) {
        offset += count
        lastSent = now
    }

    /// When the next comment is due.
    var commentDue: MonotonicTime { lastSent + .seconds(ServerLimits.commentSeconds) }

    /// Lets the next step send a comment if there is nothing better.
    func oweComment() { owesComment = true }

    /// Ends the stream once its block is sent.
    func end() { isEnding = true }
}
