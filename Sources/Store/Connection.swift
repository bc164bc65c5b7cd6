// SPDX-License-Identifier: Apache-2.0

internal import CSQLite

/// One connection to the database and the statements it keeps prepared. Not Sendable: whoever holds it (the writer's
/// thread, or the reader's lock) is the only one to call it, so SQLite's own mutexes are off.
@safe final class Connection {
    /// sqlite3 *, ours.
    let raw: OpaquePointer
    private var prepared: [String: PreparedStatement] = [:]

    /// A statement in the cache, by reference because a dictionary cannot lend its values.
    private final class PreparedStatement {
        let statement: Statement
        var isRunning = false
        init(_ statement: consuming Statement) { self.statement = statement }
    }

    enum Access { case readOnly, readWrite }

    /// Opens a file that exists; never creates one. Waits up to 5 s for another process's lock (a backup).
    init(path: String, access: Access) throws(StoreError) {
        let mode = access == .readOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE
        let flags = mode | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        var out: OpaquePointer?
        let code = unsafe sqlite3_open_v2(path, &out, flags, nil)
        guard let raw = unsafe out else { throw StoreError(.io, "open \(path): out of memory") }
        unsafe self.raw = raw
        guard code == SQLITE_OK else {
            let error = unsafe sqliteFailure(raw)
            unsafe sqlite3_close_v2(raw)
            throw error
        }
        unsafe sqlite3_busy_timeout(raw, 5_000)
        unsafe shim_make_defensive(raw)
        // Until the file is known to be ours, closing must not fold the write-ahead log into it.
        unsafe shim_checkpoint_on_close(raw, 0)
    }

    deinit {
        prepared = [:]
        unsafe sqlite3_close_v2(raw)
    }

    /// Lets the last close fold the write-ahead log into the file.
    func allowCheckpointOnClose() { _ = unsafe shim_checkpoint_on_close(raw, 1) }

    /// Why the last call failed.
    func failure() -> StoreError { unsafe sqliteFailure(raw) }

    /// Runs statements that return nothing, as one text; stops at the first that fails.
    func runScript(_ sql: String) throws(StoreError) {
        guard unsafe sqlite3_exec(raw, sql, nil, nil, nil) == SQLITE_OK else { throw failure() }
    }

    /// Runs one statement; returns the number of rows it changed.
    @discardableResult
    func run(_ sql: String, _ values: [SQLValue] = []) throws(StoreError) -> Int {
        try forEachRow(sql, values) { _ in false }
        return unsafe Int(sqlite3_changes(raw))
    }

    /// Calls `body` with each row until it returns false.
    func forEachRow(
        _ sql: String, _ values: [SQLValue] = [], _ body: (borrowing Statement) throws(StoreError) -> Bool
    ) throws(StoreError) {
        let entry = try statement(for: sql)
        entry.isRunning = true
        defer {
            entry.statement.reset()
            entry.isRunning = false
        }
        try entry.statement.bind(values)
        while try entry.statement.step() {
            guard try body(entry.statement) else { break }
        }
    }

    /// The first column of the first row as a number; nil without a row.
    func int(_ sql: String, _ values: [SQLValue] = []) throws(StoreError) -> Int64? {
        var out: Int64?
        try forEachRow(sql, values) { row in
            out = row.int(0)
            return false
        }
        return out
    }

    /// The first column of the first row as text; nil without a row.
    func text(_ sql: String, _ values: [SQLValue] = []) throws(StoreError) -> String? {
        var out: String?
        try forEachRow(sql, values) { row in
            out = row.optionalText(0)
            return false
        }
        return out
    }

    /// Runs `body` in one transaction that takes the write lock first; all of it or nothing.
    func transaction(_ body: () throws(StoreError) -> Void) throws(StoreError) {
        try run("BEGIN IMMEDIATE")
        do throws(StoreError) {
            try body()
            try run("COMMIT")
        } catch {
            rollBack()
            throw error
        }
    }

    /// Takes back an open transaction. SQLite has already done so after some errors; then nothing is left to do.
    func rollBack() {
        if isInTransaction { unsafe sqlite3_exec(raw, "ROLLBACK", nil, nil, nil) }
    }

    var isInTransaction: Bool { unsafe sqlite3_get_autocommit(raw) == 0 }

    /// The statement kept for `sql`. A text that is running already (a query within its own rows) gets a fresh one.
    private func statement(for sql: String) throws(StoreError) -> PreparedStatement {
        if let kept = prepared[sql], !kept.isRunning { return kept }
        let made = PreparedStatement(try Statement(sql, on: self))
        prepared[sql] = made
        return made
    }
}

/// Why the last call on `database` failed, with SQLite's text and extended code.
func sqliteFailure(_ database: OpaquePointer) -> StoreError {
    let code = unsafe sqlite3_extended_errcode(database)
    let text = unsafe String(cString: sqlite3_errmsg(database))
    return StoreError(storeCode(sqlite: code), text, sqliteCode: code)
}

/// Our word for a primary or extended result code.
func storeCode(sqlite code: Int32) -> StoreError.Code {
    switch code & 0xFF {
    case SQLITE_BUSY, SQLITE_LOCKED: .busy
    case SQLITE_CONSTRAINT, SQLITE_MISMATCH, SQLITE_TOOBIG: .constraint
    case SQLITE_FULL: .full
    case SQLITE_READONLY: .readOnly
    case SQLITE_IOERR, SQLITE_NOMEM: .io
    case SQLITE_CORRUPT, SQLITE_NOTADB: .corrupt
    case SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_AUTH: .unreadable
    default: .sql
    }
}
