// SPDX-License-Identifier: Apache-2.0

internal import Migrations
internal import Sockets

extension DatabaseFile {
    /// Opens the one connection that writes, with the file's schema brought to the newest of `steps`.
    ///
    /// In this order, so that a file which fails an earlier step is untouched by the later ones: is it ours, is it
    /// from a later release, is it whole, is a copy kept, then the migrations. Whether a file that needs no migration is
    /// whole is the caller's to find out, by `checkWhole`, before anything rests on it.
    /// `migrated` hears of each copy made.
    func open(
        _ steps: [Migration] = Migrations.all, create: Bool, migrated: (String) -> Void = { _ in }
    ) throws(StoreError) -> sending Connection {
        try check(mayBeEmpty: create, newest: newest(steps))
        do throws(StoreError) {
            let connection = try Connection(path: path, access: .readWrite)
            let isNew = try judge(connection, steps)
            guard create || !isNew else { throw empty }
            try connection.runScript("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
            try connection.runScript("PRAGMA foreign_keys = ON")
            let found = try connection.int("PRAGMA user_version") ?? 0
            if found < newest(steps), !isNew {
                try checkWhole(connection)
                migrated(try keepCopy(connection, before: found + 1))
            }
            try migrate(connection, from: found, steps)
            connection.allowCheckpointOnClose()
            return connection
        } catch {
            throw explain(error)
        }
    }

    /// Opens the connection that reads; after `open`, which made the file fit to be read.
    func openReader() throws(StoreError) -> sending Connection {
        do throws(StoreError) {
            return try Connection(path: path, access: .readOnly)
        } catch {
            throw explain(error)
        }
    }

    /// Whether the file is new (nothing in it), having thrown if it is not one this release may use.
    func judge(_ connection: Connection, _ steps: [Migration]) throws(StoreError) -> Bool {
        let id = try connection.int("PRAGMA application_id") ?? 0
        let tables = try connection.int("SELECT count(*) FROM sqlite_schema") ?? 0
        if id == 0, tables == 0 { return true }
        guard id == Self.applicationID else { throw foreign(id) }
        let found = try connection.int("PRAGMA user_version") ?? 0
        guard found <= newest(steps) else { throw tooNew(found, newest: newest(steps)) }
        return false
    }

    /// Whether every page and row reads as it should (spec 08: `quick_check` at start). Reads the whole file.
    func checkWhole(_ connection: Connection) throws(StoreError) {
        let verdict: String
        do throws(StoreError) {
            verdict = try connection.text("PRAGMA quick_check(1)") ?? "no answer"
        } catch {
            throw explain(error)
        }
        guard verdict == "ok" else { throw corrupt(verdict.split(separator: "\n").joined(separator: " ")) }
    }

    /// One transaction each; the step that fails, and all after it, change nothing.
    private func migrate(
        _ connection: Connection, from found: Int64, _ steps: [Migration]
    ) throws(StoreError) {
        for step in steps where step.version > found {
            do throws(StoreError) {
                try connection.transaction { () throws(StoreError) in
                    try connection.runScript(step.sql)
                    try connection.runScript("PRAGMA application_id = \(Self.applicationID)")
                    try connection.runScript("PRAGMA user_version = \(step.version)")
                }
            } catch {
                throw StoreError(
                    .migration,
                    "bringing the database \(path) to schema \(step.version) failed: \(error.message). "
                        + "It was taken back; the data is as before",
                    sqliteCode: error.sqliteCode)
            }
        }
    }

    /// Copies the database as it is to `….before-N`, N being the first step about to run; keeps the last two copies.
    private func keepCopy(_ connection: Connection, before version: Int64) throws(StoreError) -> String {
        let copy = "\(path).before-\(version)"
        let partial = copy + ".tmp"
        do throws(SocketError) {
            try removeFile(partial)
            // VACUUM INTO takes an empty file as it is; made here so that it is 0600 from its first byte.
            try createExclusive(partial, [], mode: 0o600)
        } catch {
            throw StoreError(.io, "keeping a copy before migrating: \(error.message)")
        }
        try connection.run("VACUUM INTO ?", [.text(partial)])
        do throws(SocketError) {
            try fsyncFile(partial)
            try renameFile(partial, to: copy)
            try forgetOldCopies()
            try fsyncDirectory(directory(of: path))
        } catch {
            throw StoreError(.io, "keeping a copy before migrating: \(error.message)")
        }
        return copy
    }

    private func forgetOldCopies() throws(SocketError) {
        let folder = directory(of: path)
        let prefix = String(path.dropFirst(folder.count).drop { $0 == "/" }) + ".before-"
        let numbers = try directoryEntries(folder).compactMap { name in
            name.hasPrefix(prefix) ? Int64(name.dropFirst(prefix.count)) : nil
        }
        for old in numbers.sorted().dropLast(Self.keptCopies) { try removeFile("\(path).before-\(old)") }
    }

    func newest(_ steps: [Migration] = Migrations.all) -> Int64 { steps.last?.version ?? 0 }

    /// SQLite's words for a damaged or unreadable file, with the file's name and the way out.
    func explain(_ error: StoreError) -> StoreError {
        switch error.code {
        case .corrupt where error.sqliteCode != 0: corrupt(error.message, sqliteCode: error.sqliteCode)
        case .unreadable where error.sqliteCode != 0:
            StoreError(
                .unreadable, "the database \(path) cannot be opened: \(error.message). \(restore)",
                sqliteCode: error.sqliteCode)
        case .sql:
            corrupt("its tables are not as they should be (\(error.message))", sqliteCode: error.sqliteCode)
        default: error.sqliteCode == 0 ? error : error.doing("open the database \(path)")
        }
    }
}
