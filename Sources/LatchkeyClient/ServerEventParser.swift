// SPDX-License-Identifier: Apache-2.0

internal import APITypes
internal import Wire

/// Reads the text/event-stream format (WHATWG HTML, section 9.2.6) over any split of its bytes. Pure.
struct ServerEventParser {
    /// One event's lines together; the service's own are far below.
    static let eventLimit = 1 << 20

    /// An event that is larger than any the service sends.
    struct TooLong: Error, Equatable {}

    private var line: [UInt8] = []
    private var sawCarriageReturn = false
    private var type = ""
    private var data: [String] = []
    private var id: Int64?
    private var held = 0

    /// The events that `bytes` complete.
    mutating func feed(_ bytes: [UInt8]) throws(TooLong) -> [EventEnvelope] {
        var events: [EventEnvelope] = []
        for byte in bytes {
            // A line ends with CR, LF or both.
            if byte == 0x0A, sawCarriageReturn {
                sawCarriageReturn = false
                continue
            }
            sawCarriageReturn = byte == 0x0D
            if byte == 0x0A || byte == 0x0D {
                take(String(decoding: line, as: UTF8.self), &events)
                line.removeAll(keepingCapacity: true)
                continue
            }
            held += 1
            guard held <= Self.eventLimit else { throw TooLong() }
            line.append(byte)
        }
        return events
    }

    private mutating func take(_ text: String, _ events: inout [EventEnvelope]) {
        if text.isEmpty { return finishEvent(&events) }
        // A comment keeps the connection alive and says nothing.
        if text.hasPrefix(":") {
            held = data.reduce(0) { $0 + $1.utf8.count }
            return
        }
        let colon = text.firstIndex(of: ":") ?? text.endIndex
        var value = colon == text.endIndex ? "" : text[text.index(after: colon)...]
        if value.first == " " { value.removeFirst() }
        switch text[..<colon] {
        case "event": type = String(value)
        case "data": data.append(String(value))
        case "id": id = Int64(value) ?? id
        default: break
        }
    }

    private mutating func finishEvent(_ events: inout [EventEnvelope]) {
        defer {
            type = ""
            data = []
            id = nil
            held = 0
        }
        guard !data.isEmpty || !type.isEmpty else { return }
        let body = (try? JSON.parse(data.joined(separator: "\n"))) ?? .object([])
        events.append(EventEnvelope(id: id, type: type.isEmpty ? "message" : type, data: body))
    }
}
