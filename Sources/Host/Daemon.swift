internal import APITypes
internal import Core
internal import Sockets
internal import SystemBus

/// `latchkeyd` from its command line to its exit code (spec 08, 09.13).
package enum Daemon {
    /// With this process's own command line and environment.
    package static func main() -> Int32 {
        run(arguments: Array(CommandLine.arguments.dropFirst()), environment: Environment.current)
    }

    /// Runs until a signal asks it to stop. Returns the exit code.
    package static func run(arguments: [String], environment: [String: String]) -> Int32 {
        switch Options.parse(arguments, environment: environment, isRoot: CurrentProcess.isRoot) {
        case .help:
            CurrentProcess.writeOutput(Options.help)
            return 0
        case .version:
            CurrentProcess.writeOutput("latchkeyd \(latchkeyVersion)\n")
            return 0
        case .usage(let sentence):
            CurrentProcess.writeError("latchkeyd: \(sentence) (see latchkeyd --help)\n")
            return 64
        case .run(var options):
            options.resolve(against: CurrentProcess.workingDirectory)
            return run(options, environment)
        }
    }

    private static func run(_ options: Options, _ environment: [String: String]) -> Int32 {
        CurrentProcess.raiseDescriptorLimit()
        let signals = Signals.take()
        let log: LogSink
        do throws(SocketError) {
            log = try LogSink(format: format(options, environment), level: options.logLevel)
        } catch {
            CurrentProcess.writeError("latchkeyd: \(error.message)\n")
            return 73
        }
        defer { log.close() }
        let service: Service
        do {
            service = try Service(options, log: log)
        } catch let failure as StartFailure {
            log.log(LogLine(.error, failure.message))
            return failure.exitCode
        } catch {
            // What is left are descriptors, threads and OpenSSL: the machine's state, not ours.
            log.log(LogLine(.error, "cannot start: \(error)"))
            return 73
        }
        ServiceManager.notify("READY=1")
        while signals.next() == .hangUp {
            // Settings are live. The log is the error output that was handed to us: no file of ours to open again.
            log.log(LogLine(.info, "hang-up: nothing to reload"))
        }
        service.stop()
        return 0
    }

    private static func format(_ options: Options, _ environment: [String: String]) -> Options.LogFormat {
        if let format = options.logFormat { return format }
        if CurrentProcess.errorIsTerminal { return .text }
        let isJournal = environment["JOURNAL_STREAM"].map { CurrentProcess.errorIs(journalStream: $0) }
        return isJournal == true ? .journal : .json
    }
}
