// SPDX-License-Identifier: Apache-2.0

import Core
import CryptoEngine
import Policy
import Sockets
import Store
import Synchronization
import Testing
import Wire

@testable import StateDirectory

@Suite("Backup")
struct BackupTests {
    let folder: TemporaryDirectory
    static let passphrase = Array("correct horse".utf8)

    init() throws { folder = try TemporaryDirectory() }

    static func device(_ number: UInt8) throws -> DeviceRecord {
        DeviceRecord(
            fingerprint: try #require(Fingerprint(bytes: [number] + [UInt8](repeating: 3, count: 31))),
            name: "Device \(number)", pairedAt: TemporaryDirectory.now, pairedHow: "qr")
    }

    private func take(_ paths: StatePaths) throws(StateError) -> Backup {
        try Backup.take(from: paths.directory, now: TemporaryDirectory.now, version: "1.2.3")
    }

    @Test("what is sealed comes back; nothing of it can be read without the passphrase")
    func roundTrip() throws {
        let opened = try folder.open()
        _ = opened.directory.committer.commitNow(
            StoreCommit(change: .pairDevice(try Self.device(1)), audit: []))
        // The service is there, and its last commit is still in the log alone.
        let backup = try take(folder.state)
        let host = opened.directory.identity.current.key.fingerprint.id
        #expect(backup.host == host && backup.devices == 1 && backup.version == "1.2.3")
        let sealed = try BackupFile.close(backup, passphrase: Self.passphrase)
        #expect(sealed.starts(with: Array("LKBACKUP".utf8) + [1]))
        for secret in ["PRIVATE KEY", "SQLite format", "Device 1", host.text] {
            #expect(!contains(sealed, Array(secret.utf8)), "\(secret)")
        }
        #expect(try BackupFile.close(backup, passphrase: Self.passphrase) != sealed)
        let back = try BackupFile.open(sealed, passphrase: Self.passphrase, name: "f")
        #expect(back.host == host && back.madeAt == backup.madeAt && back.devices == 1)
        #expect(back.key == backup.key && back.database == backup.database && back.version == "1.2.3")
        #expect(!"\(back)".contains("PRIVATE"))
        // Taking it changed nothing, and left nothing.
        opened.directory.close()
        #expect(
            try directoryEntries(folder.state.directory)
                == ["admin.token", "host-key.pem", "host.token", "latchkey.db", "latchkey.lock"])
        let before = try folder.contents()
        _ = try take(folder.state)
        #expect(try folder.contents() == before)
    }

    struct Bad: Sendable {
        let words: String
        let change: @Sendable ([UInt8]) -> [UInt8]
    }

    @Test(
        "a file that is none, cut, changed or of a later release opens nothing and says why",
        arguments: [
            Bad(words: "is not a backup") { _ in [] },
            Bad(words: "is not a backup") { _ in Array("LKBACKUP".utf8) },
            Bad(words: "is not a backup") { [0] + $0.dropFirst() },
            Bad(words: "later Latchkey (format 2") { $0.prefix(8) + [2] + $0.dropFirst(9) },
            Bad(words: "or the file is damaged") { Array($0.prefix(9)) },
            Bad(words: "or the file is damaged") { Array($0.prefix(52)) },
            Bad(words: "or the file is damaged") { Array($0.dropLast()) },
            Bad(words: "or the file is damaged") { $0 + [0] },
            Bad(words: "or the file is damaged") { $0.prefix(9) + [$0[9] ^ 1] + $0.dropFirst(10) },
            Bad(words: "or the file is damaged") { $0.prefix(36) + [$0[36] ^ 1] + $0.dropFirst(37) },
            Bad(words: "or the file is damaged") { $0.prefix(5_000) + [$0[5_000] ^ 1] + $0.dropFirst(5_001) },
        ])
    func bad(_ row: Bad) throws {
        try folder.prepare()
        let sealed = try BackupFile.close(take(folder.state), passphrase: Self.passphrase)
        let error = failure { () throws(StateError) in
            try BackupFile.open(row.change(sealed), passphrase: Self.passphrase, name: "host.latchkey")
        }
        #expect(
            error?.message.contains(row.words) == true && error?.message.contains("host.latchkey") == true)
    }

    @Test("another passphrase", arguments: ["", "correct hors", "Correct horse", "correct horse "])
    func wrongPassphrase(_ passphrase: String) throws {
        try folder.prepare()
        let sealed = try BackupFile.close(take(folder.state), passphrase: Self.passphrase)
        let error = failure { () throws(StateError) in
            try BackupFile.open(sealed, passphrase: Array(passphrase.utf8), name: "f")
        }
        #expect(error?.message.hasPrefix("the passphrase is not the one f was made with") == true)
    }

    @Test("a store that is damaged, missing or without its key gives no backup")
    func unusable() throws {
        for (words, change) in [
            ("is missing", { try removeFile($0.database) }),
            ("which is not in", { try removeFile($0.key) }),
            (
                "which is not in",
                { try writeFileAtomically($0.key, HostKey.generate().pkcs8PEM(), mode: 0o600) }
            ),
            (
                "is damaged",
                { try writeFileAtomically($0.database, Array(repeating: 7, count: 4096), mode: 0o600) }
            ),
            ("there is no state directory", { try renameFile($0.directory, to: $0.directory + "-gone") }),
        ] as [(String, (StatePaths) throws -> Void)] {
            let folder = try TemporaryDirectory()
            try folder.prepare()
            try change(folder.state)
            let error = failure { () throws(StateError) in try take(folder.state) }
            #expect(error?.message.contains(words) == true, "\(words): \(error?.message ?? "no error")")
        }
    }

    @Test("a key that still has its new name is the one, while the database names it")
    func rotated() throws {
        try folder.prepare()
        try renameFile(folder.state.key, to: folder.state.newKey)
        try createExclusive(folder.state.key, HostKey.generate().pkcs8PEM(), mode: 0o600)
        let backup = try take(folder.state)
        #expect(try backup.key == readFile(folder.state.newKey))
    }

    @Test("taken again and again while the service pairs devices, each is whole")
    func beside() throws {
        let opened = try folder.open()
        let committer = opened.directory.committer
        let last = Answer()
        for number in 1...200 as ClosedRange<UInt8> {
            committer.commit(StoreCommit(change: .pairDevice(try Self.device(number)), audit: [])) {
                if number == 200 { last.note($0) }
            }
        }
        var counts: [Int] = []
        repeat { counts.append(try take(folder.state).devices) } while (counts.last ?? 200) < 200
        #expect(last.wait() == .committed)
        #expect(counts == counts.sorted())
        opened.directory.close()
        let found = try folder.open()
        defer { found.directory.close() }
        #expect(found.devices.count == 200)
    }

    private func contains(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
        bytes.indices.dropLast(part.count - 1).contains {
            bytes[$0] == part[0] && bytes[$0...].starts(with: part)
        }
    }
}
