// SPDX-License-Identifier: Apache-2.0

package import LatchkeyDevice

/// What a command sees of the world around it, so that a test can be that world.
package struct DeviceConsole: Sendable {
    /// Standard output.
    package var write: @Sendable (String) -> Void
    /// Standard error.
    package var complain: @Sendable (String) -> Void
    /// An environment variable; nil when it is not set.
    package var environment: @Sendable (String) -> String?
    /// Whether this is root, whose defaults differ.
    package var isRoot: Bool
    /// This machine's name, for a device that was given none.
    package var machineName: String
    /// Waits for Ctrl-C or its like and returns the exit code that goes with it; returns when its task is cancelled too.
    package var stopRequest: @Sendable () async -> ExitCode
    /// Where rows of the network come from; nil where they cannot.
    package var rows: @Sendable (Device) -> (any RowSource)?
    /// Seconds since 1970.
    package var now: @Sendable () -> Double

    /// A world made of these.
    package init(
        write: @escaping @Sendable (String) -> Void, complain: @escaping @Sendable (String) -> Void,
        environment: @escaping @Sendable (String) -> String?, isRoot: Bool, machineName: String,
        stopRequest: @escaping @Sendable () async -> ExitCode,
        rows: @escaping @Sendable (Device) -> (any RowSource)? = { _ in nil },
        now: @escaping @Sendable () -> Double = { 0 }
    ) {
        self.write = write
        self.complain = complain
        self.environment = environment
        self.isRoot = isRoot
        self.machineName = machineName
        self.stopRequest = stopRequest
        self.rows = rows
        self.now = now
    }
}
