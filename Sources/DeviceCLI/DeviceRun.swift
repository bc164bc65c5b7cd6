// SPDX-License-Identifier: Apache-2.0

internal import LatchkeyDevice
internal import Wire

/// Carries out one command line and says what to exit with.
package func runDevice(_ arguments: [String], _ console: DeviceConsole) async -> ExitCode {
    let command: DeviceCommand
    do {
        command = try DeviceCommand(arguments)
    } catch {
        console.complain("latchkey-device: \(error.message)\n")
        let help = error.command.map { "latchkey-device help \($0)" } ?? "latchkey-device help"
        console.complain("Try: \(help)\n")
        return .usage
    }
    do {
        return try await DeviceRun(command: command, console: console).carryOut()
    } catch {
        console.complain("latchkey-device: \(error.message)\n")
        return ExitCode(error)
    }
}

/// One command being carried out.
struct DeviceRun: Sendable {
    /// What was asked for.
    let command: DeviceCommand
    /// Where it shows.
    let console: DeviceConsole

    /// Does it; throws what standard error and the exit code are to say.
    func carryOut() async throws(DeviceError) -> ExitCode {
        switch command.action {
        case .help(let topic):
            console.write(DeviceHelp.text(topic))
        case .version:
            console.write(
                command.json
                    ? "{\"version\":\"\(DeviceHelp.version)\"}\n" : "latchkey-device \(DeviceHelp.version)\n")
        case .hosts:
            let hosts = try openDevice().hosts()
            console.write(command.json ? DeviceOutput.json(hosts) : DeviceOutput.table(hosts))
        case .forget(let word):
            let device = try openDevice()
            let host = try find(word, device)
            try device.forget(host.id)
            console.write(
                command.json
                    ? "{\"forgot\":\"\(host.id)\"}\n"
                    : "Forgot \(host.name) (\(host.id)). The host still lists this device; remove it there too.\n"
            )
        case .pairLink(let link, let place):
            return try await pair { device throws(DeviceError) in
                let endpoint: Endpoint? = if let place { try Endpoint(here: place) } else { nil }
                return try await device.pair(link: link, at: endpoint)
            }
        case .pairCode(let code, let place):
            return try await pair { device throws(DeviceError) in
                try await device.pair(code: code, at: Endpoint(here: place))
            }
        case .ask(let place, let cable, let code): return try await ask(place, cable: cable, code: code)
        case .browse(let until): return try await browse(until: until)
        case .connect(let word, let place, let door, let seconds, let isKept, let path):
            return try await connect(
                word, place: place, door: door.flatMap { HostDoor(rawValue: $0) }, seconds: seconds,
                isKept: isKept,
                saved: try path.map { path throws(DeviceError) in try SavedStream(path: path) })
        case .dial(let word, let place, let door):
            return try await dial(word, place: place, door: door.flatMap { HostDoor(rawValue: $0) })
        }
        return .done
    }

    /// Loopback addresses mean another machine elsewhere; only builds for trying things out keep them (06 B1).
    private static var keepsLoopback: Bool {
        #if DEBUG
            true
        #else
            false
        #endif
    }

    /// The device of `--dir`, made when there is none. Throws `storage`.
    func openDevice() throws(DeviceError) -> Device {
        let directory: String
        if let named = command.directory {
            directory = named
        } else if let state = console.environment("XDG_STATE_HOME"), !state.isEmpty {
            directory = state + "/latchkey-device"
        } else if let home = console.environment("HOME"), !home.isEmpty {
            directory = home + "/.local/state/latchkey-device"
        } else {
            throw DeviceError(.storage, "say where this device keeps its key: --dir DIR")
        }
        let given = command.name ?? console.machineName
        return try Device(
            directory: directory,
            description: Device.Description(
                name: given.isEmpty ? "latchkey-device" : given, model: command.model,
                appVersion: command.appVersion ?? DeviceHelp.version),
            keepLoopback: Self.keepsLoopback)
    }

    /// A saved host by its ID, a prefix of it (four characters up), or its exact name when it is unique.
    func find(_ word: String, _ device: Device) throws(DeviceError) -> SavedHost {
        let hosts = try device.hosts()
        let upper = word.uppercased()
        if let host = hosts.first(where: { $0.id == upper }) { return host }
        let matches = hosts.filter { (word.count >= 4 && $0.id.hasPrefix(upper)) || $0.name == word }
        if matches.count == 1 { return matches[0] }
        throw DeviceError(
            .unknownHost,
            matches.isEmpty
                ? "no saved host has the ID \(word)" : "\(word) may be several saved hosts; give the ID")
    }

    /// Pairs as `body` does, and says what came of it.
    func pair(
        _ body: @escaping @Sendable (Device) async throws(DeviceError) -> SavedHost
    ) async throws(DeviceError) -> ExitCode {
        let device = try openDevice()
        let outcome = await race { () async -> Result<SavedHost, DeviceError> in
            do throws(DeviceError) {
                return .success(try await body(device))
            } catch {
                return .failure(error)
            }
        }
        switch outcome {
        case .stopped(let code):
            return code
        case .finished(.success(let host)):
            console.write(
                command.json
                    ? DeviceOutput.json(pairedWith: host, device: device)
                    : """
                    Paired with \(host.name) (\(host.id)).
                    Connect with: latchkey-device connect \(host.id)

                    """)
            return .done
        case .finished(.failure(let error)):
            if command.json { console.write(DeviceOutput.json(pairingFailed: error)) }
            throw error
        }
    }

    /// What came first.
    enum Outcome<Value: Sendable>: Sendable {
        case finished(Value)
        case stopped(ExitCode)
    }

    /// Runs `work` until it ends or a person stops it.
    func race<Value: Sendable>(_ work: @escaping @Sendable () async -> Value) async -> Outcome<Value> {
        let console = console
        return await withTaskGroup(of: Outcome<Value>.self) { group in
            group.addTask { .finished(await work()) }
            group.addTask { .stopped(await console.stopRequest()) }
            // A group of two has a first.
            let first = await group.next() ?? .stopped(.done)
            group.cancelAll()
            return first
        }
    }
}
