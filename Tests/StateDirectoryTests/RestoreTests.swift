// SPDX-License-Identifier: Apache-2.0

import Core
import CryptoEngine
import Glibc
import Policy
import Sockets
import Store
import Synchronization
import Testing
import Wire

@testable import StateDirectory

@Suite("Restore")
struct RestoreTests {
    let folder: TemporaryDirectory
    static let later = WallTime(milliseconds: TemporaryDirectory.now.milliseconds + 60_000)

    init() throws { folder = try TemporaryDirectory() }

    /// A host with devices 1 and 2, and its backup.
    private func host(_ folder: TemporaryDirectory) throws -> Backup {
        let opened = try folder.open()
        for number in [1, 2] as [UInt8] {
            _ = opened.directory.committer.commitNow(
                StoreCommit(change: .pairDevice(try BackupTests.device(number)), audit: []))
        }
        _ = opened.directory.committer.commitNow(
            StoreCommit(change: .settings(values: ["maxFPS": "60"], requirePairing: false), audit: []))
        opened.directory.close()
        return try Backup.take(from: folder.state.directory, now: TemporaryDirectory.now, version: "1")
    }

    private func restore(
        _ backup: Backup, to folder: TemporaryDirectory, restoreRemoved: Bool = false,
        afterStep: @escaping (RestoreStep) -> Void = { _ in }
    ) throws(StateError) -> Restore.Outcome {
        var restore = Restore(
            backup, to: folder.state.directory, restoreRemoved: restoreRemoved, actor: "unix:7",
            now: Self.later)
        restore.afterStep = afterStep
        return try restore.perform()
    }

    private func remove(_ number: UInt8, in folder: TemporaryDirectory) throws {
        let opened = try folder.open()
        defer { opened.directory.close() }
        let key = try BackupTests.device(number).fingerprint
        _ = opened.directory.committer.commitNow(
            StoreCommit(
                change: .removeDevice(
                    key, Tombstone(fingerprint: key, removedAt: Self.later, removedBy: "unix:0")), audit: []))
    }

    private var aside: String { folder.state.directory + "/identity-until-20261130T071513123" }

