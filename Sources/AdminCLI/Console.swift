// SPDX-License-Identifier: Apache-2.0

package import NetFacts
package import Policy
package import ReachabilityFacts
package import Wire

/// One look for a report, and when it ended.
package struct ReachabilityLook: Sendable {
    package var evidence: ReachabilityEvidence
    /// How long it took.
    package var took: Duration
    /// The moment that ages are counted from.
    package var now: MonotonicTime

    package init(evidence: ReachabilityEvidence, took: Duration, now: MonotonicTime) {
        self.evidence = evidence
        self.took = took
        self.now = now
    }
}

/// Everything a command sees of the world around it, so that a test can be that world.
package struct Console {
    /// What waiting can end with before its time.
    package enum Stop: Equatable, Sendable {
        /// Ctrl-C.
        case interrupt
        /// Another signal; the command ends with this code.
        case terminate(ExitCode)
    }

    /// Waits until the descriptor can be read, a stop is asked for, or so many milliseconds are over.
    package typealias Wait = (_ descriptor: Int32, _ milliseconds: Int32) -> Stop?

    /// Standard output.
    package var write: (String) -> Void
    /// Standard error.
    package var complain: (String) -> Void
    /// Whether a person reads standard output.
    package var outputIsTerminal: Bool
    /// Whether a person can be asked.
    package var inputIsTerminal: Bool
    /// Columns of the terminal; nil when it does not say.
    package var columns: () -> Int?
    /// One line from the person; nil when there is none.
    package var ask: () -> String?
    /// The same for a secret, with its question: what is typed is not shown. nil also after Ctrl-C.
    package var askSecretly: (_ question: String) -> String?
    /// What is shown as "3 minutes ago" is counted from here.
    package var now: () -> WallTime
    /// An environment variable.
    package var environment: (String) -> String?
    /// Whether this is root, whose defaults differ.
    package var isRoot: Bool
    /// What the cable rule finds on each interface of this machine; nil when the kernel lists none.
    package var cables: () -> [CableReport]?
    /// Rows of the terminal; nil when it does not say.
    package var rows: () -> Int?
    /// Looks at this machine and its router; nil when the kernel lists no interfaces.
    package var reachability: (ReachabilityGatherer.Scope) -> ReachabilityLook?
    /// Whether a program holds the TCP port on this machine.
    package var isPortTaken: (Int) -> Bool
    /// Takes charge of Ctrl-C until the closure it returns is let go.
    package var catchStops: () -> Wait

    package init(
        write: @escaping (String) -> Void, complain: @escaping (String) -> Void, outputIsTerminal: Bool,
        inputIsTerminal: Bool, columns: @escaping () -> Int?, ask: @escaping () -> String?,
        askSecretly: @escaping (_ question: String) -> String?, now: @escaping () -> WallTime,
        environment: @escaping (String) -> String?, isRoot: Bool,
        cables: @escaping () -> [CableReport]?, rows: @escaping () -> Int? = { nil },
        reachability: @escaping (ReachabilityGatherer.Scope) -> ReachabilityLook? = { _ in nil },
        isPortTaken: @escaping (Int) -> Bool = { _ in false }, catchStops: @escaping () -> Wait
    ) {
        self.write = write
        self.complain = complain
        self.outputIsTerminal = outputIsTerminal
        self.inputIsTerminal = inputIsTerminal
        self.columns = columns
        self.ask = ask
        self.askSecretly = askSecretly
        self.now = now
        self.environment = environment
        self.isRoot = isRoot
        self.cables = cables
        self.rows = rows
        self.reachability = reachability
        self.isPortTaken = isPortTaken
        self.catchStops = catchStops
    }
}
