internal import Core
internal import EventLoop
internal import Sockets
internal import Synchronization
internal import Wire

/// Calls the core's `tick` when its next deadline has come; a thread that sleeps until then.
final class Ticker: Sendable {
    private struct State {
        var due: MonotonicTime?
        var isStopped = false
    }

    private let state = Mutex(State())
    private let flag: WakeUp
    private let thread = Mutex<JoinHandle?>(nil)

    /// Throws when the system has no descriptor left.
    init() throws(SocketError) { flag = try WakeUp() }

    /// Begins; `core` gives the deadlines from here on. Throws when the system has no thread left.
    func start(_ core: SharedCore) throws(SocketError) {
        let handle = try runThread(name: "ticks") { [self] in run(core) }
        thread.withLock { $0 = handle }
    }

    /// A deadline became known; an earlier one that is already set stays. Any thread; only enqueues.
    func wake(at time: MonotonicTime) {
        let isEarlier = state.withLock { state in
            if let due = state.due, due <= time { return false }
            state.due = time
            return true
        }
        if isEarlier { flag.signal() }
    }

    /// No further tick.
    func stop() {
        state.withLock { $0.isStopped = true }
        flag.signal()
        thread.withLock { $0 }?.join()
    }

    private func run(_ core: SharedCore) {
        while true {
            let due = state.withLock { $0.due }
            if flag.wait(until: due) { flag.clear() }
            let isDue = state.withLock { state in
                guard let due = state.due, due <= monotonicNow() else { return false }
                state.due = nil
                return true
            }
            if state.withLock({ $0.isStopped }) { return }
            guard isDue else { continue }
            let next = core.enter { core, moment in
                core.tick(moment)
                return core.nextDeadline
            }
            if let next { wake(at: next) }
        }
    }
}
