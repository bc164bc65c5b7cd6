// SPDX-License-Identifier: Apache-2.0

internal import Migrations
package import Policy
internal import Sockets
package import Wire

/// A whole database at one moment, for a backup (08).
package struct DatabaseImage: Sendable {
    /// The file's bytes.
    package let bytes: [UInt8]
    /// Whose database it is.
    package let identity: StoredIdentity
    /// How many devices are paired in it.
    package let devices: Int
}

/// What is kept of a database that makes way for another.
package struct ReplacedDatabase: Sendable {
    /// nil when it names none.
    package let identity: StoredIdentity?
    /// The keys that were removed in it.
    package let tombstones: [Tombstone]
}

/// A database out of a backup, ready to take its place.
package struct RestoredDatabase: Sendable {
    /// Whose it is.
    package let identity: StoredIdentity
    /// How many devices are paired in it.
    package let devices: Int
    /// How many were paired when it was saved and are not now: they were removed since.
    package let stayedRemoved: Int
}

extension Store {
    /// A consistent copy of the database at `path`, also while a service writes it: one read transaction, beside the
    /// writer and without holding it up. The file is not changed, but for a log of a service that is no more, which is
    /// folded in.
    package static func image(path: String, limit: Int64) throws(StoreError) -> DatabaseImage {
        let file = DatabaseFile(path: path)
        try file.checkThere()
        do throws(StoreError) {
            // Not read-only: such a connection would leave companions behind that it cannot remove.
            let connection = try Connection(path: path, access: .readWrite)
            guard try !file.judge(connection, Migrations.all) else { throw file.empty }
            connection.allowCheckpointOnClose()
            try connection.run("PRAGMA query_only = ON")
            try connection.run("BEGIN")
            defer { connection.rollBack() }
            try file.checkWhole(connection)
            guard let identity = try connection.loadIdentity() else { throw file.empty }
            let devices = try connection.int("SELECT count(*) FROM devices") ?? 0
            return DatabaseImage(
                bytes: try connection.image(limit: limit), identity: identity, devices: Int(devices))
        } catch {
            throw file.explain(error)
        }
    }

    /// Reads what must outlive a database that another is to replace, and folds its log in, so that none is left that
    /// would be taken for the other's. The caller holds the directory. Throws when it cannot be read.
    ///
    /// One of a later release is read too: what was removed then stays removed.
    package static func retire(path: String) throws(StoreError) -> ReplacedDatabase {
        let file = DatabaseFile(path: path)
        try file.checkThere()
        do throws(StoreError) {
            let connection = try Connection(path: path, access: .readWrite)
            let id = try connection.int("PRAGMA application_id") ?? 0
            guard id == DatabaseFile.applicationID else { throw file.foreign(id) }
            let replaced = ReplacedDatabase(
                identity: try connection.loadIdentity(), tombstones: try connection.loadTombstones())
            connection.allowCheckpointOnClose()
            return replaced
        } catch {
            throw file.explain(error)
        }
    }

    /// Makes a database out of a backup fit to be used: it is read through; then `tombstones` is asked for keys that were
    /// removed since, which are taken out of it; and the row made by `audit` is added. Afterwards it is one file without
    /// companions, synced. Its schema is left to the next start, which keeps a copy. Throws when it is not whole, of a
    /// later release, or not that host's.
    package static func adopt(
        path: String, of host: SillID, tombstones: () -> [Tombstone],
        audit: (_ stayedRemoved: Int) -> AuditRow
    ) throws(StoreError) -> RestoredDatabase {
        let file = DatabaseFile(path: path)
        try file.check(mayBeEmpty: false, newest: file.newest())
        let connection = try Connection(path: path, access: .readWrite)
        guard try !file.judge(connection, Migrations.all) else { throw file.empty }
        try connection.runScript("PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL")
        let verdict = try connection.text("PRAGMA integrity_check(1)") ?? "no answer"
        guard verdict == "ok" else { throw file.corrupt(verdict) }
        guard let identity = try connection.loadIdentity(), identity.fingerprint.id == host else {
            throw file.corrupt("it is not that of \(host.text)")
        }
        func count() throws(StoreError) -> Int {
            Int(try connection.int("SELECT count(*) FROM devices") ?? 0)
        }
        let removed = tombstones()
        let before = try count()
        var after = before
        try connection.transaction { () throws(StoreError) in
            for tombstone in removed {
                try connection.apply(
                    StoreCommit(change: .removeDevice(tombstone.fingerprint, tombstone), audit: []),
                    requirePairing: nil)
            }
            after = try count()
            try connection.apply(
                StoreCommit(change: .auditOnly, audit: [audit(before - after)]), requirePairing: nil)
        }
        return RestoredDatabase(identity: identity, devices: after, stayedRemoved: before - after)
    }
}

extension DatabaseFile {
    /// A plain file that is not empty; whose it is matters to the service, not to a copy.
    fileprivate func checkThere() throws(StoreError) {
        guard let facts = fileFacts(path) else {
            throw StoreError(.missing, "the database \(path) is missing. \(restore)")
        }
        guard facts.isRegular else {
            throw StoreError(.unreadable, "\(path) is not a plain file. \(restore)")
        }
        guard facts.size > 0 else { throw empty }
    }
}
