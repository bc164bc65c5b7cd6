// SPDX-License-Identifier: Apache-2.0

internal import EventLoop
internal import Sockets
internal import Synchronization
internal import Wire

/// Asks several things at once, each on a thread of its own. What takes too long is not waited for: its thread ends by
/// itself, and what it brings is dropped.
final class SideBySide: Sendable {
    /// Where one of them leaves its answer.
    final class Slot<Answer: Sendable>: Sendable {
        private let value = Mutex<Answer?>(nil)

        /// The answer; nil while there is none.
        var answer: Answer? { value.withLock { $0 } }

        fileprivate func put(_ answer: Answer) { value.withLock { $0 = answer } }
    }

    private let open = Mutex(0)
    /// Nil when the system has no descriptor left; then everything is asked in turn.
    private let allDone = try? WakeUp()

    /// Begins to ask.
    func begin<Answer: Sendable>(
        _ name: String, _ ask: @escaping @Sendable () -> Answer
    ) -> Slot<Answer> {
        let slot = Slot<Answer>()
        guard let allDone else {
            slot.put(ask())
            return slot
        }
        open.withLock { $0 += 1 }
        let body = { @Sendable [self] in
            slot.put(ask())
            let isLast = open.withLock { open in
                open -= 1
                return open == 0
            }
            if isLast { allDone.signal() }
        }
        do throws(SocketError) {
            // Left to its own end, and not joined.
            _ = try runThread(name: name, body)
        } catch {
            body()
        }
        return slot
    }

    /// Waits until all have answered, or `deadline`. After the last ``begin(_:_:)``.
    func wait(until deadline: MonotonicTime) {
        guard let allDone else { return }
        while open.withLock({ $0 > 0 }) {
            guard allDone.wait(until: deadline) else { return }
            // An earlier moment without anything open may have raised it.
            allDone.clear()
        }
    }
}
