// SPDX-License-Identifier: Apache-2.0

internal import APITypes
internal import LatchkeyClient
internal import NetFacts

/// Runs one command line and says how to end. Prints through `console` alone.
package func run(_ words: [String], _ console: Console) -> ExitCode {
    do {
        let invocation = try CommandLineParser.parse(words)
        return try CommandRun(invocation.options, console).perform(invocation.command)
    } catch let failure as Failure {
        console.complain(failure.text)
        return failure.exit
    } catch let error as ClientError {
        let failure = Failure(error)
        console.complain(failure.text)
        return failure.exit
    } catch {
        console.complain(Failure(.refused, "\(error)").text)
        return .refused
    }
}

/// One command on its way: the call, and what is made of the answer.
struct CommandRun {
    let options: GlobalOptions
    let console: Console
    let output: Output

    init(_ options: GlobalOptions, _ console: Console) {
        self.options = options
        self.console = console
        output = Output(console, options)
    }

    /// Does it; throws `Failure` or `ClientError`.
    func perform(_ command: Command) throws -> ExitCode {
        switch command {
        case .status:
            output.print(try client().status()) {
                StatusText.screen($0, now: console.now(), style: output.style)
            }
        case .list: try list()
        case .show(let device): try show(device)
        case .rename(let device, let name): try rename(device, to: name)
        case .remove(let devices, let confirmed): try remove(devices, isConfirmed: confirmed)
        case .pair(let wanted):
            return try PairRun(client: client(), output: output, options: wanted).perform()
        case .sessions:
            output.print(try client().sessions()) {
                SessionText.list($0, now: console.now(), style: output.style)
            }
        case .disconnect(let session, let message): try disconnect(session, message)
        case .quality:
            let client = try client()
            let quality = try client.quality()
            let sessions = output.isJSON ? [] : try client.sessions().items
            output.print(quality) { QualityText.screen($0, sessions: sessions, style: output.style) }
        case .settings:
            output.print(try desk().settings()) { SettingsText.table($0, style: output.style) }
        case .set(let changes):
            output.print(try desk().change(settings: SettingChange.patch(changes))) {
                SettingsText.changed(changes, $0, style: output.style)
            }
        case .printCable: return try printCable()
        case .reachability(let refresh, let watches, let checks):
            let run = ReachabilityRun(client: try client(), output: output)
            return watches ? try run.watch(refresh: refresh) : try run.show(refresh: refresh, checks: checks)
        case .printReachability(let checks): return try printReachability(checks: checks)
        case .mapPort: try mapPort()
        case .unmapPort: try unmapPort()
        case .events(let follow, let since):
            return try EventsRun(client: client(), output: output).perform(follow: follow, since: since)
        case .audit(let limit):
            // A person wants the end of it; a program asked for the list.
            let newest = limit ?? (output.isJSON ? nil : 50)
            output.print(try client().audit(limit: newest)) {
                AuditText.list($0, now: console.now(), style: output.style)
            }
        case .identityShow: try showIdentity()
        case .identityRotate(let confirmed): try rotateIdentity(isConfirmed: confirmed)
        case .backup(let file, let passphraseFile, let replaces):
            try BackupRun(output, options).backup(to: file, passphraseFile, replaces: replaces)
        case .restore(let file, let passphraseFile, let restoresRemoved):
            try BackupRun(output, options).restore(
                from: file, passphraseFile, restoresRemoved: restoresRemoved)
        case .unlock(let source, let device): try unlock(source: source, device: device)
        case .completion(let shell): output.print(CompletionScript.text(for: shell))
        case .version: output.print(VersionText.line(isJSON: output.isJSON))
        case .help(let topic): output.print(topic.flatMap(HelpText.about) ?? HelpText.overview)
        }
        return .done
    }

    /// The running service.
    func client() throws -> Client { try ServiceFinder(options, console).find() }

    private func disconnect(_ text: String, _ message: String?) throws {
        let client = try client()
        let id = try SessionReference.find(text, in: client.sessions().items)
        let answer = try client.close(session: id, message: message)
        if output.isJSON { output.print(body: answer.body) } else { output.print("Ended session \(id).\n") }
    }

    private func printCable() throws(Failure) -> ExitCode {
        guard let reports = console.cables() else {
            throw Failure(
                .refused, "the kernel does not list the network interfaces",
                advice: ["rtnetlink must be allowed: a sandbox may forbid AF_NETLINK"])
        }
        if output.isJSON {
            output.print(items: CableText.json(reports))
        } else {
            output.print(CableText.table(reports, style: output.style))
        }
        return reports.contains { $0.reason == nil } ? .done : .refused
    }

    private func unlock(source: String?, device: String?) throws {
        let client = try client()
        var id = device
        if let device {
            // A device that is quiet is often not paired yet, so a whole ID needs no device behind it.
            let reference = DeviceReference(device)
            if !reference.isWholeID {
                id = try reference.find(in: ServiceDesk(client: client).candidates(for: reference)).id
            }
        }
        let answer = try client.clearLockouts(source: source, device: id)
        if output.isJSON {
            output.print(body: answer.body)
        } else {
            output.print("Cleared. Whoever was held back may try again.\n")
        }
    }
}
