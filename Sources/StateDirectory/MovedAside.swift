// SPDX-License-Identifier: Apache-2.0

internal import Sockets
internal import Wire

extension StatePaths {
    /// For `--new-identity`: moves key, database and its copies into a directory of their own, so that what follows is
    /// a first start. Returns that directory; nil when there was nothing. Tokens stay: they are not the identity.
    ///
    /// Stopping midway leaves files that do not belong together, which a plain start refuses and this finishes.
    func moveIdentityAside(now: WallTime) throws(StateError) -> String? {
        do throws(SocketError) {
            // The key before the database: a database without its key is refused, never taken for a first start.
            let names = try directoryEntries(directory).filter(Self.isIdentity).sorted(by: Self.keyFirst)
            if names.isEmpty { return nil }
            let aside = try unusedName(now)
            try makeDirectory(aside, mode: 0o700)
            for name in names { try renameFile("\(directory)/\(name)", to: "\(aside)/\(name)") }
            try fsyncDirectory(aside)
            try fsyncDirectory(directory)
            return aside
        } catch {
            throw StateError(making: error)
        }
    }

    private static func isIdentity(_ name: String) -> Bool {
        name.hasPrefix("host-key.pem") || name.hasPrefix("latchkey.db")
    }

    private static func keyFirst(_ left: String, _ right: String) -> Bool {
        (left.hasPrefix("host-key") ? 0 : 1, left) < (right.hasPrefix("host-key") ? 0 : 1, right)
    }

    /// A name for a directory that keeps what was the identity until now.
    func unusedName(_ now: WallTime) throws(SocketError) -> String {
        let plain = "\(directory)/identity-until-\(now.rfc3339.filter { $0.isNumber || $0 == "T" })"
        var name = plain
        var number = 2
        while fileFacts(name) != nil {
            name = "\(plain)-\(number)"
            number += 1
        }
        return name
    }
}
