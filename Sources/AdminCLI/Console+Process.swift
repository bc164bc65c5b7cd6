// SPDX-License-Identifier: Apache-2.0

internal import CryptoEngine
internal import NetFacts
internal import Sockets
internal import Terminal
internal import Wire

extension Console {
    /// This process's own streams, clock and signals.
    package static func process() -> Console {
        Console(
            write: { text in
                // A full disk must not look like success. (A reader that went away is SIGPIPE, as for any command.)
                if !StandardStream.output.write(text) {
                    StandardStream.error.write("latchkey: the output cannot be written\n")
                    exitProcess(ExitCode.refused.rawValue)
                }
            },
            complain: { StandardStream.error.write($0) },
            outputIsTerminal: StandardStream.output.isTerminal,
            inputIsTerminal: Terminal.inputIsTerminal(),
            columns: { StandardStream.output.columns },
            ask: { readInputLine() },
            askSecretly: { readSecretLine() },
            now: { wallNow() },
            environment: { environmentVariable($0) },
            isRoot: Terminal.isRoot(),
            cables: { CableReader(sha256: { Digest.sha256($0) }).survey() },
            catchStops: {
                let caught = CaughtSignals()
                return { descriptor, milliseconds in
                    caught.wait(descriptor, milliseconds)
                }
            })
    }
}

/// Shares one waiter with the closure that waits; the signals are let go when the closure is.
private final class CaughtSignals {
    private let waiter = SignalWaiter()

    func wait(_ descriptor: Int32, _ milliseconds: Int32) -> Console.Stop? {
        switch waiter.wait(forReadable: descriptor, milliseconds: milliseconds) {
        case nil: nil
        case .interrupt: .interrupt
        case .terminate(let signal): .terminate(ExitCode(rawValue: 128 + signal))
        }
    }
}
