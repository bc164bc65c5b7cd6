// SPDX-License-Identifier: Apache-2.0

/// What `latchkey` ends with (spec 08, "latchkey"; spec 09 points 29 and 30).
package struct ExitCode: RawRepresentable, Equatable, Sendable {
    package let rawValue: Int32

    package init(rawValue: Int32) { self.rawValue = rawValue }

    /// It was done.
    package static let done = ExitCode(rawValue: 0)
    /// The service refused, or a pairing window ended without a device.
    package static let refused = ExitCode(rawValue: 1)
    /// The command line makes no sense.
    package static let usage = ExitCode(rawValue: 2)
    /// The service is not running.
    package static let notRunning = ExitCode(rawValue: 3)
    /// There is no such device or session.
    package static let notFound = ExitCode(rawValue: 4)
    /// Several devices or sessions could be meant.
    package static let ambiguous = ExitCode(rawValue: 5)
    /// A device away may reach this host (`--check`, spec 09 point 38).
    package static let maybe = ExitCode(rawValue: 10)
    /// A device away cannot reach this host (`--check`).
    package static let blocked = ExitCode(rawValue: 11)
    /// A service holds the state directory that is to be restored (EX_TEMPFAIL, as latchkeyd's own).
    package static let held = ExitCode(rawValue: 75)
    /// Ctrl-C.
    package static let interrupted = ExitCode(rawValue: 130)
}
