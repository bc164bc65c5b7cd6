// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Signals a process takes one after the other, as values, instead of in handlers that may call almost nothing.
package struct Signals: Sendable {
    /// The ones a service listens to.
    package enum Signal: Sendable, CaseIterable {
        /// Stop: SIGTERM.
        case terminate
        /// Stop: SIGINT, a person's Ctrl-C.
        case interrupt
        /// SIGHUP.
        case hangUp

        var number: Int32 {
            switch self {
            case .terminate: SIGTERM
            case .interrupt: SIGINT
            case .hangUp: SIGHUP
            }
        }
    }

    /// Blocks the signals for this thread and all it starts, and ignores SIGPIPE: a peer that left is an error of the
    /// write, not the end of the process. Call before the first thread is made.
    package static func take() -> Signals {
        signal(SIGPIPE, SIG_IGN)
        let signals = Signals()
        var set = signals.set
        unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
        return signals
    }

    /// Waits for the next one.
    package func next() -> Signal {
        var set = set
        while true {
            var number: Int32 = 0
            guard unsafe sigwait(&set, &number) == 0 else { continue }
            for signal in Signal.allCases where signal.number == number { return signal }
        }
    }

    private var set: sigset_t {
        var set = sigset_t()
        unsafe sigemptyset(&set)
        for signal in Signal.allCases { unsafe sigaddset(&set, signal.number) }
        return set
    }
}
