// SPDX-License-Identifier: Apache-2.0

internal import APITypes
internal import LatchkeyClient
internal import Policy
internal import ReachabilityFacts
internal import StateDirectory
internal import Wire

extension CommandRun {
    /// `latchkey print-reachability` (05 B11, 09.43): the same report, made here.
    func printReachability(checks: Bool) throws -> ExitCode {
        let switches = ReachabilitySwitches.found(self)
        var scope = ReachabilityGatherer.Scope()
        scope.port = switches.switches.port
        scope.addressName = switches.switches.addressName
        scope.stunServer = switches.stunServer
        guard let look = console.reachability(scope) else {
            throw Failure(
                .refused, "the kernel does not list the network interfaces",
                advice: ["rtnetlink must be allowed: a sandbox may forbid AF_NETLINK"])
        }
        let report = Reachability(
            ReachabilityPolicy.compose(look.evidence, switches.switches), at: console.now(), now: look.now,
            took: look.took)
        output.print(Reply(value: report, body: report.jsonBytes)) {
            ReachabilityText.screen($0, columns: output.width, style: output.style)
        }
        return checks ? ReachabilityRun.exitCode(report) : .done
    }

    /// `latchkey map-port`.
    func mapPort() throws {
        output.print(try client().mapPort()) { MappingText.mapped($0, now: console.now()) }
    }

    /// `latchkey unmap-port`.
    func unmapPort() throws {
        output.print(try client().unmapPort()) { MappingText.unmapped($0) }
    }
}

/// What the service is set to, as far as it may be read.
private struct FoundSwitches {
    var switches: ReachabilitySwitches
    var stunServer: String?
}

extension ReachabilitySwitches {
    /// From the running service; else from its state directory; else the defaults, and a note (05 B11, 09.43).
    fileprivate static func found(_ run: CommandRun) -> FoundSwitches {
        var notes: [ReachabilityNote] = []
        do {
            let client = try run.client()
            return from(try client.settings().value, status: try client.status().value)
        } catch let failure as Failure where failure.exit == .notRunning {
            notes.append(.serviceNotRunning)
        } catch ClientError.notRunning {
            notes.append(.serviceNotRunning)
        } catch {
            // It runs, and this user may not ask it.
            return unreadable(notes)
        }
        let places = ServicePlaces(
            run.options, isRoot: run.console.isRoot, environment: run.console.environment)
        guard let path = places.stateDirectory, let settings = try? StateDirectory.settings(path: path)
        else { return unreadable(notes) }
        var found = from(settings)
        // Whoever holds the directory is the service that nobody found at its socket: the port is taken by its door.
        let isRunning = StateDirectory.isHeld(path: path)
        found.switches.notes = isRunning ? notes.filter { $0 != .serviceNotRunning } : notes
        let port = found.switches.port
        if run.console.isPortTaken(port) {
            found.switches.listener = isRunning ? .open(port: port) : .portInUse(port: port)
        }
        return found
    }

    private static func unreadable(_ notes: [ReachabilityNote]) -> FoundSwitches {
        var switches = ReachabilitySwitches()
        switches.notes = notes + [.settingsUnreadable]
        return FoundSwitches(switches: switches)
    }

    private static func from(_ settings: Settings) -> FoundSwitches {
        var switches = ReachabilitySwitches()
        switches.remoteAccess = settings.remoteAccess
        switches.internet = settings.effectiveInternet
        switches.port = settings.remotePort
        switches.addressName = settings.addressName
        return FoundSwitches(switches: switches, stunServer: settings.stunServer)
    }

    private static func from(_ settings: SettingsBody, status: Status?) -> FoundSwitches {
        var switches = ReachabilitySwitches()
        switches.remoteAccess = settings.remoteAccess
        switches.internet = settings.remoteAccess && settings.internetAccess
        // Port 0 is whatever the door got.
        switches.port = settings.remotePort == 0 ? status?.remote.port ?? 0 : settings.remotePort
        switches.addressName = settings.addressName.flatMap { $0.isEmpty ? nil : $0 }
        switch status?.remote.state {
        case "open": switches.listener = .open(port: status?.remote.port ?? switches.port)
        // A door names the port it wants only when somebody else has it.
        case "failed": switches.listener = (status?.remote.port).map { .portInUse(port: $0) } ?? .failed
        default: switches.listener = .closed
        }
        return FoundSwitches(
            switches: switches, stunServer: settings.stunServer.flatMap { $0.isEmpty ? nil : $0 })
    }
}

extension Output {
    /// The columns that text may take: a terminal's own, else as many as it likes.
    var width: Int? { console.outputIsTerminal ? console.columns() : nil }
}
