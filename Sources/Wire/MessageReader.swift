// SPDX-License-Identifier: Apache-2.0

/// One whole message.
package struct Message: Equatable, Sendable {
    /// What it is.
    package var header: MessageHeader
    /// What it says.
    package var payload: [UInt8]

    /// A message.
    package init(header: MessageHeader, payload: [UInt8]) {
        self.header = header
        self.payload = payload
    }
}

/// A header announced more than its cap; the connection is over (file 01 §1, rule 2).
package struct MessageTooLong: Error, Equatable {
    /// The header at fault.
    package var header: MessageHeader

    /// The problem of this header.
    package init(header: MessageHeader) {
        self.header = header
    }
}

/// Puts a stream together into whole messages, for those who look inside: pairing, the gate, the device side.
///
/// Memory grows with bytes that arrived, never with a length that was announced; callers take the messages out before
/// they append more.
package struct MessageReader: Sendable {
    private let cap: @Sendable (MessageHeader) -> Int
    private var buffer: [UInt8] = []
    // Where the first byte that is not yet part of a returned message stands in `buffer`.
    private var start = 0
    private var stopped: MessageTooLong?

    /// At the beginning of a stream; `cap` gives the largest payload, in bytes, that a header may announce.
    package init(cap: @escaping @Sendable (MessageHeader) -> Int) {
        self.cap = cap
    }

    /// Takes bytes of the stream.
    package mutating func append(_ bytes: Span<UInt8>) {
        guard stopped == nil else { return }
        compact()
        let needed = buffer.count + bytes.count
        if needed > buffer.capacity { buffer.reserveCapacity(max(needed, buffer.capacity * 2)) }
        for index in bytes.indices { buffer.append(bytes[index]) }
    }

    /// Takes bytes of the stream.
    package mutating func append(_ bytes: [UInt8]) {
        guard stopped == nil else { return }
        compact()
        buffer.append(contentsOf: bytes)
    }

    /// The next whole message, or nil when more bytes are needed. After a throw every later call throws the same.
    package mutating func next() throws(MessageTooLong) -> Message? {
        if let stopped { throw stopped }
        guard buffer.count - start >= MessageHeader.size else { return nil }
        let header = MessageHeader(parsing: buffer.span.extracting(start..<start + MessageHeader.size))
        guard Int(header.length) <= cap(header) else {
            let problem = MessageTooLong(header: header)
            stopped = problem
            buffer = []
            start = 0
            throw problem
        }
        let payloadStart = start + MessageHeader.size
        let end = payloadStart + Int(header.length)
        guard buffer.count >= end else { return nil }
        start = end
        return Message(header: header, payload: Array(buffer[payloadStart..<end]))
    }

    /// Whether everything that arrived was returned: an end of the stream here loses nothing.
    package var isBetweenMessages: Bool {
        stopped == nil && start == buffer.count
    }

    /// Moves what is left to the front once it is the smaller part, so that each byte moves a constant number of times.
    private mutating func compact() {
        guard start > 0, start >= buffer.count - start else { return }
        buffer.removeFirst(start)
        start = 0
    }
}
