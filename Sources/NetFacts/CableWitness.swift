// SPDX-License-Identifier: Apache-2.0

internal import EventLoop
package import Policy
package import Sockets
internal import Synchronization
package import Wire

/// Says in time whether a source is the cable, afresh at each call (04 §3.5). A file of sysfs can hold its reader in the
/// kernel for as long as a driver likes, so each look has a thread of its own, and one that takes too long is not waited
/// for: its source is not the cable.
package final class CableWitness: Sendable {
    /// For the whole rule, from the call to the answer.
    package static let budget: Duration = .milliseconds(250)
    /// Looks that go on at once, those that hang included; the others wait.
    static let lookLimit = 4
    /// Callers without an answer; one more is answered at once.
    static let callerLimit = 64

    private let desk: CableDesk
    private let thread = Mutex<JoinHandle?>(nil)

    /// Starts the thread "cable". Throws when the system has no thread or descriptor left.
    package convenience init(_ reader: CableReader) throws(SocketError) {
        try self.init(judge: { reader.judge($0) })
    }

    /// With another judge, or more or less time; for what no reader of a test's tree can do.
    init(
        budget: Duration = budget, judge: @escaping @Sendable (IPAddress) -> CableVerdict
    ) throws(SocketError) {
        let desk = try CableDesk(budget: budget, judge: judge)
        self.desk = desk
        let started = try runThread(name: "cable") { desk.run() }
        thread.withLock { $0 = started }
    }

    deinit { stop() }

    /// Calls `answer` exactly once, from any thread, at most 250 ms later if the machine has a processor free. A source
    /// that no interface could make the cable is answered at once, with nothing read.
    package func judge(_ source: IPAddress, _ answer: @escaping @Sendable (CableVerdict) -> Void) {
        if let reason = CableRule.source(source) { return answer(.not(reason)) }
        if !desk.take(source, answer) { answer(.not(.unreadable)) }
    }

    /// Answers whoever still waits, and ends the thread. A look that hangs is left to the kernel.
    package func stop() {
        desk.stop()
        thread.withLock { $0 }?.join()
    }
}

/// The callers that wait, and the looks made for them.
private final class CableDesk: Sendable {
    private struct Caller {
        let number: UInt64
        let source: IPAddress
        let deadline: MonotonicTime
        let answer: @Sendable (CableVerdict) -> Void
    }

    private struct State {
        /// In the order they came, which is that of their deadlines.
        var callers: [Caller] = []
        /// Those among them whose look has begun.
        var begun: Set<UInt64> = []
        var looks = 0
        /// Looks that have ended, for the thread to be joined.
        var ended: [UInt64] = []
        var last: UInt64 = 0
        var isStopped = false
    }

    private let state = Mutex(State())
    private let wakeUp: WakeUp
    private let budget: Duration
    private let judge: @Sendable (IPAddress) -> CableVerdict

    init(
        budget: Duration, judge: @escaping @Sendable (IPAddress) -> CableVerdict
    ) throws(SocketError) {
        self.budget = budget
        self.judge = judge
        wakeUp = try WakeUp()
    }

    /// false when there is no room, or no more service.
    func take(_ source: IPAddress, _ answer: @escaping @Sendable (CableVerdict) -> Void) -> Bool {
        let deadline = monotonicNow() + budget
        let isTaken = state.withLock { state in
            guard !state.isStopped, state.callers.count < CableWitness.callerLimit else { return false }
            state.last += 1
            state.callers.append(
                Caller(number: state.last, source: source, deadline: deadline, answer: answer))
            return true
        }
        if isTaken { wakeUp.signal() }
        return isTaken
    }

    func stop() {
        state.withLock { $0.isStopped = true }
        wakeUp.signal()
    }

    /// The thread: begins looks, and answers those whose time is up.
    func run() {
        var threads: [UInt64: JoinHandle] = [:]
        while true {
            wakeUp.clear()
            for caller in overdue() { caller.answer(.not(.unreadable)) }
            while let caller = next() {
                do throws(SocketError) {
                    threads[caller.number] = try runThread(name: "cable-look") { self.look(for: caller) }
                } catch {
                    finish(caller, .not(.unreadable))
                }
            }
            let (ended, deadline, isStopped) = state.withLock { state in
                let ended = state.ended
                state.ended = []
                return (ended, state.callers.first?.deadline, state.isStopped)
            }
            for number in ended { threads.removeValue(forKey: number)?.join() }
            if isStopped { break }
            _ = wakeUp.wait(until: deadline)
        }
        for caller in everybody() { caller.answer(.not(.unreadable)) }
    }

    private func look(for caller: Caller) { finish(caller, judge(caller.source)) }

    /// A look has ended; what it found counts while the caller still waits.
    private func finish(_ caller: Caller, _ verdict: CableVerdict) {
        let isInTime = monotonicNow() <= caller.deadline
        let isWaiting = state.withLock { state in
            guard let index = state.callers.firstIndex(where: { $0.number == caller.number }) else {
                return false
            }
            state.callers.remove(at: index)
            return true
        }
        if isWaiting { caller.answer(isInTime ? verdict : .not(.unreadable)) }
        // Last of all: who joins this thread waits for nothing.
        state.withLock { state in
            state.looks -= 1
            state.begun.remove(caller.number)
            state.ended.append(caller.number)
        }
        wakeUp.signal()
    }

    /// The next caller to look for, if another look may begin.
    private func next() -> Caller? {
        state.withLock { state in
            guard state.looks < CableWitness.lookLimit, !state.isStopped,
                let caller = state.callers.first(where: { !state.begun.contains($0.number) })
            else { return nil }
            state.begun.insert(caller.number)
            state.looks += 1
            return caller
        }
    }

    private func overdue() -> [Caller] {
        let now = monotonicNow()
        return state.withLock { state in
            let late = state.callers.prefix { $0.deadline <= now }
            state.callers.removeFirst(late.count)
            return Array(late)
        }
    }

    private func everybody() -> [Caller] {
        state.withLock { state in
            let all = state.callers
            state.callers = []
            return all
        }
    }
}

/// What `body` gives, nil when it takes longer than `limit`; then its thread is left to end by itself.
func within<R: Sendable>(_ limit: Duration, _ body: @escaping @Sendable () -> R) -> R? {
    let result = LateResult<R>()
    do throws(SocketError) {
        let done = try WakeUp()
        let thread = try runThread(name: "cable-look") {
            let value = body()
            result.value.withLock { $0 = value }
            done.signal()
        }
        guard done.wait(until: monotonicNow() + limit) else { return nil }
        thread.join()
    } catch {
        return nil
    }
    return result.value.withLock { $0 }
}

/// Where a thread leaves what it found.
private final class LateResult<R: Sendable>: Sendable {
    let value = Mutex<R?>(nil)
}
