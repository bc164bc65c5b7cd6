// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// That a person asked the command to stop. Once asked it stays so, whoever waited then and whoever waits later: a command
/// that has just gone from one thing to the next still hears it.
final class StopRequest: Sendable {
    private static let interval: Duration = .milliseconds(50)
    private let asked = Mutex<ExitCode?>(nil)

    /// Asks; false when that was done before.
    func ask(_ code: ExitCode) -> Bool {
        asked.withLock { asked in
            guard asked == nil else { return false }
            asked = code
            return true
        }
    }

    /// Waits until it is asked, and returns what to exit with; returns when its task is cancelled too.
    func wait() async -> ExitCode {
        while !Task.isCancelled {
            if let code = asked.withLock({ $0 }) { return code }
            // Cancelled when something else came first.
            _ = try? await Task.sleep(for: Self.interval)
        }
        return .done
    }
}
