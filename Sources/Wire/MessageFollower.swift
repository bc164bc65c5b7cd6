// SPDX-License-Identifier: Apache-2.0

/// Follows message boundaries in a stream that passes through, without holding a payload (file 01 §1).
///
/// The relay asks it about every chunk of every session, so a call takes constant time and no memory, whatever the sizes
/// of messages and chunks. It keeps at most one partial header.
package struct MessageFollower: Sendable {
    /// Which way the stream goes, and so which caps hold.
    package enum Direction: Sendable {
        case deviceToHost, hostToDevice
    }

    /// What the next bytes of a stream are.
    package enum Event: Equatable, Sendable {
        /// There are no more bytes, or those taken are the beginning of a header.
        case needMore
        /// A header that these bytes complete. Its first bytes may have come with earlier calls.
        case header(MessageHeader)
        /// That many bytes of the current message's payload; never 0.
        case payload(Int)
        /// The current message is complete. Comes right after its last byte, and without consuming one.
        case end
        /// A header that announces more than its cap. Nothing after it may be read; every later call says the same.
        case tooLong(MessageHeader)
    }

    private enum Place {
        case inHeader
        case inPayload(remaining: Int)
        case stopped(MessageHeader)
    }

    private let direction: Direction
    private var place = Place.inHeader
    // The first `pendingCount` bytes of a header whose rest has not come yet.
    private var pending = InlineArray<14, UInt8>(repeating: 0)
    private var pendingCount = 0

    /// At the beginning of a stream.
    package init(direction: Direction) {
        self.direction = direction
    }

    /// The next thing in `bytes[start...]`, and how many of these bytes belong to it. Call again from after them until
    /// it says ``Event/needMore``, which consumes all that is left.
    package mutating func next(_ bytes: Span<UInt8>, from start: Int) -> (event: Event, consumed: Int) {
        let available = max(0, bytes.count - start)
        switch place {
        case .inHeader:
            return nextHeader(bytes, from: start, available: available)
        case .inPayload(remaining: 0):
            place = .inHeader
            return (.end, 0)
        case .inPayload(let remaining):
            let count = min(remaining, available)
            guard count > 0 else { return (.needMore, 0) }
            place = .inPayload(remaining: remaining - count)
            return (.payload(count), count)
        case .stopped(let header):
            return (.tooLong(header), 0)
        }
    }

    private mutating func nextHeader(
        _ bytes: Span<UInt8>, from start: Int, available: Int
    ) -> (event: Event, consumed: Int) {
        let missing = MessageHeader.size - pendingCount
        guard available >= missing else {
            for offset in 0..<available { pending[pendingCount + offset] = bytes[start + offset] }
            pendingCount += available
            return (.needMore, available)
        }
        let header: MessageHeader
        if pendingCount == 0 {
            header = MessageHeader(parsing: bytes.extracting(start..<start + MessageHeader.size))
        } else {
            for offset in 0..<missing { pending[pendingCount + offset] = bytes[start + offset] }
            header = MessageHeader(parsing: pending.span)
            pendingCount = 0
        }
        guard Int(header.length) <= cap(of: header.kind) else {
            place = .stopped(header)
            return (.tooLong(header), missing)
        }
        place = .inPayload(remaining: Int(header.length))
        return (.header(header), missing)
    }

    private func cap(of kind: MessageKind) -> Int {
        switch direction {
        case .deviceToHost: MessageCaps.fromDevice
        case .hostToDevice: MessageCaps.hostToDevice(kind)
        }
    }

    /// Whether every message that began has ended, and no byte of a next one was seen: the only places where a message
    /// of one's own can be put into the stream.
    package var isBetweenMessages: Bool {
        if case .inHeader = place { pendingCount == 0 } else { false }
    }

    /// The bytes of a partial header that were consumed so far, at most 13: who holds a header back until it is whole
    /// finds here what was held.
    package var pendingHeaderBytes: [UInt8] {
        (0..<pendingCount).map { pending[$0] }
    }

    /// Bytes of the current message's payload that have not come yet; 0 outside of one.
    package var remainingPayload: Int {
        if case .inPayload(let remaining) = place { remaining } else { 0 }
    }
}
