// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Sockets

/// The file rules of spec 08 ("Upgrades and data") and 09 point 14: what must hold before a database is used at all.
///
/// A file that does not pass is left as it is and named, with what is wrong and how to go on; it is never taken for
/// an empty one.
struct DatabaseFile: Sendable {
    /// "LKEY" in ASCII: marks the file as Latchkey's (`PRAGMA application_id`).
    static let applicationID: Int64 = 0x4C4B_4559
    /// Copies from before migrations that are kept.
    static let keptCopies = 2

    let path: String

    /// Makes an empty file that only its owner can read; SQLite gives its companions the same mode. An empty file of
    /// ours that an earlier start left behind may stay.
    func create() throws(StoreError) {
        do throws(SocketError) {
            try createExclusive(path, [], mode: 0o600)
        } catch {
            guard error.isPresent else { throw StoreError(.io, error.message) }
            guard fileFacts(path)?.size == 0 else {
                throw StoreError(.unreadable, "there is a database at \(path) already. \(restore)")
            }
        }
    }

    /// What a commit may need beside the file: some pages for the log, and as many again. Bytes.
    static let room = 64 << 10

    /// Throws `full` when there is no room for a commit on the file's disk.
    func proveRoom() throws(StoreError) {
        let trial = path + "-room"
        do throws(SocketError) {
            // One that a crash has left.
            try removeFile(trial)
            do throws(SocketError) {
                try createExclusive(trial, [UInt8](repeating: 0, count: Self.room), mode: 0o600)
            } catch {
                try removeFile(trial)
                throw error
            }
            try removeFile(trial)
        } catch {
            throw StoreError(.full, "there is no room for another commit: \(error.message)")
        }
    }

    /// Who may read the file, its companions included, and whether its first bytes are a database of ours.
    func check(mayBeEmpty: Bool, newest: Int64) throws(StoreError) {
        guard let facts = fileFacts(path) else {
            throw StoreError(.missing, "the database \(path) is missing. \(restore)")
        }
        for name in [path, path + "-wal", path + "-shm"] {
            guard let facts = fileFacts(name) else { continue }
            guard facts.isRegular else {
                throw StoreError(.unreadable, "\(name) is not a plain file. \(restore)")
            }
            guard facts.uid == geteuid() else {
                throw StoreError(
                    .loose,
                    "\(name) belongs to user \(facts.uid), not to user \(geteuid()), whom this service runs as. "
                        + "Run it as its owner, or: chown \(geteuid()) \(name)")
            }
            guard !facts.isOpenToOthers else {
                throw StoreError(
                    .loose,
                    "\(name) can be read or written by others (mode 0\(octal(facts.mode))). "
                        + "Do: chmod 600 \(name)")
            }
        }
        guard mayBeEmpty || facts.size > 0 else { throw empty }
        if facts.size > 0 { try checkHeader(size: facts.size, newest: newest) }
    }

    /// SQLite's own header (its file format, section 1.3), read without SQLite so that a file that is not ours is not
    /// even opened. A write-ahead log may hold newer values; those are asked for later.
    private func checkHeader(size: Int64, newest: Int64) throws(StoreError) {
        let header: [UInt8]
        do throws(SocketError) {
            header = try readPrefix(path, count: 100)
        } catch {
            throw StoreError(.unreadable, "the database cannot be read: \(error.message). \(restore)")
        }
        guard header.count == 100, header.starts(with: "SQLite format 3\0".utf8) else { throw notADatabase }
        let applicationID = number(header, at: 68)
        guard applicationID == Self.applicationID || applicationID == 0 else { throw foreign(applicationID) }
        let version = number(header, at: 60)
        guard version <= newest else { throw tooNew(version, newest: newest) }
        // SQLite fills up a last page that is cut short with zeros. The header's page count holds when the two change
        // counters agree (format, section 1.3.7); while there is a log the file may still be growing out of it.
        let pageSize = max(number(header, at: 16) >> 16, 1)
        let expected = number(header, at: 28) * (pageSize == 1 ? 65536 : pageSize)
        let hasLog = (fileFacts(path + "-wal")?.size ?? 0) > 0
        if !hasLog, number(header, at: 24) == number(header, at: 92), expected > size {
            throw corrupt("it is cut short: \(size) bytes instead of \(expected)")
        }
    }

    /// A 4-byte big-endian number of the header.
    private func number(_ bytes: [UInt8], at offset: Int) -> Int64 {
        bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int64($1) }
    }

    /// Ends the sentence about an unusable file.
    var restore: String {
        "Nothing was changed. Restore a backup: latchkey restore --state-dir \(directory(of: path)) FILE. Or start anew "
            + "on purpose, with a new identity that every device must pair with again: latchkeyd --new-identity"
    }

    var notADatabase: StoreError { corrupt("it is not a SQLite database") }

    /// Blank, as a first start leaves it when it stops early, or a disk that lost its bytes.
    var empty: StoreError { StoreError(.empty, "the database \(path) is empty. \(restore)") }

    func corrupt(_ what: String, sqliteCode: Int32 = 0) -> StoreError {
        StoreError(.corrupt, "the database \(path) is damaged: \(what). \(restore)", sqliteCode: sqliteCode)
    }

    func foreign(_ id: Int64) -> StoreError {
        StoreError(
            .foreign,
            "\(path) is a database of another program (application ID \(id)), not Latchkey's. \(restore)")
    }

    func tooNew(_ found: Int64, newest: Int64) -> StoreError {
        StoreError(
            .schemaTooNew,
            "the database \(path) was written by a newer Latchkey (schema \(found); this one knows \(newest)). "
                + "Install that version again. \(restore)")
    }

    /// Removes the file and its companions. Only for a database that never held an identity.
    func remove() throws(StoreError) {
        do throws(SocketError) {
            for name in [path + "-wal", path + "-shm", path + "-journal", path] { try removeFile(name) }
        } catch {
            throw StoreError(.io, error.message)
        }
    }
}

/// An octal number without prefix, as `chmod` takes it.
private func octal(_ mode: UInt32) -> String { String(mode, radix: 8) }
