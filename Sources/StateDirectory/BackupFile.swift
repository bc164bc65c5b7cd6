// SPDX-License-Identifier: Apache-2.0

internal import CryptoEngine
internal import Wire

/// A backup as a file, sealed with a passphrase. Version 1, numbers big-endian:
///
/// ```
/// "LKBACKUP" | 1: version | 16: salt | 12: nonce | sealed: 4: length, about (JSON) | 4: length, key | database | 16: tag
/// ```
///
/// The sealing key is PBKDF2-HMAC-SHA256 of the passphrase, 600,000 rounds; AES-256-GCM seals, and proves the readable
/// beginning too. The version stands for all of this: another way of doing any of it gets the next one.
package enum BackupFile {
    private static let magic = Array("LKBACKUP".utf8)
    private static let version: UInt8 = 1
    private static let rounds = 600_000
    private static let saltSize = 16
    private static let headSize = magic.count + 1 + saltSize + Seal.nonceSize

    /// The bytes of a file. Takes as long as a passphrase should cost to try.
    package static func close(_ backup: Backup, passphrase: [UInt8]) throws(StateError) -> [UInt8] {
        do throws(CryptoError) {
            let salt = try Entropy.bytes(saltSize)
            let nonce = try Entropy.bytes(Seal.nonceSize)
            let about = about(backup)
            var bytes = magic + [version] + salt + nonce
            bytes.reserveCapacity(
                headSize + 8 + about.count + backup.key.count + backup.database.count + Seal.tagSize)
            for part in [about, backup.key] {
                let size = UInt32(part.count)
                bytes += (0..<4).map { UInt8(truncatingIfNeeded: size >> (24 - 8 * $0)) }
                bytes += part
            }
            bytes += backup.database
            try Seal.close(&bytes, after: headSize, key: sealingKey(passphrase, salt), nonce: nonce)
            return bytes
        } catch {
            throw StateError(error)
        }
    }

    /// Reads a file; `name` is what messages call it. Throws when it is no backup, of a later release, or does not open.
    package static func open(
        _ bytes: consuming [UInt8], passphrase: [UInt8], name: String
    ) throws(StateError) -> Backup {
        var bytes = bytes
        guard bytes.starts(with: magic), bytes.count > magic.count else {
            throw StateError(.unusable, "\(name) is not a backup that latchkey backup made")
        }
        guard bytes[magic.count] == version else {
            throw StateError(
                .unusable,
                "\(name) was made by a later Latchkey (format \(bytes[magic.count]); this one knows \(version)). "
                    + "Install that version to restore it")
        }
        let damaged = StateError(
            .unusable, "the passphrase is not the one \(name) was made with, or the file is damaged")
        guard bytes.count >= headSize + Seal.tagSize else { throw damaged }
        let salt = Array(bytes[magic.count + 1..<magic.count + 1 + saltSize])
        let nonce = Array(bytes[headSize - Seal.nonceSize..<headSize])
        let isOpen: Bool
        do throws(CryptoError) {
            let key = try sealingKey(passphrase, salt)
            isOpen = try Seal.open(&bytes, after: headSize, key: key, nonce: nonce)
        } catch {
            throw StateError(error)
        }
        guard isOpen, let backup = parse(bytes[headSize...]) else { throw damaged }
        return backup
    }

    private static func sealingKey(_ passphrase: [UInt8], _ salt: [UInt8]) throws(CryptoError) -> [UInt8] {
        try Digest.pbkdf2SHA256(
            password: passphrase, salt: salt, rounds: rounds, length: Seal.keySize)
    }

    private static func about(_ backup: Backup) -> [UInt8] {
        var about = JSONWriter(capacity: 128)
        about.object { about in
            about.field("hostID", backup.host.text)
            about.field("madeAt", backup.madeAt.rfc3339)
            about.field("devices", backup.devices)
            about.field("version", backup.version)
        }
        return about.bytes
    }

    /// nil when it does not hold what ``about(_:)`` wrote, or a key that is none.
    private static func parse(_ sealed: ArraySlice<UInt8>) -> Backup? {
        var rest = sealed
        func next() -> [UInt8]? {
            guard rest.count >= 4 else { return nil }
            let size = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(4)
            guard rest.count >= size else { return nil }
            defer { rest = rest.dropFirst(size) }
            return Array(rest.prefix(size))
        }
        guard let text = next(), let pem = next(), let about = try? JSON.parse(text),
            let host = about["hostID"]?.string.flatMap({ SillID($0) }),
            let madeAt = about["madeAt"]?.string.flatMap({ WallTime(rfc3339: $0) }),
            let devices = about["devices"]?.int, let version = about["version"]?.string,
            let key = try? HostKey(pkcs8PEM: pem), key.fingerprint.id == host
        else { return nil }
        return Backup(
            host: host, madeAt: madeAt, devices: devices, version: version, key: pem, database: Array(rest))
    }
}
