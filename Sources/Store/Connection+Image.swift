// SPDX-License-Identifier: Apache-2.0

internal import CSQLite

extension Connection {
    /// The whole database as the bytes of a file of its own, without a write-ahead log, as it is in the transaction that
    /// is open. `limit` is in bytes.
    func image(limit: Int64) throws(StoreError) -> [UInt8] {
        let pages = try int("PRAGMA page_count") ?? 0
        let pageSize = try int("PRAGMA page_size") ?? 0
        guard pages * pageSize <= limit else {
            throw StoreError(
                .io,
                "the database is larger than a backup can be (\(limit >> 20) MiB): \(pages * pageSize) bytes")
        }
        var size: sqlite3_int64 = 0
        guard let bytes = unsafe sqlite3_serialize(raw, "main", &size, 0) else {
            throw StoreError(.io, "copy the database: out of memory")
        }
        defer { unsafe sqlite3_free(bytes) }
        return unsafe [UInt8](UnsafeBufferPointer(start: bytes, count: Int(size)))
    }
}
