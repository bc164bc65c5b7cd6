// The last events, and who has read how far. SPDX-License-Identifier: Apache-2.0

/// A bounded ring of encoded events with consecutive IDs (spec 09.24). Pure.
struct EventRing {
    /// Where a reader goes on.
    enum Start: Equatable {
        /// Everything after this ID; nothing was missed.
        case after(Int64)
        /// Events are missing before those after this ID.
        case resetThenAfter(Int64)
    }

    private var frames: [[UInt8]] = []
    /// The index in `frames` of the oldest event, once the ring is full.
    private var oldest = 0
    private let capacity: Int
    /// The ID of the newest event; one less than the first ID while there is none.
    private(set) var lastID: Int64

    /// An empty ring whose first event gets ID `firstID`: the start time in milliseconds, so that IDs grow across
    /// restarts.
    init(firstID: Int64, capacity: Int = ServerLimits.keptEvents) {
        lastID = firstID - 1
        self.capacity = max(1, capacity)
    }

    /// The ID of the oldest event that is kept; `lastID + 1` while there is none.
    var firstKeptID: Int64 { lastID - Int64(frames.count) + 1 }

    /// Adds an event; the oldest makes room.
    mutating func append(type: String, data: [UInt8]) {
        lastID += 1
        let frame = EventFrame.encode(id: lastID, type: type, data: data)
        if frames.count < capacity {
            frames.append(frame)
        } else {
            frames[oldest] = frame
            oldest = (oldest + 1) % capacity
        }
    }

    /// Where a client that last saw `lastSeen` goes on: nil: new events only; an ID the ring does not have (not a
    /// number included): a reset, then all it has after it, which is nothing for an ID from the future.
    func start(lastSeen: String?) -> Start {
        guard let lastSeen else { return .after(lastID) }
        guard let id = Int64(lastSeen) else { return .resetThenAfter(firstKeptID - 1) }
        if id > lastID { return .resetThenAfter(lastID) }
        if id < firstKeptID { return .resetThenAfter(firstKeptID - 1) }
        return .after(id)
    }

    /// Adds the events after `cursor` to `out`, up to about `limit` bytes, and moves the cursor. False when events
    /// after the cursor are gone already: such a reader is too slow.
    func read(after cursor: inout Int64, into out: inout [UInt8], limit: Int) -> Bool {
        guard cursor >= firstKeptID - 1 else { return false }
        while cursor < lastID, out.count < limit {
            let offset = Int(cursor + 1 - firstKeptID)
            out += frames[(oldest + offset) % frames.count]
            cursor += 1
        }
        return true
    }
}

/// The text of one server-sent event (HTML standard, section 9.2).
enum EventFrame {
    /// An event; the type and the data hold no line break (JSON text never does).
    static func encode(id: Int64?, type: String, data: [UInt8]) -> [UInt8] {
        var frame: [UInt8] = []
        frame.reserveCapacity(data.count + 64)
        if let id { frame += "id: \(id)\n".utf8 }
        frame += "event: \(type)\ndata: ".utf8
        frame += data
        frame += "\n\n".utf8
        return frame
    }

    /// A comment: keeps the connection alive, and clients ignore it.
    static let comment = Array(":\n\n".utf8)
}
