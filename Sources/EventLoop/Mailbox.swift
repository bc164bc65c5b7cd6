// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import Glibc
package import Sockets
internal import Synchronization

/// Jobs for one loop from any thread, run there in the order they were posted.
package final class Mailbox: Sendable {
    private struct State {
        var jobs: [@Sendable () -> Void] = []
        var isStopped = false
    }

    private let state = Mutex(State())
    private let wakeUp: WakeUp

    /// An empty mailbox. Throws when descriptors have run out.
    package init() throws(SocketError) { wakeUp = try WakeUp() }

    /// Runs `job` on the loop's thread, after those posted before it. Never waits. After the loop has ended jobs are
    /// kept and never run.
    package func post(_ job: @escaping @Sendable () -> Void) {
        let isFirst = state.withLock { state in
            state.jobs.append(job)
            return state.jobs.count == 1
        }
        // One wake-up is enough for all that come until the loop looks.
        if isFirst { wakeUp.signal() }
    }

    /// Ends the loop after the jobs posted so far.
    package func stop() {
        state.withLock { $0.isStopped = true }
        wakeUp.signal()
    }

    var descriptor: Int32 { wakeUp.descriptor }

    var isStopped: Bool { state.withLock { $0.isStopped } }

    /// Runs what is there now; what a job posts runs in the next round, so that no job can starve the sockets.
    func drain() {
        wakeUp.clear()
        let jobs = state.withLock { state in
            let jobs = state.jobs
            state.jobs = []
            return jobs
        }
        for job in jobs { job() }
    }
}
