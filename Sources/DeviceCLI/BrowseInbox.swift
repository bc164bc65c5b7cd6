// SPDX-License-Identifier: Apache-2.0

internal import LatchkeyDevice
internal import Synchronization

/// What the search has told and nobody has said yet, bounded: a network may change what it lists without end while the
/// terminal, or whoever reads, takes nothing.
final class BrowseInbox: Sendable {
    private struct State {
        var rows: [BrowsedRow]?
        var statuses: [HostBrowser.Status] = []

        var isEmpty: Bool { rows == nil && statuses.isEmpty }
    }

    /// Statuses that wait at most; the oldest go.
    static let mostStatuses = 16

    private let state = Mutex(State())

    /// Another listing: one that still waits is of no use any more. Whether nothing waited, so that somebody is to be told.
    func put(_ rows: [BrowsedRow]) -> Bool {
        put { $0.rows = rows }
    }

    /// Another status. Whether nothing waited.
    func put(_ status: HostBrowser.Status) -> Bool {
        put { state in
            if state.statuses.count == Self.mostStatuses { state.statuses.removeFirst() }
            state.statuses.append(status)
        }
    }

    /// All that waits: a status comes after the rows that belong to it.
    func take() -> [BrowseNews] {
        state.withLock { state in
            defer { state = State() }
            return (state.rows.map { [.rows($0)] } ?? []) + state.statuses.map { .status($0) }
        }
    }

    private func put(_ change: (inout State) -> Void) -> Bool {
        state.withLock { state in
            defer { change(&state) }
            return state.isEmpty
        }
    }
}
