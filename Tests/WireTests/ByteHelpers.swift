// SPDX-License-Identifier: Apache-2.0

import Wire

// Spans cannot pass through the testing macros' closures; these take arrays.

/// The header that these bytes begin with.
func header(of bytes: [UInt8], at start: Int = 0) -> MessageHeader {
    MessageHeader(parsing: bytes.span.extracting(start..<start + MessageHeader.size))
}

extension MessageFollower {
    /// The next event and the bytes it takes.
    mutating func step(_ bytes: [UInt8], from start: Int = 0) -> Step {
        let (event, consumed) = next(bytes.span, from: start)
        return Step(event: event, consumed: consumed)
    }

    struct Step: Equatable {
        var event: Event
        var consumed: Int
    }
}

extension MessageReader {
    /// Takes bytes through the other of the two ways in.
    mutating func appendAsSpan(_ bytes: [UInt8]) {
        append(bytes.span)
    }
}
