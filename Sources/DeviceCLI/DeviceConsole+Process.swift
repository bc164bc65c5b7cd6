// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import LatchkeyDevice
internal import Sockets
internal import Synchronization
internal import Terminal
internal import Wire

extension DeviceConsole {
    /// This process's own streams, environment and signals. To be made before anything else, so that every thread that
    /// follows leaves the signals to it.
    package static func process() -> DeviceConsole {
        let stops = StopSignals()
        return DeviceConsole(
            write: { StandardStream.output.write($0) }, complain: { StandardStream.error.write($0) },
            environment: environmentVariable, isRoot: Terminal.isRoot(), machineName: machineName(),
            stopRequest: { await stops.wait() }, rows: { HostBrowser(device: $0) }, now: { wallNow().seconds }
        )
    }

    /// The machine's pretty name, else its host name.
    private static func machineName() -> String {
        let text =
            (try? readFile("/etc/hostname", limit: 4096)).map { String(decoding: $0, as: UTF8.self) } ?? ""
        let line = text.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
        return line.isEmpty ? "latchkey-device" : line
    }
}

/// Carries out this process's command line and says what to exit with.
///
/// Holds the calling thread for as long as that takes: a main thread that is given to the concurrency library instead
/// takes no part in blocking signals, and Ctrl-C would end the process before it could say how a session went.
package func runDeviceProcess(_ arguments: [String]) -> ExitCode {
    let console = DeviceConsole.process()
    let result = RunResult()
    Task {
        let code = await runDevice(arguments, console)
        result.code.withLock { $0 = code }
        result.finished.signal()
    }
    result.finished.wait()
    return result.code.withLock { $0 }
}

/// Where the task leaves its outcome for the thread that waits.
private final class RunResult: Sendable {
    let code = Mutex(ExitCode.done)
    let finished = DispatchSemaphore(value: 0)
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
