// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Policy
internal import Synchronization

/// A commit on its way to the writer, and whom to tell.
struct CommitJob: Sendable {
    enum Work: Sendable {
        case commit(StoreCommit, requirePairing: RequirePairingText?)
        /// Changes nothing, but writes: finds out whether a store that failed can be written again.
        case probe
        /// The same, once there is room for a commit beside it.
        case probeWithRoom
        /// Another change of the store's own, in a transaction like any.
        case custom(@Sendable (Connection) throws(StoreError) -> Void)
    }

    var work: Work
    var completion: @Sendable (Result<Void, StoreError>) -> Void
}

/// The bounded way to the one writer: any thread adds, the writer's thread takes all there is and waits for more.
final class CommitQueue: Sendable {
    /// More commits than this wait only when the disk has stopped; the next is refused rather than kept.
    static let capacity = 4096

    private struct State {
        var jobs: [CommitJob] = []
        var isClosed = false
    }

    private let state = Mutex(State())
    private let wakeUp = Gate()

    /// Whether the job was taken; if not, its completion has not been called and never will be.
    func add(_ job: CommitJob) -> StoreError? {
        let (refusal, wasEmpty): (StoreError?, Bool) = state.withLock { state in
            if state.isClosed { return (StoreError(.closed, "the store is closed"), false) }
            if state.jobs.count >= Self.capacity {
                return (StoreError(.overloaded, "too many changes are waiting for the disk"), false)
            }
            state.jobs.append(job)
            return (nil, state.jobs.count == 1)
        }
        if wasEmpty { wakeUp.signal() }
        return refusal
    }

    /// Waits for jobs; an empty answer means closed, with nothing left to do. For the writer's thread alone.
    func takeAll() -> [CommitJob] {
        while true {
            let (jobs, isClosed) = state.withLock { state in
                let jobs = state.jobs
                state.jobs = []
                return (jobs, state.isClosed)
            }
            if !jobs.isEmpty || isClosed { return jobs }
            wakeUp.wait()
        }
    }

    /// Takes no more; what is queued is still done.
    func close() {
        state.withLock { $0.isClosed = true }
        wakeUp.signal()
    }
}

/// A POSIX semaphore (Glibc has a type of that name).
@safe final class Gate: @unchecked Sendable {
    // Proof: the pointer is set once, and POSIX lets any thread call sem_post and sem_wait on it.
    private let raw: UnsafeMutablePointer<sem_t>

    init() {
        unsafe raw = .allocate(capacity: 1)
        unsafe sem_init(raw, 0, 0)
    }

    deinit {
        unsafe sem_destroy(raw)
        unsafe raw.deallocate()
    }

    func signal() { _ = unsafe sem_post(raw) }

    /// May return early after a signal handler ran; callers look at their condition again.
    func wait() { _ = unsafe sem_wait(raw) }
}
