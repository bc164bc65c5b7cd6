// SPDX-License-Identifier: Apache-2.0

internal import EventLoop
package import Sockets
internal import Synchronization
package import Wire

/// Tells whether a connection that came by the loopback is from a peer of the tailnet (03 §3.4): Tailscale in user-space
/// mode delivers them from 127.0.0.1.
///
/// The daemon's mode is read when such a connection arrives, and kept 10 s (09.34). Without a daemon, and with one that has
/// a link of its own, nothing else is asked and the answer comes at once.
package final class TailscaleWhois: Sendable {
    /// For the daemon to say who it is, no answer making it a peer; and as long before that to say which mode it is in.
    package static let whoisLimit = Duration.milliseconds(250)
    /// How long the mode is believed.
    static let modeKept = Duration.seconds(10)
    /// How long it is believed when the daemon did not say it.
    static let guessKept = Duration.seconds(1)
    /// Questions at once.
    static let workerLimit = 16
    /// Callers without an answer; one more is answered at once.
    static let callerLimit = 256

    private struct Caller {
        let source: SocketAddress
        let deadline: MonotonicTime
        let answer: @Sendable (Bool) -> Void
    }

    private struct State {
        var mode: (isUserspace: Bool, until: MonotonicTime)?
        var callers: [Caller] = []
        var workers = 0
        var isStopped = false
    }

    private let daemon: TailscaleDaemon
    private let limit: Duration
    private let hasLink: @Sendable () -> Bool
    private let clock: @Sendable () -> MonotonicTime
    private let state = Mutex(State())
    private let idle: WakeUp

    /// `hasLink` says whether the machine has a link of Tailscale's now: when the daemon does not say its mode, that tells
    /// it is no user-space one. Throws when descriptors have run out.
    package convenience init(hasLink: @escaping @Sendable () -> Bool) throws(SocketError) {
        try self.init(Places.system, hasLink: hasLink)
    }

    /// Elsewhere, by another clock for what is kept, and with more time for a test that is not about it.
    package init(
        _ places: Places, hasLink: @escaping @Sendable () -> Bool, limit: Duration = whoisLimit,
        clock: @escaping @Sendable () -> MonotonicTime = { monotonicNow() }
    ) throws(SocketError) {
        self.limit = limit
        daemon = TailscaleDaemon(sockets: places.tailscale)
        self.hasLink = hasLink
        self.clock = clock
        idle = try WakeUp()
    }

    deinit { stop() }

    /// Whether a connection from this loopback address is a peer's. Nil: `answer` is called once, from another thread,
    /// within 750 ms. Does not wait.
    package func isPeer(_ source: SocketAddress, _ answer: @escaping @Sendable (Bool) -> Void) -> Bool? {
        guard daemon.socket != nil else { return false }
        let now = clock()
        let deadline = monotonicNow() + limit + limit
        let (known, needsWorker): (Bool?, Bool) = state.withLock { state in
            if let mode = state.mode, now < mode.until, !mode.isUserspace { return (false, false) }
            // Whoever could not be asked about is not taken for the host itself.
            guard !state.isStopped, state.callers.count < Self.callerLimit else { return (true, false) }
            state.callers.append(Caller(source: source, deadline: deadline, answer: answer))
            guard state.workers < Self.workerLimit else { return (nil, false) }
            state.workers += 1
            return (nil, true)
        }
        if needsWorker { startWorker() }
        return known
    }

    /// The daemon is perhaps in another mode than it was: it is asked anew.
    package func forget() { state.withLock { $0.mode = nil } }

    /// Answers whoever still waits; nobody is called after this returns.
    package func stop() {
        state.withLock { $0.isStopped = true }
        while state.withLock({ $0.workers > 0 }) {
            _ = idle.wait(until: nil)
            idle.clear()
        }
    }

    private func startWorker() {
        do throws(SocketError) {
            _ = try runThread(name: "tailscale-whois") { [self] in work() }
        } catch {
            // Whoever waits cannot be asked about.
            while let caller = next() { caller.answer(true) }
        }
    }

    /// Serves callers until none is left.
    private func work() {
        while let caller = next() {
            let isPeer = judge(caller)
            caller.answer(isPeer)
        }
    }

    private func next() -> Caller? {
        let (caller, isLast) = state.withLock { state -> (Caller?, Bool) in
            if !state.callers.isEmpty { return (state.callers.removeFirst(), false) }
            state.workers -= 1
            return (nil, state.workers == 0)
        }
        if isLast { idle.signal() }
        return caller
    }

    private func judge(_ caller: Caller) -> Bool {
        let now = monotonicNow()
        guard now < caller.deadline, !state.withLock({ $0.isStopped }) else { return true }
        guard isUserspace(by: now + limit) else { return false }
        return daemon.whois(caller.source, until: monotonicNow() + limit) != .notPeer
    }

    private func isUserspace(by deadline: MonotonicTime) -> Bool {
        let now = clock()
        let known = state.withLock { state in
            state.mode.flatMap { now < $0.until ? $0.isUserspace : nil }
        }
        if let known { return known }
        let said = daemon.isUserspace(until: deadline)
        let isUserspace = said ?? !hasLink()
        // A daemon that hangs is asked less often than each of a crowd would.
        let kept = said == nil ? Self.guessKept : Self.modeKept
        state.withLock { $0.mode = (isUserspace, now + kept) }
        return isUserspace
    }
}
