// SPDX-License-Identifier: Apache-2.0

import Foundation
import Policy
import Sockets
import Testing
import Wire

@testable import Store

@Suite("Database file")
struct DatabaseFileTests {
    struct Damage: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let want: StoreError.Code
        let make: @Sendable (String) throws -> Void
    }

    static func edit(_ path: String, _ body: (inout [UInt8]) -> Void) throws {
        var bytes = try readFile(path)
        body(&bytes)
        try writeFileAtomically(path, bytes, mode: 0o600)
    }

    static func cut(to share: Double) -> @Sendable (String) throws -> Void {
        { path in try edit(path) { $0 = Array($0.prefix(Int(Double($0.count) * share))) } }
    }

    static let rows = [
        Damage(testDescription: "missing", want: .missing) { try removeFile($0) },
        Damage(testDescription: "no bytes", want: .empty) { try edit($0) { $0 = [] } },
        Damage(testDescription: "cut in the header", want: .corrupt) {
            try edit($0) { $0 = Array($0.prefix(60)) }
        },
        Damage(testDescription: "cut to a tenth", want: .corrupt, make: cut(to: 0.1)),
        Damage(testDescription: "cut in half", want: .corrupt, make: cut(to: 0.5)),
        Damage(testDescription: "last byte gone", want: .corrupt) { try edit($0) { $0.removeLast() } },
        Damage(testDescription: "text", want: .corrupt) {
            try edit($0) { $0 = Array(repeating: 0x41, count: 9000) }
        },
        Damage(testDescription: "zeros", want: .corrupt) {
            try edit($0) { $0 = Array(repeating: 0, count: 9000) }
        },
        Damage(testDescription: "another program's", want: .foreign) { try edit($0) { $0[68] = 0x11 } },
        Damage(testDescription: "tables but no mark", want: .foreign) { path in
            try edit(path) { $0.replaceSubrange(68..<72, with: [0, 0, 0, 0]) }
        },
        Damage(testDescription: "a later release's", want: .schemaTooNew) { try edit($0) { $0[63] = 200 } },
        Damage(testDescription: "root page overwritten", want: .corrupt) { path in
            try edit(path) { for place in 100..<400 { $0[place] = 0xA5 } }
        },
        Damage(testDescription: "an inner page overwritten", want: .corrupt) { path in
            try edit(path) { for place in 4096..<4196 { $0[place] = 0xA5 } }
        },
        Damage(testDescription: "open to the group", want: .loose) { _ = unsafe chmod($0, 0o640) },
        Damage(testDescription: "open to all", want: .loose) { _ = unsafe chmod($0, 0o604) },
        Damage(testDescription: "a directory", want: .unreadable) { path in
            try removeFile(path)
            try makeDirectory(path, mode: 0o700)
        },
        Damage(testDescription: "a link", want: .unreadable) { path in
            try renameFile(path, to: path + ".real")
            _ = unsafe symlink(path + ".real", path)
        },
    ]

    @Test("is refused, named, left alone, and the way out given", arguments: rows)
    func refused(_ row: Damage) throws {
        let folder = try TemporaryDirectory()
        let store = try Store(path: folder.database, create: true)
        try store.apply(.importDevices((0..<300).map { try device($0) }, clearTombstones: []))
        store.close()
        try row.make(folder.database)
        let before = try? readFile(folder.database)
        let error = try #require(
            failure { () throws(StoreError) in try Store(path: folder.database, create: false) })
        #expect(error.code == row.want, "\(error)")
        #expect(error.isUnusableFile)
        #expect(error.message.contains(folder.database))
        let wayOut = row.want == .loose ? "chmod 600" : "latchkeyd --new-identity"
        #expect(error.message.contains(wayOut), "\(error)")
        #expect((try? readFile(folder.database)) == before)
    }

    @Test("damage found beside loading stops the load and every commit")
    func checkedBeside() throws {
        let folder = try TemporaryDirectory()
        let store = try Store(path: folder.database, create: true)
        try store.apply(.importDevices((0..<300).map { try device($0) }, clearTombstones: []))
        store.close()
        let size = try readFile(folder.database).count
        // An inner page of an index, which loading does not read.
        try Self.edit(folder.database) { bytes in
            for place in size - 4096..<size - 3996 { bytes[place] = 0xA5 }
        }
        let damaged = try Store(path: folder.database, create: false, checksBeside: true)
        #expect(failure { () throws(StoreError) in try damaged.load() }?.code == .corrupt)
        #expect(failure { () throws(StoreError) in try damaged.apply(.auditOnly) }?.code == .corrupt)
        #expect(!damaged.checkHealth().isWritable)
    }

    @Test("another user's file is refused", .enabled(if: geteuid() == 0, "needs root to give a file away"))
    func otherOwner() throws {
        let folder = try TemporaryDirectory()
        try Store(path: folder.database, create: true).close()
        _ = unsafe chown(folder.database, 12345, 12345)
        let error = failure { () throws(StoreError) in try Store(path: folder.database, create: false) }
        #expect(error?.code == .loose)
        #expect(error?.message.contains("12345") == true)
    }

    @Test("a database of before a crash is read with its write-ahead log")
    func unfoldedLog() throws {
        let folder = try TemporaryDirectory()
        let store = try Store(path: folder.database, create: true)
        try store.apply(.pairDevice(device(1)))
        // As the disk is now, with the log not folded in: what kill -9 leaves.
        let copy = try TemporaryDirectory()
        for name in ["/latchkey.db", "/latchkey.db-wal"] {
            try createExclusive(copy.path + name, readFile(folder.path + name), mode: 0o600)
        }
        #expect(try Store(path: copy.database, create: false).load().devices == [device(1)])
    }

    @Test("a file that is there is never made again")
    func createOverExisting() throws {
        let folder = try TemporaryDirectory()
        try Store(path: folder.database, create: true).close()
        let error = failure { () throws(StoreError) in try Store(path: folder.database, create: true) }
        #expect(error?.code == .unreadable)
    }
}
