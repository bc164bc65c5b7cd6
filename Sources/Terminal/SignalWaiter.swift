// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Turns the signals that ask a command to stop into values, so that it can tidy up before it ends.
///
/// They are blocked while this lives and looked for between waits, without a handler: nothing of ours ever
/// runs in signal context. A waiting command looks every ``slice`` milliseconds.
package struct SignalWaiter: ~Copyable {
    /// What was asked for.
    package enum Stop: Sendable, Equatable {
        /// Ctrl-C.
        case interrupt
        /// `kill`, or the terminal went away; the process's exit code is 128 plus this.
        case terminate(signal: Int32)

        /// The exit code shells expect of a command that was stopped so.
        package var exitCode: Int32 {
            switch self {
            case .interrupt: 128 + SIGINT
            case .terminate(let signal): 128 + signal
            }
        }
    }

    /// The longest a stop goes unseen: too short to notice, long enough to cost nothing.
    private static let slice: Int32 = 200

    /// Blocks the signals from here on.
    package init() { Self.mask(SIG_BLOCK) }

    deinit { Self.mask(SIG_UNBLOCK) }

    /// The stop that has been asked for since the last look, if any.
    package borrowing func pending() -> Stop? {
        var set = Self.stopping()
        var none = timespec()
        let signal = unsafe sigtimedwait(&set, nil, &none)
        switch signal {
        case SIGINT: return .interrupt
        case SIGTERM, SIGHUP: return .terminate(signal: signal)
        default: return nil
        }
    }

    /// Waits until `descriptor` can be read, a stop is asked for, or `milliseconds` are over, whichever is
    /// first.
    package borrowing func wait(forReadable descriptor: Int32, milliseconds: Int32) -> Stop? {
        var left = milliseconds
        repeat {
            if let stop = pending() { return stop }
            var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            if unsafe poll(&request, 1, min(left, Self.slice)) > 0 { return nil }
            left -= Self.slice
        } while left > 0
        return pending()
    }

    private static func stopping() -> sigset_t {
        var set = sigset_t()
        unsafe sigemptyset(&set)
        unsafe sigaddset(&set, SIGINT)
        unsafe sigaddset(&set, SIGTERM)
        unsafe sigaddset(&set, SIGHUP)
        return set
    }

    private static func mask(_ how: Int32) {
        var set = stopping()
        unsafe pthread_sigmask(how, &set, nil)
    }
}
