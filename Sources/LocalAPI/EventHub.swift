// Events from any thread to every stream. SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Takes events from any thread and keeps the last 1,000; never blocks longer than a copy takes.
package final class EventHub: Sendable {
    private struct State {
        var ring: EventRing
        var mailbox: Mailbox?
    }

    private let state: Mutex<State>

    /// A hub whose first event has ID `firstID`: the start time in milliseconds since 1970.
    package init(firstID: Int64) { state = Mutex(State(ring: EventRing(firstID: firstID))) }

    /// The ID of the newest event.
    package var lastID: Int64 { state.withLock { $0.ring.lastID } }

    /// Adds an event. `data` is one JSON object without line breaks.
    package func publish(type: String, data: [UInt8]) {
        let mailbox = state.withLock { state in
            state.ring.append(type: type, data: data)
            return state.mailbox
        }
        mailbox?.published()
    }

    /// A stream for a client that last saw `lastSeen` (nil: new events only). `resetData` is what a reset says.
    package func subscribe(lastSeen: String?, resetData: [UInt8]) -> EventSubscription {
        switch state.withLock({ $0.ring.start(lastSeen: lastSeen) }) {
        case .after(let cursor):
            return EventSubscription(hub: self, cursor: cursor, preamble: EventFrame.comment)
        case .resetThenAfter(let cursor):
            let reset = EventFrame.encode(id: nil, type: "reset", data: resetData)
            return EventSubscription(hub: self, cursor: cursor, preamble: reset)
        }
    }

    /// Whom to wake on every event.
    func attach(_ mailbox: Mailbox?) { state.withLock { $0.mailbox = mailbox } }

    /// See `EventRing.read`.
    func read(after cursor: inout Int64, into out: inout [UInt8], limit: Int) -> Bool {
        // Copied out and in: an inout parameter may not be captured by the lock's closure.
        var position = cursor
        var bytes: [UInt8] = []
        let kept = state.withLock { $0.ring.read(after: &position, into: &bytes, limit: limit) }
        cursor = position
        out += bytes
        return kept
    }
}

/// Where one client's stream begins.
package struct EventSubscription: Sendable {
    let hub: EventHub
    /// The ID of the last event it has.
    let cursor: Int64
    /// What it gets first.
    let preamble: [UInt8]
}
