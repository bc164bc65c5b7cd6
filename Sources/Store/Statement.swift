// SPDX-License-Identifier: Apache-2.0

internal import CSQLite
internal import Wire

/// One prepared statement. Finalised when it ends; never copied, so never finalised twice.
@safe struct Statement: ~Copyable {
    private let raw: OpaquePointer  // sqlite3_stmt *, ours
    private let database: OpaquePointer  // sqlite3 *, lent: a connection outlives its statements

    init(_ sql: String, on connection: Connection) throws(StoreError) {
        var out: OpaquePointer?
        let code = unsafe sqlite3_prepare_v3(
            connection.raw, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &out, nil)
        guard code == SQLITE_OK, let raw = unsafe out else { throw connection.failure() }
        unsafe self.raw = raw
        unsafe self.database = connection.raw
    }

    deinit { unsafe sqlite3_finalize(raw) }

    /// Binds `values` to parameters 1, 2, 3…; SQLite keeps its own copies.
    borrowing func bind(_ values: [SQLValue]) throws(StoreError) {
        var index: Int32 = 0
        for value in values {
            index += 1
            let code: Int32
            switch value {
            case .null: code = unsafe sqlite3_bind_null(raw, index)
            case .integer(let number): code = unsafe sqlite3_bind_int64(raw, index, number)
            case .text(let text):
                code = unsafe shim_bind_text(raw, index, text, Int32(clamping: text.utf8.count))
            case .blob(let bytes):
                code = unsafe shim_bind_blob(raw, index, bytes, Int32(clamping: bytes.count))
            }
            guard code == SQLITE_OK else { throw unsafe sqliteFailure(database) }
        }
    }

    /// Steps once; whether a row is there to read.
    borrowing func step() throws(StoreError) -> Bool {
        switch unsafe sqlite3_step(raw) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default: throw unsafe sqliteFailure(database)
        }
    }

    /// Makes it ready to run again, holding no lock and no bound value meanwhile.
    borrowing func reset() {
        unsafe sqlite3_reset(raw)
        unsafe sqlite3_clear_bindings(raw)
    }

    /// Column `index` (from 0) of the row that is there.
    borrowing func int(_ index: Int32) -> Int64 { unsafe sqlite3_column_int64(raw, index) }

    /// nil for NULL.
    borrowing func optionalInt(_ index: Int32) -> Int64? {
        unsafe sqlite3_column_type(raw, index) == SQLITE_NULL ? nil : int(index)
    }

    /// nil for NULL. Bytes that are not UTF-8 (a damaged file) are replaced, never trusted.
    borrowing func optionalText(_ index: Int32) -> String? {
        if unsafe sqlite3_column_type(raw, index) == SQLITE_NULL { return nil }
        // As a blob: a UTF-8 database has the same bytes there, and SQLite need not copy them to end them with a zero.
        guard let start = unsafe sqlite3_column_blob(raw, index) else { return "" }
        let count = unsafe Int(sqlite3_column_bytes(raw, index))
        return unsafe String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
    }

    /// Empty for NULL.
    borrowing func text(_ index: Int32) -> String { optionalText(index) ?? "" }

    /// A fingerprint's 32 bytes; nil for anything else.
    borrowing func fingerprint(_ index: Int32) -> Fingerprint? {
        guard let start = unsafe sqlite3_column_blob(raw, index) else { return nil }
        let count = unsafe Int(sqlite3_column_bytes(raw, index))
        let bytes = unsafe UnsafeRawBufferPointer(start: start, count: count).assumingMemoryBound(
            to: UInt8.self)
        return unsafe Fingerprint(bytes: bytes.span)
    }

    /// Empty for NULL.
    borrowing func blob(_ index: Int32) -> [UInt8] {
        guard let start = unsafe sqlite3_column_blob(raw, index) else { return [] }
        let count = unsafe Int(sqlite3_column_bytes(raw, index))
        return unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: count))
    }
}
