// SPDX-License-Identifier: Apache-2.0

internal import Policy
internal import Wire

/// The first message of a session while a device floor is set (spec 01 section 8.3): one hello, or nothing.
///
/// Looks at bytes that wait in a buffer and leaves them there: an admitted hello goes on to the backend.
struct GateReader: Sendable {
    enum Verdict: Equatable, Sendable {
        /// Not whole yet.
        case wait
        /// A hello at or above the floor.
        case admit(Hello)
        /// Anything else; `hello` when one could be read.
        case refuse(hello: Hello?)
    }

    /// The oldest version served.
    let floor: Version

    /// Judges what has arrived since the handshake.
    func judge(_ arrived: Span<UInt8>) -> Verdict {
        guard let first = arrived.isEmpty ? nil : arrived[0] else { return .wait }
        // Another kind is refused at once, its payload unread.
        guard MessageKind(rawValue: first) == .hello else { return .refuse(hello: nil) }
        guard arrived.count >= MessageHeader.size else { return .wait }
        let header = MessageHeader(parsing: arrived.extracting(0..<MessageHeader.size))
        guard header.length <= UInt32(MessageCaps.fromDevice) else { return .refuse(hello: nil) }
        let end = MessageHeader.size + Int(header.length)
        guard arrived.count >= end else { return .wait }
        var payload: [UInt8] = []
        payload.reserveCapacity(Int(header.length))
        for index in MessageHeader.size..<end { payload.append(arrived[index]) }
        let hello = try? Hello(payload: payload)
        guard let hello, Policy.DeviceGate.admits(floor: floor, kind: header.kind, hello: hello) else {
            return .refuse(hello: hello)
        }
        return .admit(hello)
    }
}
