// SPDX-License-Identifier: Apache-2.0

internal import CryptoEngine
internal import Policy
internal import Sockets
internal import Store
package import Wire

/// The steps of a restore, each of which may be the last before a crash.
enum RestoreStep: CaseIterable, Sendable {
    /// The backup's database is beside the present one, found whole, without what was removed since.
    case prepared
    /// What is there now has a second name in a directory of its own.
    case keptAside
    /// The backup's key is `host-key.pem.new`.
    case keyWritten
    /// The backup's database has its name: from here on that is the identity.
    case databaseReplaced
    /// The key has its name.
    case keyRenamed
}

/// Puts a backup in the place of what a state directory holds (08, `latchkey restore`), while no service holds it.
///
/// Everything is looked at before anything is changed, and what was there is kept. At every moment the directory is whole:
/// it is the old identity's until the database is replaced, in one step, and the new one's from then on; a start after a
/// crash finishes the key as it does after a rotation (``IdentityFiles/open()``).
package struct Restore {
    /// How it ended.
    package struct Outcome: Sendable, Equatable {
        /// Who the host is now.
        package var host: SillID
        /// How many devices are paired.
        package var devices: Int
        /// How many of the backup's devices are not, because they were removed since.
        package var stayedRemoved: Int
        /// Where that is which was there before; nil when nothing was.
        package var keptIn: String?
        /// The database that was there could not be read, so nobody knows what was removed since.
        package var isBlind: Bool
    }

    private let backup: Backup
    private let paths: StatePaths
    private let restoreRemoved: Bool
    private let actor: String
    private let now: WallTime
    /// Runs after each step; a test looks there at what a crash would leave.
    var afterStep: (RestoreStep) -> Void = { _ in }

    /// `restoreRemoved` brings back what was removed since; `actor` goes into the audit.
    package init(_ backup: Backup, to directory: String, restoreRemoved: Bool, actor: String, now: WallTime) {
        self.backup = backup
        paths = StatePaths(directory)
        self.restoreRemoved = restoreRemoved
        self.actor = actor
        self.now = now
    }

    /// Does it; throws what is wrong, with nothing changed.
    package func perform() throws(StateError) -> Outcome {
        let owner = try paths.prepareForRestore()
        let lock = try paths.takeLock()
        try owner.take(paths.lock)
        return try perform(holding: lock, owner)
    }

    private var prepared: String { paths.database + ".restored" }

    /// What was made so far, to be taken back if it comes to nothing.
    private struct Progress {
        var kept: Kept?
        var wroteKey = false
        var isReplaced = false
    }

    private func perform(
        holding _: borrowing FileLock, _ owner: DirectoryOwner
    ) throws(StateError) -> Outcome {
        var progress = Progress()
        do throws(StateError) {
            return try perform(owner, &progress)
        } catch {
            if !progress.isReplaced { takeBack(progress) }
            throw error
        }
    }

    private func perform(
        _ owner: DirectoryOwner, _ progress: inout Progress
    ) throws(StateError) -> Outcome {
        let (restored, isBlind) = try prepare()
        afterStep(.prepared)
        try finishFormerRotation()
        try keepPresent(owner, &progress)
        afterStep(.keptAside)
        progress.wroteKey = true
        try making { () throws(SocketError) in
            try writeFileAtomically(paths.newKey, backup.key, mode: 0o600)
        }
        try owner.take(paths.newKey)
        try owner.take(prepared)
        afterStep(.keyWritten)
        try making { () throws(SocketError) in
            // Of a database that could not be read: they would be taken for the restored one's.
            for companion in ["-wal", "-shm"] { try removeFile(paths.database + companion) }
            try renameFile(prepared, to: paths.database)
        }
        progress.isReplaced = true
        afterStep(.databaseReplaced)
        try finish(progress.kept)
        return Outcome(
            host: backup.host, devices: restored.devices, stayedRemoved: restored.stayedRemoved,
            keptIn: progress.kept?.directory, isBlind: isBlind)
    }

    /// Writes the backup's database beside the present one and makes it fit: everything that can be wrong with it shows
    /// here.
    private func prepare() throws(StateError) -> (RestoredDatabase, isBlind: Bool) {
        try making { () throws(SocketError) in
            try removePrepared()
            try createExclusive(prepared, backup.database, mode: 0o600)
        }
        var isBlind = false
        do throws(StoreError) {
            let restored = try Store.adopt(
                path: prepared, of: backup.host,
                tombstones: {
                    guard fileFacts(paths.database) != nil else { return [] }
                    // Read also when nothing of it is used: its log is folded in by that.
                    guard let present = try? Store.retire(path: paths.database) else {
                        isBlind = true
                        return []
                    }
                    return restoreRemoved ? [] : present.tombstones
                },
                audit: { stayedRemoved in
                    AuditRow(
                        at: now, actor: actor, action: "backup.restore", outcome: "ok",
                        detail: "backup of \(backup.madeAt.rfc3339), \(backup.devices) devices, "
                            + "\(stayedRemoved) of them removed since")
                })
            return (restored, isBlind)
        } catch {
            throw StateError(
                error.code == .full || error.code == .io ? .cannotCreate : .unusable,
                "the backup's database cannot be used: \(error.message)")
        }
    }

    /// What is kept of the present identity.
    private struct Kept {
        let directory: String
        let names: [String]
    }

    /// Gives the present files a second name each. They stay where they are, so that the directory is whole.
    private func keepPresent(_ owner: DirectoryOwner, _ progress: inout Progress) throws(StateError) {
        let wanted = [
            "host-key.pem", "host-key.pem.new", "latchkey.db", "latchkey.db-wal", "latchkey.db-shm",
        ]
        let names = wanted.filter { fileFacts("\(paths.directory)/\($0)") != nil }
        if names.isEmpty { return }
        do throws(SocketError) {
            let aside = try paths.unusedName(now)
            progress.kept = Kept(directory: aside, names: names)
            try makeDirectory(aside, mode: 0o700)
            for name in names { try linkFile("\(paths.directory)/\(name)", as: "\(aside)/\(name)") }
            try fsyncDirectory(aside)
            try fsyncDirectory(paths.directory)
        } catch {
            throw StateError(making: error)
        }
        if let kept = progress.kept { try owner.take(kept.directory) }
    }

    /// The place of `host-key.pem.new` is needed; the key in it may be the present identity's.
    private func finishFormerRotation() throws(StateError) {
        guard let (_, key) = KeyFile.peek(paths.newKey),
            let present = try? Store.retire(path: paths.database).identity,
            present.fingerprint == key.fingerprint
        else { return }
        try making { () throws(SocketError) in
            try renameFile(paths.newKey, to: paths.key)
            try fsyncDirectory(paths.directory)
        }
    }

    /// The database is the backup's; what is left to do a start would do as well.
    private func finish(_ kept: Kept?) throws(StateError) {
        do throws(SocketError) {
            // The database's new name is sure before the key's, or a power loss could leave only the second.
            try fsyncDirectory(paths.directory)
            try renameFile(paths.newKey, to: paths.key)
            try fsyncDirectory(paths.directory)
        } catch {
            throw StateError(
                .cannotCreate,
                "the backup is restored, but its key is still \(paths.newKey): \(error.message). The next start of "
                    + "latchkeyd puts it in place")
        }
        afterStep(.keyRenamed)
        // Copies from before migrations are the old database's.
        guard let kept, let names = try? directoryEntries(paths.directory) else { return }
        for name in names where name.hasPrefix("latchkey.db.before-") {
            try? renameFile("\(paths.directory)/\(name)", to: "\(kept.directory)/\(name)")
        }
    }

    /// Nothing was replaced: removes what was made beside it.
    private func takeBack(_ progress: Progress) {
        try? removePrepared()
        if progress.wroteKey {
            let former = progress.kept.map { "\($0.directory)/host-key.pem.new" }
            if let former, fileFacts(former) != nil {
                try? renameFile(former, to: paths.newKey)
            } else {
                try? removeFile(paths.newKey)
            }
        }
        guard let kept = progress.kept else { return }
        for name in kept.names { try? removeFile("\(kept.directory)/\(name)") }
        try? removeDirectory(kept.directory)
    }

    private func removePrepared() throws(SocketError) {
        for name in [prepared, prepared + "-wal", prepared + "-shm", prepared + "-journal"] {
            try removeFile(name)
        }
    }

    private func making(_ body: () throws(SocketError) -> Void) throws(StateError) {
        do throws(SocketError) { try body() } catch { throw StateError(making: error) }
    }
}