    @Test("on a new machine: the host, its devices and settings, signed ones too")
    func newMachine() throws {
        let backup = try host(folder)
        let other = try TemporaryDirectory()
        let outcome = try restore(backup, to: other)
        #expect(
            outcome
                == Restore.Outcome(
                    host: backup.host, devices: 2, stayedRemoved: 0, keptIn: nil, isBlind: false))
        #expect(fileFacts(other.state.directory)?.mode == 0o700)
        for name in try directoryEntries(other.state.directory) {
            #expect(fileFacts(other.state.directory + "/" + name)?.mode == 0o600, "\(name)")
        }
        #expect(
            try directoryEntries(other.state.directory) == ["host-key.pem", "latchkey.db", "latchkey.lock"])
        let found = try other.open()
        defer { found.directory.close() }
        #expect(found.directory.identity.current.key.fingerprint.id == backup.host)
        #expect(try found.devices.sorted { $0.id < $1.id } == [BackupTests.device(1), BackupTests.device(2)])
        #expect(found.settings.maxFPS == 60 && !found.settings.requirePairing)
        let row = try #require(try found.directory.store.audit(limit: 1).items.first?.row)
        #expect(row.action == "backup.restore" && row.actor == "unix:7" && row.at == Self.later)
        #expect(row.detail == "backup of 2026-11-30T07:14:13.123Z, 2 devices, 0 of them removed since")
    }

    @Test("what was removed since stays removed, unless it is asked for", arguments: [false, true])
    func removedSince(_ restoreRemoved: Bool) throws {
        let backup = try host(folder)
        try remove(1, in: folder)
        let key = try readFile(folder.state.key)
        let outcome = try restore(backup, to: folder, restoreRemoved: restoreRemoved)
        #expect(
            outcome
                == Restore.Outcome(
                    host: backup.host, devices: restoreRemoved ? 2 : 1, stayedRemoved: restoreRemoved ? 0 : 1,
                    keptIn: aside, isBlind: false))
        #expect(try directoryEntries(aside) == ["host-key.pem", "latchkey.db"])
        #expect(try readFile(aside + "/host-key.pem") == key && readFile(folder.state.key) == key)
        let found = try folder.open()
        defer { found.directory.close() }
        #expect(found.devices.count == outcome.devices)
        let tombstone = found.tombstones.first
        #expect(tombstone?.removedBy == (restoreRemoved ? nil : "unix:0"))
        #expect(tombstone?.removedAt == (restoreRemoved ? nil : Self.later))
    }

    @Test("over another identity, as after a rotation: the backup's, and nobody who was unpaired")
    func afterRotation() throws {
        let backup = try host(folder)
        let opened = try folder.open()
        let (_, stored) = try opened.directory.identity.stage(now: Self.later)
        _ = opened.directory.committer.commitNow(
            StoreCommit(change: .rotate(stored, removedBy: "unix:0"), audit: []))
        _ = opened.directory.committer.commitNow(
            StoreCommit(change: .pairDevice(try BackupTests.device(9)), audit: []))
        opened.directory.close()
        let outcome = try restore(backup, to: folder)
        #expect(outcome.devices == 0 && outcome.stayedRemoved == 2)
        let found = try folder.open()
        #expect(found.directory.identity.current.key.fingerprint.id == backup.host && found.devices.isEmpty)
        found.directory.close()
        // And back: what is kept aside is whole.
        let back = try TemporaryDirectory()
        try copyFiles(from: aside, to: back.state.directory)
        let kept = try back.open()
        defer { kept.directory.close() }
        #expect(
            kept.directory.identity.current.key.fingerprint == stored.fingerprint && kept.devices.count == 1)
    }

    @Test("over what cannot be used: it says that it could not read what was removed")
    func overDamage() throws {
        for damage in [
            { try writeFileAtomically($0.database, Array(repeating: 7, count: 8192), mode: 0o600) },
            {
                try createExclusive($0.database + "-wal", Array(repeating: 7, count: 4096), mode: 0o600)
                try writeFileAtomically($0.database, [1], mode: 0o600)
            },
        ] as [(StatePaths) throws -> Void] {
            let folder = try TemporaryDirectory()
            let backup = try host(folder)
            try damage(folder.state)
            let outcome = try restore(backup, to: folder)
            #expect(outcome.isBlind && outcome.devices == 2)
            let found = try folder.open()
            defer { found.directory.close() }
            #expect(found.devices.count == 2)
        }
    }

    @Test("over a database without its key, or of a later release: what was removed still counts")
    func overReadable() throws {
        for change in [
            { try removeFile($0.key) },
            {
                try removeFile($0.database + "-wal")
                var bytes = try readFile($0.database)
                bytes[63] = 99  // user_version
                try writeFileAtomically($0.database, bytes, mode: 0o600)
            },
        ] as [(StatePaths) throws -> Void] {
            let folder = try TemporaryDirectory()
            let backup = try host(folder)
            try remove(2, in: folder)
            try change(folder.state)
            #expect(failure { () throws(StateError) in try folder.open() }?.exitCode == .unusable)
            let outcome = try restore(backup, to: folder)
            #expect(!outcome.isBlind && outcome.devices == 1 && outcome.stayedRemoved == 1)
            try folder.open().directory.close()
        }
    }

    @Test(
        "stopping after any step, as kill -9 would, leaves one identity whole",
        arguments: RestoreStep.allCases,
        [false, true])
    func stopped(_ step: RestoreStep, _ owesRename: Bool) throws {
        let backup = try host(try TemporaryDirectory())
        let present = try host(folder)
        try remove(1, in: folder)
        if owesRename {
            // A rotation whose last step is still to do.
            try renameFile(folder.state.key, to: folder.state.newKey)
            try createExclusive(folder.state.key, HostKey.generate().pkcs8PEM(), mode: 0o600)
        }
        let crashed = try TemporaryDirectory()
        let outcome = try restore(backup, to: folder) { done in
            guard done == step else { return }
            do {
                try copyFiles(from: folder.state.directory, to: crashed.state.directory)
            } catch {
                Issue.record(error)
            }
        }
        #expect(outcome.host == backup.host)
        let isNew = step == .databaseReplaced || step == .keyRenamed
        for _ in 1...2 {
            let found = try crashed.open()
            defer { found.directory.close() }
            #expect(found.directory.identity.current.key.fingerprint.id == (isNew ? backup : present).host)
            #expect(found.devices.map(\.name) == ["Device 2"])
            #expect(!found.settings.requirePairing)
        }
        // Whatever was left, another try goes through.
        #expect(try restore(backup, to: crashed).host == backup.host)
        try crashed.open().directory.close()
        #expect(fileFacts(crashed.state.database + ".restored") == nil)
    }

    @Test("a service holds it: 75, and nothing is touched")
    func held() throws {
        let backup = try host(folder)
        let opened = try folder.open()
        defer { opened.directory.close() }
        let before = try directoryEntries(folder.state.directory)
        let error = failure { () throws(StateError) in try restore(backup, to: folder) }
        #expect(error?.exitCode == .held)
        #expect(try directoryEntries(folder.state.directory) == before)
    }

    @Test("a backup whose database is not fit changes nothing")
    func unfit() throws {
        let backup = try host(folder)
        let other = try host(try TemporaryDirectory())
        var newer = backup.database
        newer[63] = 99
        var damaged = backup.database
        for index in damaged.count - 4096..<damaged.count { damaged[index] = 0xA5 }
        try folder.open().directory.close()
        let before = try folder.contents()
        for (database, words) in [
            (other.database, "is not that of"), (newer, "newer Latchkey"), (damaged, "damaged"),
            (Array(repeating: 0, count: 4096), "not a SQLite database"), ([], "is empty"),
        ] as [([UInt8], String)] {
            let unfit = Backup(
                host: backup.host, madeAt: backup.madeAt, devices: 2, version: "1", key: backup.key,
                database: database)
            let error = failure { () throws(StateError) in try restore(unfit, to: folder) }
            #expect(error?.message.hasPrefix("the backup's database cannot be used: ") == true)
            #expect(error?.message.contains(words) == true, "\(words): \(error?.message ?? "no error")")
            #expect(try folder.contents() == before)
        }
    }

    @Test("a step that fails takes back what was made")
    func takenBack() throws {
        let backup = try host(try TemporaryDirectory())
        _ = try host(folder)
        let before = try folder.contents()
        // A directory in the way of the new key's file.
        let error = failure { () throws(StateError) in
            try restore(backup, to: folder) { step in
                guard step == .keptAside else { return }
                try? makeDirectory(folder.state.newKey + ".tmp/x", mode: 0o700)
            }
        }
        #expect(error?.exitCode == .cannotCreate)
        try removeDirectory(folder.state.newKey + ".tmp/x")
        try removeDirectory(folder.state.newKey + ".tmp")
        #expect(try folder.contents() == before)
        #expect(fileFacts(aside) == nil)
    }

    @Test("root restores what another user's service will open", .enabled(if: geteuid() == 0))
    func asRoot() throws {
        let backup = try host(folder)
        for name in try [""] + directoryEntries(folder.state.directory).map({ "/" + $0 }) {
            try giveFile(folder.state.directory + name, uid: 65_534, gid: 65_534)
        }
        let again = try Backup.take(from: folder.state.directory, now: Self.later, version: "1")
        #expect(again.host == backup.host && again.devices == 2)
        _ = try restore(backup, to: folder)
        for path in try [""] + directoryEntries(folder.state.directory).map({ "/" + $0 }) {
            #expect(fileFacts(folder.state.directory + path)?.uid == 65_534, "\(path)")
        }
        for name in try directoryEntries(aside) { #expect(fileFacts(aside + "/" + name)?.uid == 65_534) }
        #expect(fileFacts(aside)?.mode == 0o700)
    }
}
