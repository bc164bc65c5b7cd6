// SPDX-License-Identifier: Apache-2.0

internal import Sockets
internal import Terminal

extension DeviceConsole {
    /// This process's own streams, environment and signals. To be made before anything else, so that every thread that
    /// follows leaves the signals to it.
    package static func process() -> DeviceConsole {
        let stops = StopSignals()
        return DeviceConsole(
            write: { StandardStream.output.write($0) }, complain: { StandardStream.error.write($0) },
            environment: environmentVariable, isRoot: Terminal.isRoot(), machineName: machineName(),
            stopRequest: { await stops.wait() })
    }

    /// The machine's pretty name, else its host name.
    private static func machineName() -> String {
        let text =
            (try? readFile("/etc/hostname", limit: 4096)).map { String(decoding: $0, as: UTF8.self) } ?? ""
        let line = text.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
        return line.isEmpty ? "latchkey-device" : line
    }
}

/// The signals that ask this process to stop, looked for a few times a second.
private final class StopSignals: Sendable {
    private static let interval: Duration = .milliseconds(100)
    private let waiter = SignalWaiter()

    func wait() async -> ExitCode {
        while !Task.isCancelled {
            if let stop = waiter.pending() { return ExitCode(rawValue: stop.exitCode) }
            _ = try? await Task.sleep(for: Self.interval)
        }
        return .done
    }
}
