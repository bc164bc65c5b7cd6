// SPDX-License-Identifier: Apache-2.0

internal import EventLoop
internal import Sockets
internal import Synchronization
internal import Wire

/// Runs work on threads of its own that are left to end by themselves when they take too long; `limit` at a time, those
/// that hang included.
final class Errand<Answer: Sendable>: Sendable {
    private let name: String
    private let limit: Int
    private let running = Mutex(0)

    init(_ name: String, limit: Int = 2) {
        self.name = name
        self.limit = limit
    }

    /// Begins; nil when as many as may be have not come back yet, or the system has no thread left.
    func start(_ work: @escaping @Sendable () -> Answer) -> Late<Answer>? {
        let hasRoom = running.withLock { running in
            if running >= limit { return false }
            running += 1
            return true
        }
        guard hasRoom else { return nil }
        do throws(SocketError) {
            let late = try Late<Answer>()
            // Not joined: nobody waits for a thread that hangs.
            _ = try runThread(name: name) { [self] in
                late.set(work())
                running.withLock { $0 -= 1 }
            }
            return late
        } catch {
            running.withLock { $0 -= 1 }
            return nil
        }
    }
}

/// Where a thread leaves what it found.
final class Late<Answer: Sendable>: Sendable {
    private let found = Mutex<Answer?>(nil)
    private let flag: WakeUp

    init() throws(SocketError) { flag = try WakeUp() }

    func set(_ answer: Answer) {
        found.withLock { $0 = answer }
        flag.signal()
    }

    /// What was found by then.
    func answer(by deadline: MonotonicTime) -> Answer? {
        _ = flag.wait(until: deadline)
        return found.withLock { $0 }
    }
}
