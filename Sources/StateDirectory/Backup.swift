// SPDX-License-Identifier: Apache-2.0

internal import CryptoEngine
internal import Policy
internal import Sockets
internal import Store
package import Wire

/// What a host is and knows at one moment: its key and its database, which belong together (08, `latchkey backup`).
///
/// It is taken from the files, by whoever may read them, and never through the local API: the API gives the private key
/// to nobody, and its admins (members of a group, holders of a token) are more people than those who can read the key.
package struct Backup: Sendable, CustomStringConvertible {
    /// Bytes of the largest database that fits in; all of it is held in memory once or twice.
    package static let limit: Int64 = 1 << 30

    /// Whose it is.
    package let host: SillID
    /// When it was taken.
    package let madeAt: WallTime
    /// How many devices were paired.
    package let devices: Int
    /// The release that took it.
    package let version: String
    /// The host's private key, PKCS#8 as PEM.
    let key: [UInt8]
    /// The database, as one file.
    let database: [UInt8]

    package var description: String { "<backup of \(host.text), \(madeAt.rfc3339)>" }

    /// Takes one, whether or not a service runs there; nothing is changed. Throws what is wrong and what to do.
    package static func take(
        from directory: String, now: WallTime, version: String
    ) throws(StateError) -> Backup {
        let paths = StatePaths(directory)
        try paths.checkReadable()
        // The key of a rotation that ends between the two reads is found at the second try.
        var image = try paths.image()
        for _ in 0..<8 {
            for path in [paths.key, paths.newKey] {
                guard let (pem, key) = KeyFile.peek(path), key.fingerprint == image.identity.fingerprint
                else {
                    continue
                }
                return Backup(
                    host: key.fingerprint.id, madeAt: now, devices: image.devices, version: version, key: pem,
                    database: image.bytes)
            }
            image = try paths.image()
        }
        throw StateError(
            .unusable,
            "the database \(paths.database) belongs to the host key of \(image.identity.fingerprint.id.text), which is not "
                + "in \(paths.directory), or cannot be read. A backup without the key would restore nothing")
    }
}

extension StatePaths {
    fileprivate func image() throws(StateError) -> DatabaseImage {
        do throws(StoreError) {
            return try Store.image(path: database, limit: Backup.limit)
        } catch {
            throw StateError(.unusable, error.message)
        }
    }

    /// Whether this user may look into the directory at all, in words better than SQLite's.
    fileprivate func checkReadable() throws(StateError) {
        do throws(SocketError) {
            _ = try directoryEntries(directory)
        } catch {
            let isMissing = error.isMissing
            throw StateError(
                .unusable,
                isMissing
                    ? "there is no state directory \(directory). Name the service's with --state-dir"
                    : "\(error.message). Run this as root, or as the user latchkeyd runs as")
        }
    }
}
