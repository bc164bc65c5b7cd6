// SPDX-License-Identifier: Apache-2.0

internal import Core
internal import Wire

/// One line when the backend fails, and then at most one a minute with the count: devices come back by themselves, and a
/// backend that is down for an hour must not fill the log.
final class BackendFailureLog {
    private static let quiet: Duration = .seconds(60)

    private let log: @Sendable (LogLine) -> Void
    private var lastLine: MonotonicTime?
    private var unreported = 0

    init(log: @escaping @Sendable (LogLine) -> Void) { self.log = log }

    /// Notes one session that got `noHost`; `problem` is for people.
    func note(_ problem: String, session: SessionID, at now: MonotonicTime) {
        if let lastLine, now - lastLine < Self.quiet {
            unreported += 1
            return
        }
        var fields = [("problem", problem), ("session", session.text)]
        if unreported > 0 { fields.append(("before", "\(unreported)")) }
        log(LogLine(.warning, "the backend did not take or keep a session", fields))
        lastLine = now
        unreported = 0
    }
}
