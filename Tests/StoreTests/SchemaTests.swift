// SPDX-License-Identifier: Apache-2.0

import Foundation
import Migrations
import Policy
import Sockets
import Testing
import Wire

@testable import Store

@Suite("Migrations")
struct SchemaTests {
    let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    /// What this release adds to the first version: the tests call it 1, and steps of releases to come begin at 2.
    static let shift = Int64(Migrations.all.count) - 1

    /// Steps of releases to come: each adds a table and changes rows of this one.
    static func later(_ versions: ClosedRange<Int64>, failing: Int64? = nil) -> [Migration] {
        Migrations.all
            + versions.map { version in
                Migration(
                    version: version + shift,
                    sql: """
                        CREATE TABLE later_\(version) (x INTEGER) STRICT;
                        UPDATE devices SET name = name || '+';
                        \(version == failing ? "INSERT INTO no_such_table VALUES (1);" : "")
                        """)
            }
    }

    private func makeFirstRelease() throws {
        let store = try Store(path: folder.database, steps: Migrations.all, create: true)
        try store.apply(.importDevices((0..<20).map { try device($0) }, clearTombstones: []))
        store.close()
    }

    private func kept(before step: Int64) -> String { "\(folder.database).before-\(step + Self.shift)" }

    private func version() throws -> Int64? {
        try Connection(path: folder.database, access: .readOnly).int("PRAGMA user_version").map {
            $0 - Self.shift
        }
    }

    @Test("steps are numbered from 1 without gaps")
    func numbered() {
        #expect(Migrations.all.map(\.version) == Array(1...Int64(Migrations.all.count)))
    }

    @Test("every earlier version comes to the newest with its rows", arguments: [1, 2, 3] as [Int64])
    func fromEarlier(_ start: Int64) throws {
        try makeFirstRelease()
        if start > 1 { try Store(path: folder.database, steps: Self.later(2...start)).close() }
        let store = try Store(path: folder.database, steps: Self.later(2...4))
        let devices = try store.load().devices
        #expect(devices.count == 20)
        #expect(devices.allSatisfy { $0.name.hasSuffix("+++") && !$0.name.hasSuffix("++++") })
        #expect(try version() == 4)
    }

    @Test("a copy from before is kept, whole and private; the last two stay")
    func copies() throws {
        try makeFirstRelease()
        for newest in [2, 3, 4] as [Int64] {
            var noted: [String] = []
            try Store(path: folder.database, steps: Self.later(2...newest), note: { noted.append($0) })
                .close()
            #expect(noted == [kept(before: newest)])
        }
        let copies = try directoryEntries(folder.path).filter { $0.contains("before") }
        #expect(copies.map { folder.path + "/" + $0 } == [kept(before: 3), kept(before: 4)])
        #expect(fileFacts(kept(before: 4))?.mode == 0o600)
        let old = try Store(path: kept(before: 3), steps: Self.later(2...2))
        #expect(try old.load().devices.allSatisfy { $0.name.hasSuffix("+") && !$0.name.hasSuffix("++") })
    }

    @Test("a new file and an up-to-date one keep no copy")
    func noCopy() throws {
        try makeFirstRelease()
        try Store(path: folder.database, create: false).close()
        #expect(try directoryEntries(folder.path) == ["latchkey.db"])
    }

    @Test("a step that fails midway changes nothing, and those before it stay")
    func failing() throws {
        try makeFirstRelease()
        let error = failure { () throws(StoreError) in
            try Store(path: folder.database, steps: Self.later(2...4, failing: 3))
        }
        #expect(error?.code == .migration)
        #expect(error?.message.contains(folder.database) == true)
        #expect(try version() == 2)
        let store = try Store(path: folder.database, steps: Self.later(2...2))
        #expect(try store.load().devices.allSatisfy { $0.name.hasSuffix("+") && !$0.name.hasSuffix("++") })
        let connection = try Connection(path: folder.database, access: .readOnly)
        #expect(try connection.int("SELECT count(*) FROM sqlite_schema WHERE name = 'later_3'") == 0)
    }

    @Test("a later release's file is refused byte for byte untouched, also with the news in its log")
    func newer() throws {
        try makeFirstRelease()
        try Store(path: folder.database, steps: Self.later(2...3)).close()
        let before = try readFile(folder.database)
        let error = failure { () throws(StoreError) in
            try Store(path: folder.database, steps: Self.later(2...2))
        }
        #expect(error?.code == .schemaTooNew)
        #expect(try readFile(folder.database) == before)
        #expect(
            try directoryEntries(folder.path).filter { $0.contains("before") }.map { folder.path + "/" + $0 }
                == [kept(before: 2)])

        let running = try Store(path: folder.database, steps: Self.later(2...4))
        let copy = try TemporaryDirectory()
        for name in ["/latchkey.db", "/latchkey.db-wal"] {
            try createExclusive(copy.path + name, readFile(folder.path + name), mode: 0o600)
        }
        running.close()
        let main = try readFile(copy.database)
        let log = try readFile(copy.database + "-wal")
        let again = failure { () throws(StoreError) in
            try Store(path: copy.database, steps: Self.later(2...3))
        }
        #expect(again?.code == .schemaTooNew)
        #expect(try readFile(copy.database) == main)
        #expect(try readFile(copy.database + "-wal") == log)
    }

    @Test(
        "the file refuses what the code would not write",
        arguments: [
            "INSERT INTO identity VALUES (2, zeroblob(32), zeroblob(32), 1)",
            "INSERT INTO identity VALUES (1, zeroblob(31), zeroblob(32), 1)",
            "INSERT INTO identity VALUES (1, zeroblob(32), zeroblob(16), 1)",
            "INSERT INTO devices VALUES (zeroblob(5), 'x', 'x', NULL, 1, 'qr', NULL, NULL, NULL)",
            "INSERT INTO devices VALUES (zeroblob(32), 'x', 'x', NULL, 1, '', NULL, NULL, NULL)",
            "INSERT INTO devices VALUES (zeroblob(32), 'x', 'x', NULL, 'now', 'qr', NULL, NULL, NULL)",
            "INSERT INTO tombstones VALUES (zeroblob(31), 1, 'x')",
            "INSERT INTO settings VALUES ('', 'x')",
            "INSERT INTO audit (at, actor, action, outcome) VALUES (1, '', 'x', 'ok')",
        ])
    func checks(_ sql: String) throws {
        try makeFirstRelease()
        let connection = try Connection(path: folder.database, access: .readWrite)
        #expect(failure { () throws(StoreError) in try connection.runScript(sql) }?.code == .constraint)
    }
}
