// SPDX-License-Identifier: Apache-2.0

internal import Wire

/// The one message a device sends on a pairing connection (spec 03 section 5.6): kind 19, 1 to 4096 bytes, JSON.
struct PairingExchange: Sendable {
    enum Verdict: Equatable, Sendable {
        /// Not whole yet.
        case wait
        /// The request; nothing after it is read.
        case request(PairRequest)
        /// Not one: closed without an answer, one failure.
        case bad
    }

    /// What one message can take; more is never read.
    static let limit = MessageHeader.size + MessageCaps.pairing

    /// Judges what has arrived since the handshake.
    static func judge(_ arrived: Span<UInt8>) -> Verdict {
        guard !arrived.isEmpty else { return .wait }
        guard MessageKind(rawValue: arrived[0]) == .pairRequest else { return .bad }
        guard arrived.count >= MessageHeader.size else { return .wait }
        let header = MessageHeader(parsing: arrived.extracting(0..<MessageHeader.size))
        guard (1...UInt32(MessageCaps.pairing)).contains(header.length) else { return .bad }
        let end = MessageHeader.size + Int(header.length)
        guard arrived.count >= end else { return .wait }
        var payload: [UInt8] = []
        payload.reserveCapacity(Int(header.length))
        for index in MessageHeader.size..<end { payload.append(arrived[index]) }
        guard let request = try? PairRequest(payload: payload) else { return .bad }
        return .request(request)
    }
}
