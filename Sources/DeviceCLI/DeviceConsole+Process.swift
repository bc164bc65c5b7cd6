// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import LatchkeyDevice
internal import Sockets
internal import Synchronization
internal import Terminal
internal import Wire

extension DeviceConsole {
    /// This process's own streams and environment; `stops` is asked by whoever takes its signals.
    static func process(_ stops: StopRequest) -> DeviceConsole {
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
    // Before anything else, so that every thread that follows leaves the signals to this one.
    let signals = SignalWaiter()
    let stops = StopRequest()
    let console = DeviceConsole.process(stops)
    let result = RunResult()
    Task {
        let code = await runDevice(arguments, console)
        result.code.withLock { $0 = code }
        result.finished.signal()
    }
    while result.finished.wait(timeout: .now() + .milliseconds(100)) == .timedOut {
        guard let stop = signals.pending() else { continue }
        let code = ExitCode(rawValue: stop.exitCode)
        // The second time whatever hangs is left: a pipe that nobody reads holds a thread for ever.
        if !stops.ask(code) { return code }
    }
    return result.code.withLock { $0 }
}

/// Where the task leaves its outcome for the thread that waits.
private final class RunResult: Sendable {
    let code = Mutex(ExitCode.done)
    let finished = DispatchSemaphore(value: 0)
}
