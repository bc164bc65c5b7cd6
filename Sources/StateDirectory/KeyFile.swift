// SPDX-License-Identifier: Apache-2.0

internal import CryptoEngine
internal import Sockets

/// The host key as a file (spec 09 point 14).
enum KeyFile {
    /// More than any P-256 key with comments takes.
    private static let limit = 16 * 1024

    /// The key in a file; nil when the file is not there. Throws `unusable` when it is loose, damaged or not P-256.
    static func read(_ path: String) throws(StateError) -> HostKey? {
        let found = try PrivateFile.read(
            path, what: "the host key", limit: limit, wayOut: WayOut.restoreOrStartAnew(directory(of: path)))
        guard let bytes = found else { return nil }
        do throws(CryptoError) {
            return try HostKey(pkcs8PEM: bytes)
        } catch {
            let what =
                error.code == .notP256 ? "is not a P-256 key" : "is damaged or not an unencrypted PKCS#8 key"
            throw StateError(
                .unusable, "the host key \(path) \(what). \(WayOut.restoreOrStartAnew(directory(of: path)))")
        }
    }

    /// The key in a file with the file's bytes, whoever owns it; nil when there is none or it cannot be read.
    static func peek(_ path: String) -> (pem: [UInt8], key: HostKey)? {
        guard fileFacts(path)?.isRegular == true, let pem = try? readFile(path, limit: limit),
            let key = try? HostKey(pkcs8PEM: pem)
        else { return nil }
        return (pem, key)
    }

    /// Makes a key and its file, synced, 0600.
    static func make(_ path: String, in directory: String) throws(StateError) -> HostKey {
        let key: HostKey
        let bytes: [UInt8]
        do throws(CryptoError) {
            key = try HostKey.generate()
            bytes = try key.pkcs8PEM()
        } catch {
            throw StateError(error)
        }
        do throws(SocketError) {
            try createExclusive(path, bytes, mode: 0o600)
            try fsyncDirectory(directory)
        } catch {
            throw StateError(making: error)
        }
        return key
    }
}
