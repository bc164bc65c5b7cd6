// SPDX-License-Identifier: Apache-2.0

/// The 14 bytes before every payload (file 01 §1).
package struct MessageHeader: Equatable, Sendable {
    /// Bytes of a header.
    package static let size = 14

    /// What the message is; any number is accepted.
    package var kind: MessageKind
    /// The sender's wall clock in seconds since 1970. Never validated: NaN and nonsense are accepted.
    package var timestamp: Double
    /// Whether the payload is a video keyframe; false for every other kind.
    package var isKeyframe: Bool
    /// Bytes of payload as announced, to be held against a cap before anything is read.
    package var length: UInt32

    /// The header of a message.
    package init(kind: MessageKind, timestamp: Double, isKeyframe: Bool = false, length: UInt32) {
        self.kind = kind
        self.timestamp = timestamp
        self.isKeyframe = isKeyframe
        self.length = length
    }

    /// Reads the first ``size`` bytes of `bytes`, which has to hold as many: the caller has counted them. Every content
    /// is a header.
    package init(parsing bytes: Span<UInt8>) {
        var stamp: UInt64 = 0
        for index in 1...8 { stamp = stamp << 8 | UInt64(bytes[index]) }
        var length: UInt32 = 0
        for index in 10...13 { length = length << 8 | UInt32(bytes[index]) }
        self.init(
            kind: MessageKind(rawValue: bytes[0]), timestamp: Double(bitPattern: stamp),
            isKeyframe: bytes[9] == 1,
            length: length)
    }

    /// The 14 bytes.
    package func encode() -> [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(Self.size)
        append(to: &out)
        return out
    }

    /// Adds the 14 bytes to a buffer.
    package func append(to out: inout [UInt8]) {
        out.append(kind.rawValue)
        for shift in stride(from: UInt64(56), through: 0, by: -8) {
            out.append(UInt8(truncatingIfNeeded: timestamp.bitPattern >> shift))
        }
        out.append(isKeyframe ? 1 : 0)
        for shift in stride(from: UInt32(24), through: 0, by: -8) {
            out.append(UInt8(truncatingIfNeeded: length >> shift))
        }
    }
}

/// A header and its payload, ready to send. The payload is one this side made, far below 4 GiB.
package func encodeMessage(kind: MessageKind, timestamp: Double, payload: [UInt8]) -> [UInt8] {
    let header = MessageHeader(kind: kind, timestamp: timestamp, length: UInt32(clamping: payload.count))
    var out: [UInt8] = []
    out.reserveCapacity(MessageHeader.size + payload.count)
    header.append(to: &out)
    out.append(contentsOf: payload)
    return out
}
