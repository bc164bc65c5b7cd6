package import Core
internal import EventLoop
package import Sockets
internal import Synchronization
package import Wire

/// Writes log lines to error output on a thread of its own, so that a terminal that stands still holds nobody up.
package final class LogSink: Sendable {
    /// Lines that may wait; more are dropped and counted into the next line written.
    static let waitingLimit = 10_000

    private let format: Options.LogFormat
    private let level: LogLevel
    private let mailbox: Mailbox
    private let thread: JoinHandle
    private let waiting = Atomic<Int>(0)
    private let dropped = Atomic<Int>(0)
    private let wall: @Sendable () -> WallTime
    private let write: @Sendable (String) -> Void

    /// Throws when the system has no thread or descriptor left.
    package init(
        format: Options.LogFormat, level: LogLevel, wall: @escaping @Sendable () -> WallTime = wallNow,
        write: @escaping @Sendable (String) -> Void = CurrentProcess.writeError
    ) throws(SocketError) {
        self.format = format
        self.level = level
        self.wall = wall
        self.write = write
        let mailbox = try Mailbox()
        self.mailbox = mailbox
        thread = try runLoop(name: "log", mailbox)
    }

    /// Queues one line if its level is logged. Any thread; never waits.
    package func log(_ line: LogLine) {
        guard line.level >= level else { return }
        guard waiting.load(ordering: .relaxed) < Self.waitingLimit else {
            dropped.add(1, ordering: .relaxed)
            return
        }
        waiting.add(1, ordering: .relaxed)
        let time = wall()
        mailbox.post { [self] in
            waiting.subtract(1, ordering: .relaxed)
            let lost = dropped.exchange(0, ordering: .relaxed)
            if lost > 0 {
                write(
                    LogFormatter.render(
                        LogLine(.warning, "log lines were dropped", [("count", "\(lost)")]), at: time,
                        as: format))
            }
            write(LogFormatter.render(line, at: time, as: format))
        }
    }

    /// Writes what waits, then ends the thread.
    package func close() {
        mailbox.stop()
        thread.join()
    }
}
