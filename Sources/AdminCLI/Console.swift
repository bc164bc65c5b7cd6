// SPDX-License-Identifier: Apache-2.0

package import NetFacts
package import Wire

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
    /// The same for a secret: what is typed is not shown. nil also after Ctrl-C.
    package var askSecretly: () -> String?
    /// What is shown as "3 minutes ago" is counted from here.
    package var now: () -> WallTime
    /// An environment variable.
    package var environment: (String) -> String?
    /// Whether this is root, whose defaults differ.
    package var isRoot: Bool
    /// What the cable rule finds on each interface of this machine; nil when the kernel lists none.
    package var cables: () -> [CableReport]?
    /// Takes charge of Ctrl-C until the closure it returns is let go.
    package var catchStops: () -> Wait

    package init(
        write: @escaping (String) -> Void, complain: @escaping (String) -> Void, outputIsTerminal: Bool,
        inputIsTerminal: Bool, columns: @escaping () -> Int?, ask: @escaping () -> String?,
        askSecretly: @escaping () -> String?, now: @escaping () -> WallTime,
        environment: @escaping (String) -> String?, isRoot: Bool,
        cables: @escaping () -> [CableReport]?, catchStops: @escaping () -> Wait
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
        self.catchStops = catchStops
    }
}
