// SPDX-License-Identifier: Apache-2.0

/// A store operation that failed. Nothing it was to change has changed.
package struct StoreError: Error, Sendable, CustomStringConvertible {
    /// Stable, and all a caller may decide by.
    package enum Code: String, Sendable {
        /// The file is not there.
        case missing
        /// The file or its directory cannot be opened, by permission or otherwise.
        case unreadable
        /// The file belongs to another user, or others may read or write it.
        case loose
        /// Not a SQLite database, damaged, or cut short.
        case corrupt
        /// Blank: no tables, or no bytes at all.
        case empty
        /// A SQLite database, but not one of Latchkey's.
        case foreign
        /// A later release wrote it; it was left untouched.
        case schemaTooNew
        /// A migration failed and was taken back.
        case migration
        /// Another process or connection holds a lock.
        case busy
        /// The schema refused a row.
        case constraint
        /// The host key cannot sign what was to be stored.
        case unsigned
        /// The disk is full.
        case full
        /// The disk or the file is read-only.
        case readOnly
        /// Reading or writing the file failed.
        case io
        /// Too many commits are waiting for the disk.
        case overloaded
        /// The store was closed.
        case closed
        /// The list position in a request is not one this store gave out.
        case badCursor
        /// SQL that this release got wrong.
        case sql
    }

    package let code: Code
    /// What was tried, then what happened, in one clause: "add device: name is empty".
    package let message: String
    /// SQLite's extended result code; 0 when SQLite was not asked.
    package let sqliteCode: Int32

    /// An error; `sqliteCode` is for the log.
    package init(_ code: Code, _ message: String, sqliteCode: Int32 = 0) {
        self.code = code
        self.message = message
        self.sqliteCode = sqliteCode
    }

    package var description: String { message }

    /// Whether the file itself cannot be used, so that starting must end (spec 09 point 13, exit 78), rather than one
    /// commit having failed.
    package var isUnusableFile: Bool {
        switch code {
        case .missing, .unreadable, .loose, .corrupt, .empty, .foreign, .schemaTooNew, .migration: true
        default: false
        }
    }

    /// Whether the commit that failed so has surely left nothing in the file. Of the others a power loss may still make
    /// a commit: its last bytes may have reached the disk although the disk said otherwise.
    package var leftNothing: Bool {
        switch code {
        case .constraint, .unsigned, .overloaded, .closed, .busy, .readOnly: true
        default: false
        }
    }

    /// Whether only the commit itself is to blame: its neighbours and the disk are well.
    var isOneCommitsOwn: Bool { code == .constraint || code == .unsigned }

    /// The same error with what was being done in front.
    package func doing(_ what: String) -> StoreError {
        StoreError(code, "\(what): \(message)", sqliteCode: sqliteCode)
    }
}
