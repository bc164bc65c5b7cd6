// SPDX-License-Identifier: Apache-2.0

internal import APITypes
internal import Sockets
internal import StateDirectory
internal import Terminal
internal import Wire

/// `latchkey backup` and `latchkey restore`: the state directory's own files, sealed and back (08).
struct BackupRun {
    /// Shorter ones are tried through in hours, whatever the rounds cost.
    private static let shortestPassphrase = 8
    private static let longestPassphrase = 4096

    private let output: Output
    private let options: GlobalOptions
    private var console: Console { output.console }

    init(_ output: Output, _ options: GlobalOptions) {
        self.output = output
        self.options = options
    }

    /// `latchkey backup FILE`.
    func backup(to file: String, _ passphraseFile: String?, replaces: Bool) throws(Failure) {
        let directory = try stateDirectory("backup")
        if fileFacts(file) != nil, !replaces { throw Self.isThere(file) }
        let passphrase = try passphrase(passphraseFile, isNew: true)
        let backup: Backup
        let bytes: [UInt8]
        do throws(StateError) {
            backup = try Backup.take(from: directory, now: console.now(), version: latchkeyVersion)
            bytes = try BackupFile.close(backup, passphrase: passphrase)
        } catch {
            throw Failure(.refused, error.message)
        }
        try write(bytes, to: file, replaces: replaces)
        if output.isJSON {
            return print { json in
                json.field("file", file)
                json.field("hostID", backup.host.text)
                json.field("madeAt", backup.madeAt.rfc3339)
                json.field("devices", backup.devices)
                json.field("bytes", bytes.count)
            }
        }
        output.print(
            "Wrote \(file.visible): the host \(backup.host.text) with \(TimeText.count(backup.devices, "device")).\n"
                + "Keep the passphrase: without it nobody can open the file.\n")
    }

    /// `latchkey restore FILE`.
    func restore(from file: String, _ passphraseFile: String?, restoresRemoved: Bool) throws(Failure) {
        let directory = try stateDirectory("restore")
        let bytes: [UInt8]
        do throws(SocketError) {
            bytes = try readFile(file, limit: Int(Backup.limit) + (1 << 20))
        } catch {
            throw Failure(.refused, error.message)
        }
        let passphrase = try passphrase(passphraseFile, isNew: false)
        let backup: Backup
        let outcome: Restore.Outcome
        do throws(StateError) {
            backup = try BackupFile.open(bytes, passphrase: passphrase, name: file)
            outcome = try Restore(
                backup, to: directory, restoreRemoved: restoresRemoved, actor: "unix:\(userID())",
                now: console.now()
            ).perform()
        } catch {
            guard error.exitCode == .held else {
                throw Failure(.refused, error.message, advice: ["Nothing was changed."])
            }
            throw Failure(
                .held, error.message, advice: ["A service is stopped with: systemctl stop latchkeyd"])
        }
        if outcome.isBlind {
            output.remark(
                "the database that was there cannot be read, so a device that was removed since the backup may be back"
            )
        }
        if output.isJSON {
            return print { json in
                json.field("hostID", outcome.host.text)
                json.field("madeAt", backup.madeAt.rfc3339)
                json.field("devices", outcome.devices)
                json.field("stayedRemoved", outcome.stayedRemoved)
                if let kept = outcome.keptIn { json.field("keptIn", kept) } else { json.null("keptIn") }
            }
        }
        output.print(text(outcome, madeAt: backup.madeAt))
    }

    private func text(_ outcome: Restore.Outcome, madeAt: WallTime) -> String {
        var text =
            "Restored the host \(outcome.host.text) with \(TimeText.count(outcome.devices, "device")), "
            + "as it was \(TimeText.relative(madeAt, to: console.now())).\n"
        if outcome.stayedRemoved > 0 {
            text +=
                "Removed since, and so not brought back without --restore-removed: "
                + "\(TimeText.count(outcome.stayedRemoved, "device")).\n"
        }
        if let kept = outcome.keptIn { text += "What was there before is kept in \(kept.visible).\n" }
        return text + "Start the service: systemctl start latchkeyd\n"
    }

    private func stateDirectory(_ command: String) throws(Failure) -> String {
        if options.api != nil {
            throw Failure(
                .usage, "\(command) works on this machine's files, so it takes no --api",
                advice: ["Run it on the host itself, with --state-dir if need be."])
        }
        let places = ServicePlaces(options, isRoot: console.isRoot, environment: console.environment)
        guard let directory = places.stateDirectory else {
            throw Failure(
                .usage, "it is not known where the service keeps its state",
                advice: ["Name it with --state-dir DIR."])
        }
        return directory
    }

    /// The first line of a file, or what a person types.
    private func passphrase(_ file: String?, isNew: Bool) throws(Failure) -> [UInt8] {
        let passphrase: [UInt8]
        if let file {
            do throws(SocketError) {
                let bytes = try readFile(file, limit: Self.longestPassphrase)
                passphrase = Array(bytes.prefix { $0 != 0x0A && $0 != 0x0D })
            } catch {
                throw Failure(.refused, "the passphrase cannot be read: \(error.message)")
            }
            if let facts = fileFacts(file), facts.isRegular, facts.isOpenToOthers {
                output.remark("others may read the passphrase in \(file); do: chmod 600 \(file)")
            }
        } else {
            passphrase = try typedPassphrase(isNew: isNew)
        }
        guard !passphrase.isEmpty else { throw Failure(.refused, "the passphrase is empty") }
        guard !isNew || passphrase.count >= Self.shortestPassphrase else {
            throw Failure(
                .refused, "the passphrase is too short: at least \(Self.shortestPassphrase) characters")
        }
        return passphrase
    }

    private func typedPassphrase(isNew: Bool) throws(Failure) -> [UInt8] {
        guard console.inputIsTerminal else {
            throw Failure(
                .usage, "a passphrase is needed, and there is no terminal to ask on",
                advice: ["Name a file that holds it: --passphrase-file FILE"])
        }
        console.complain(isNew ? "A passphrase for the backup: " : "The backup's passphrase: ")
        guard let typed = console.askSecretly() else {
            throw Failure(.interrupted, "no passphrase was given")
        }
        guard isNew else { return Array(typed.utf8) }
        console.complain("The same again: ")
        guard let again = console.askSecretly() else {
            throw Failure(.interrupted, "no passphrase was given")
        }
        guard again == typed else { throw Failure(.refused, "the two are not the same; nothing was written") }
        return Array(typed.utf8)
    }

    /// Only its owner may read it; a file that is there is replaced as a whole, or not touched.
    private func write(_ bytes: [UInt8], to file: String, replaces: Bool) throws(Failure) {
        do throws(SocketError) {
            if replaces { return try writeFileAtomically(file, bytes, mode: 0o600) }
            try createExclusive(file, bytes, mode: 0o600)
            try fsyncDirectory(directory(of: file))
        } catch {
            if error.isPresent { throw Self.isThere(file) }
            // What was written so far opens for nobody.
            if !replaces { try? removeFile(file) }
            throw Failure(.refused, "the backup cannot be written: \(error.message)")
        }
    }

    private static func isThere(_ file: String) -> Failure {
        Failure(.refused, "\(file) is there already", advice: ["Add --force to replace it."])
    }

    private func print(_ body: (inout JSONWriter) -> Void) {
        var writer = JSONWriter(capacity: 256)
        writer.object { body(&$0) }
        output.print(body: writer.bytes)
    }
}
