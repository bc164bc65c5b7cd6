// SPDX-License-Identifier: Apache-2.0

internal import CryptoEngine
internal import NetFacts
internal import ReachabilityFacts
internal import RouterProbe
internal import Sockets
internal import Terminal
internal import VPNFacts
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
            askSecretly: { readSecretLine(after: $0) },
            now: { wallNow() },
            environment: { environmentVariable($0) },
            isRoot: Terminal.isRoot(),
            cables: { CableReader(sha256: { Digest.sha256($0) }).survey() },
            rows: { StandardStream.output.rows },
            reachability: { lookAround($0) },
            isPortTaken: { port in
                UInt16(exactly: port).map { $0 > 0 && Socket.isTaken(tcpPort: $0) } ?? false
            },
            catchStops: {
                let caught = CaughtSignals()
                return { descriptor, milliseconds in
                    caught.wait(descriptor, milliseconds)
                }
            })
    }
}

/// One look at this machine with nothing remembered.
private func lookAround(_ scope: ReachabilityGatherer.Scope) -> ReachabilityLook? {
    let start = monotonicNow()
    guard let table = try? NetworkWatcher.read() else { return nil }
    let gatherer = ReachabilityGatherer(.system(prober: RouterProber()))
    let evidence = gatherer.gather(table, took: monotonicNow() - start, scope)
    let now = monotonicNow()
    return ReachabilityLook(evidence: evidence, took: now - start, now: now)
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
