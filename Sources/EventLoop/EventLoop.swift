// SPDX-License-Identifier: Apache-2.0

internal import CEvent
package import Sockets

/// The event loop of one thread: descriptors, timers, and jobs from other threads.
///
/// Made, used and ended on the thread that calls ``run()``; only its ``mailbox`` may be used elsewhere. Level-triggered:
/// a watch that is not drained is called again.
@safe package final class EventLoop {
    /// The way in for other threads.
    package let mailbox: Mailbox

    let base: OpaquePointer  // struct event_base *, ours
    private var wakeUps: Watch?

    /// A loop with a mailbox of its own. Throws when descriptors or memory have run out.
    package convenience init() throws(SocketError) {
        unsafe self.init(base: try Self.makeBase(), mailbox: try Mailbox())
    }

    /// A loop that takes over `mailbox`, made earlier by another thread; what was posted meanwhile runs first.
    package convenience init(mailbox: Mailbox) throws(SocketError) {
        unsafe self.init(base: try Self.makeBase(), mailbox: mailbox)
    }

    private init(base: OpaquePointer, mailbox: Mailbox) {
        unsafe self.base = base
        self.mailbox = mailbox
        wakeUps = watch(mailbox.descriptor, readable: true, writable: false) { [unowned self] _ in runJobs() }
    }

    deinit {
        wakeUps = nil
        unsafe event_base_free(base)
    }

    /// Serves until ``Mailbox/stop()``; then returns after the round in progress.
    package func run() {
        runJobs()
        while !mailbox.isStopped {
            // Comes back only after a stop, or when epoll itself fails; then there is nothing left to serve with.
            if unsafe event_base_loop(base, EVLOOP_NO_EXIT_ON_EMPTY) < 0 { return }
        }
    }

    /// Serves what is ready now, without waiting, and returns: for a thread that does other things in between.
    package func serveReady() {
        _ = unsafe event_base_loop(base, EVLOOP_ONCE | EVLOOP_NONBLOCK)
    }

    /// Calls `handler` whenever the descriptor is ready for what the watch asks; until the watch ends.
    ///
    /// The descriptor stays the caller's and must outlive the watch.
    package func watch(
        _ fd: Int32, readable: Bool, writable: Bool, _ handler: @escaping (IOEvents) -> Void
    ) -> Watch {
        let made = unsafe Watch(base: base, descriptor: fd, handler: handler)
        made.set(readable: readable, writable: writable)
        return made
    }

    /// Calls `handler` once, after at least `delay`; never when the timer ended or was cancelled before.
    package func timer(after delay: Duration, _ handler: @escaping () -> Void) -> Timer {
        let made = unsafe Timer(base: base, handler: handler)
        made.start(after: delay)
        return made
    }

    private func runJobs() {
        mailbox.drain()
        if mailbox.isStopped { unsafe event_base_loopbreak(base) }
    }

    private static func makeBase() throws(SocketError) -> OpaquePointer {
        guard let base = unsafe shim_new_base() else {
            // EMFILE, most likely; libevent does not say.
            throw SocketError(errno: 24, call: "event_base_new")
        }
        return unsafe base
    }
}

/// What a descriptor is ready for.
package struct IOEvents: OptionSet, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Bytes, the end of the stream or an error can be read; a listener has a connection.
    package static let readable = IOEvents(rawValue: 1)
    /// Bytes can be written, or a connect has ended.
    package static let writable = IOEvents(rawValue: 2)
}
