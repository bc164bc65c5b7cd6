// What other threads have for the server's thread. SPDX-License-Identifier: Apache-2.0

internal import Sockets
internal import Synchronization

/// A queue of notes for the server's thread, and the descriptor that wakes it. It holds at most one note per waiting
/// request, so it is as bounded as the connections are.
final class Mailbox: Sendable {
    /// What came since the last look.
    struct Notes {
        /// Requests that have their answer now.
        var answered: [UInt64] = []
        /// Whether there are new events.
        var published = false
        /// Whether the server is to end.
        var stop = false

        fileprivate var isEmpty: Bool { answered.isEmpty && !published && !stop }
    }

    private let notes = Mutex(Notes())
    private let wakeUp: WakeUp

    init() throws(SocketError) { wakeUp = try WakeUp() }

    /// For the server's thread to wait on.
    var descriptor: Int32 { wakeUp.descriptor }

    func answered(_ number: UInt64) { leave { $0.answered.append(number) } }
    func published() { leave { $0.published = true } }
    func stop() { leave { $0.stop = true } }

    /// Takes all notes.
    func take() -> Notes {
        wakeUp.clear()
        return notes.withLock { notes in
            defer { notes = Notes() }
            return notes
        }
    }

    private func leave(_ note: (inout Notes) -> Void) {
        let first = notes.withLock { notes in
            let wasEmpty = notes.isEmpty
            note(&notes)
            return wasEmpty
        }
        if first { wakeUp.signal() }
    }
}
