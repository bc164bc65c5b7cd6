// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Sockets

/// Reading a file that holds a secret: only when nobody but its owner, this user, has any permission on it (spec 09
/// point 14: 0640 is loose).
enum PrivateFile {
    /// What the file holds; nil when it is not there. Throws `unusable` for loose or foreign files.
    ///
    /// `wayOut` tells a person what to do about something that is no file.
    static func read(
        _ path: String, what: String, limit: Int, wayOut: String
    ) throws(StateError) -> [UInt8]? {
        guard let facts = fileFacts(path) else { return nil }
        try check(path, facts, what: what, wayOut: wayOut)
        do throws(SocketError) {
            return try readFile(path, limit: limit)
        } catch {
            throw StateError(.unusable, "\(what) cannot be read: \(error.message)")
        }
    }

    /// Throws unless the file is a plain one of this user's, closed to all others.
    private static func check(
        _ path: String, _ facts: FileFacts, what: String, wayOut: String
    ) throws(StateError) {
        guard facts.isRegular else {
            throw StateError(.unusable, "\(what) \(path) is not a plain file. \(wayOut)")
        }
        guard facts.uid == geteuid() else {
            throw StateError(
                .unusable,
                "\(what) \(path) belongs to user \(facts.uid), not to user \(geteuid()), whom this runs as. "
                    + "Run it as its owner, or: chown \(geteuid()) \(path)")
        }
        guard !facts.isOpenToOthers else {
            throw StateError(
                .unusable,
                "\(what) \(path) can be read or written by others (mode 0\(String(facts.mode, radix: 8))), so it may "
                    + "be known to them. If you trust them: chmod 600 \(path)")
        }
    }
}
