// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Synchronization

/// Runs something that blocks or computes for long (a name look-up, PBKDF2) away from the tasks that serve connections.
///
/// Returns nil when it took longer than `limit`, or when the task is cancelled; the work itself cannot be stopped and ends unheard.
func blocking<R: Sendable>(within limit: Duration? = nil, _ work: @escaping @Sendable () -> R) async -> R? {
    let pending = FirstAnswer<R>()
    return await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
            pending.set(continuation)
            DispatchQueue.global().async { pending.answer(work()) }
            if let limit {
                DispatchQueue.global().asyncAfter(deadline: .now() + limit.dispatchInterval) {
                    pending.answer(nil)
                }
            }
        }
    } onCancel: {
        pending.answer(nil)
    }
}

/// A continuation that only the first answer resumes.
private final class FirstAnswer<R: Sendable>: Sendable {
    private struct State {
        var waiting: CheckedContinuation<R?, Never>?
        /// The answer that came before anybody waited.
        var early: R??
    }

    private let state = Mutex(State())

    func set(_ continuation: CheckedContinuation<R?, Never>) {
        let early = state.withLock { state in
            if state.early == nil { state.waiting = continuation }
            return state.early
        }
        if let early { continuation.resume(returning: early) }
    }

    func answer(_ value: R?) {
        let continuation = state.withLock { state in
            if state.waiting == nil, state.early == nil { state.early = .some(value) }
            defer { state.waiting = nil }
            return state.waiting
        }
        continuation?.resume(returning: value)
    }
}

extension Duration {
    /// The same span as Dispatch counts it, to the microsecond.
    var dispatchInterval: DispatchTimeInterval {
        let (seconds, attoseconds) = components
        let microseconds = seconds.multipliedReportingOverflow(by: 1_000_000)
        guard !microseconds.overflow else { return .never }
        return .microseconds(Int(clamping: microseconds.partialValue + attoseconds / 1_000_000_000_000))
    }
}

/// Holds this thread up; only for the few milliseconds in which another process holds a lock.
func pause(_ duration: Duration) {
    _ = DispatchSemaphore(value: 0).wait(timeout: .now() + duration.dispatchInterval)
}
