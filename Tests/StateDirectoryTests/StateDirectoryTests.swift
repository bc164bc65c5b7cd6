// SPDX-License-Identifier: Apache-2.0

import Core
import CryptoEngine
import Foundation
import Policy
import Sockets
import Store
import Testing
import Wire

@testable import StateDirectory

@Suite("State directory")
struct StateDirectoryTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        /// A file the message must name.
        let names: String
        /// Words the message must hold: the way out.
        let wayOut: String
        let make: @Sendable (StatePaths) throws -> Void
    }

    static func replace(_ path: String, _ bytes: [UInt8]) throws {
        try removeFile(path)
        try createExclusive(path, bytes, mode: 0o600)
    }

    static let anew = "latchkeyd --new-identity"
    static let rows: [Row] = [
        Row(testDescription: "key open to the group", names: "host-key.pem", wayOut: "chmod 600") {
            _ = unsafe chmod($0.key, 0o640)
        },
        Row(testDescription: "key open to all", names: "host-key.pem", wayOut: "chmod 600") {
            _ = unsafe chmod($0.key, 0o644)
        },
        Row(testDescription: "key executable by others", names: "host-key.pem", wayOut: "chmod 600") {
            _ = unsafe chmod($0.key, 0o601)
        },
        Row(testDescription: "key a link", names: "host-key.pem", wayOut: anew) { paths in
            try renameFile(paths.key, to: paths.key + ".real")
            _ = unsafe symlink(paths.key + ".real", paths.key)
        },
        Row(testDescription: "key damaged", names: "host-key.pem", wayOut: anew) {
            try replace($0.key, Array("-----BEGIN PRIVATE KEY-----\nAAAA\n".utf8))
        },
        Row(testDescription: "key empty", names: "host-key.pem", wayOut: anew) { try replace($0.key, []) },
        Row(testDescription: "key of another curve", names: "host-key.pem", wayOut: anew) {
            try replace($0.key, Array(p384.utf8))
        },
        Row(testDescription: "another key", names: "latchkey.db", wayOut: anew) {
            try replace($0.key, HostKey.generate().pkcs8PEM())
        },
        Row(testDescription: "key missing", names: "host-key.pem", wayOut: anew) { try removeFile($0.key) },
        Row(testDescription: "key missing, a new one beside it", names: "host-key.pem", wayOut: anew) {
            try removeFile($0.key)
            try createExclusive($0.newKey, HostKey.generate().pkcs8PEM(), mode: 0o600)
        },
        Row(testDescription: "database missing", names: "latchkey.db", wayOut: anew) {
            try removeFile($0.database)
        },
        Row(testDescription: "database missing, a new key beside", names: "latchkey.db", wayOut: anew) {
            try removeFile($0.database)
            try createExclusive($0.newKey, HostKey.generate().pkcs8PEM(), mode: 0o600)
        },
        Row(testDescription: "database empty", names: "latchkey.db", wayOut: anew) {
            try replace($0.database, [])
        },
        Row(testDescription: "database empty, key missing", names: "latchkey.db", wayOut: anew) {
            try replace($0.database, [])
            try removeFile($0.key)
        },
        Row(testDescription: "database cut", names: "latchkey.db", wayOut: anew) {
            try replace($0.database, Array(readFile($0.database).dropLast(5000)))
        },
        Row(
            testDescription: "the last page of the database overwritten", names: "latchkey.db",
            wayOut: anew
        ) {
            let bytes = try readFile($0.database)
            try replace($0.database, bytes.dropLast(4096) + [UInt8](repeating: 0xA5, count: 4096))
        },
        Row(testDescription: "database not one", names: "latchkey.db", wayOut: anew) {
            try replace($0.database, Array(repeating: 7, count: 4096))
        },
        Row(testDescription: "database newer", names: "latchkey.db", wayOut: "Install that version") {
            paths in
            var bytes = try readFile(paths.database)
            bytes[63] = 99
            try replace(paths.database, bytes)
        },
        Row(testDescription: "database open to the group", names: "latchkey.db", wayOut: "chmod 600") {
            _ = unsafe chmod($0.database, 0o660)
        },
        Row(testDescription: "admin token open", names: "admin.token", wayOut: "chmod 600") {
            _ = unsafe chmod($0.adminToken, 0o644)
        },
        Row(testDescription: "host token open", names: "host.token", wayOut: "chmod 600") {
            _ = unsafe chmod($0.hostToken, 0o640)
        },
        Row(testDescription: "token empty", names: "admin.token", wayOut: "Remove it") {
            try replace($0.adminToken, [])
        },
        Row(testDescription: "token short", names: "host.token", wayOut: "Remove it") {
            try replace($0.hostToken, Array("aGVsbG8\n".utf8))
        },
        Row(testDescription: "token with more behind it", names: "host.token", wayOut: "Remove it") {
            try replace($0.hostToken, readFile($0.hostToken) + Array("x\n".utf8))
        },
    ]

    let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    @Test("what cannot be used ends with 78, named, with the way out, and nothing changed", arguments: rows)
    func unusable(_ row: Row) throws {
        try folder.prepare()
        try row.make(folder.state)
        let before = try folder.contents()
        let error = try #require(failure { () throws(StateError) in try folder.open() })
        #expect(error.exitCode == .unusable && error.exitCode.rawValue == 78)
        #expect(error.message.contains(folder.state.directory + "/" + row.names), "\(error)")
        #expect(error.message.contains(row.wayOut), "\(error)")
        if row.wayOut == Self.anew {
            // The way back stands beside the way on, as a line to type.
            #expect(
                error.message.contains("latchkey restore --state-dir \(folder.state.directory) FILE"),
                "\(error)")
        }
        #expect(try folder.contents() == before)
    }

    @Test(
        "a key of another user's is refused", .enabled(if: geteuid() == 0, "needs root to give a file away"))
    func otherOwner() throws {
        try folder.prepare()
        _ = unsafe chown(folder.state.key, 12345, 12345)
        let error = failure { () throws(StateError) in try folder.open() }
        #expect(error?.exitCode == .unusable)
        #expect(error?.message.contains("chown") == true)
    }

    @Test("a second one is told who holds the directory")
    func held() throws {
        let first = try folder.open()
        let error = try #require(failure { () throws(StateError) in try folder.open() })
        #expect(error.exitCode == .held && error.exitCode.rawValue == 75)
        #expect(
            error.message.contains("process \(getpid())") && error.message.contains(folder.state.directory))
        let fromCLI = failure { () throws(StateError) in
            try StateDirectory.open(
                path: folder.state.directory, for: .commandLine, now: TemporaryDirectory.now)
        }
        #expect(fromCLI?.exitCode == .held)
        first.directory.close()
    }

    @Test("a directory that cannot be made ends with 73")
    func cannotMake() throws {
        try createExclusive(folder.path + "/file", [], mode: 0o600)
        let error = try #require(
            failure { () throws(StateError) in
                try StateDirectory.open(
                    path: folder.path + "/file/state", for: .service(newIdentity: false),
                    now: TemporaryDirectory.now)
            })
        #expect(error.exitCode == .cannotCreate && error.exitCode.rawValue == 73)
        #expect(error.message.contains("--state-dir"))
    }

    @Test(
        "a read-only directory ends with 73",
        .enabled(if: ReadOnlyDisk.isPossible, "needs root to mount a tmpfs"))
    func readOnly() throws {
        let disk = try ReadOnlyDisk()
        defer { disk.unmount() }
        let error = try #require(
            failure { () throws(StateError) in
                try StateDirectory.open(
                    path: disk.path, for: .service(newIdentity: false), now: TemporaryDirectory.now)
            })
        #expect(error.exitCode == .cannotCreate)
        #expect(error.message.contains("Read-only file system"))
    }

    @Test(
        "an open directory of ours is closed; one of others' things is refused",
        arguments: [0o755, 0o777, 0o710])
    func looseDirectory(_ mode: mode_t) throws {
        try makeDirectory(folder.state.directory, mode: UInt32(mode))
        try folder.open().directory.close()
        #expect(fileFacts(folder.state.directory)?.mode == 0o700)
        _ = unsafe chmod(folder.state.directory, mode)
        try folder.open().directory.close()
        #expect(fileFacts(folder.state.directory)?.mode == 0o700)

        _ = unsafe chmod(folder.path, mode)
        let error = failure { () throws(StateError) in
            try StateDirectory.open(
                path: folder.path, for: .service(newIdentity: false), now: TemporaryDirectory.now)
        }
        #expect(error?.exitCode == .unusable)
        #expect(fileFacts(folder.path)?.mode == UInt32(mode))
    }

    @Test("the command line makes neither directory, identity nor tokens")
    func commandLine() throws {
        func openFromCLI() -> StateError? {
            failure { () throws(StateError) in
                try StateDirectory.open(
                    path: folder.state.directory, for: .commandLine, now: TemporaryDirectory.now
                )
                .directory.close()
            }
        }
        #expect(openFromCLI()?.exitCode == .unusable)
        #expect(fileFacts(folder.state.directory) == nil)
        try makeDirectory(folder.state.directory, mode: 0o700)
        #expect(openFromCLI()?.message.contains("first start") == true)
        #expect(fileFacts(folder.state.key) == nil && fileFacts(folder.state.database) == nil)
        try folder.prepare()
        try removeFile(folder.state.adminToken)
        #expect(openFromCLI() == nil)
        #expect(fileFacts(folder.state.adminToken) == nil)
    }

    @Test(
        "a path may end in slashes; the root does not vanish",
        arguments: [
            ("/a/b", "/a/b"), ("/a/b//", "/a/b"), ("/", "/"), ("rel/", "rel"),
        ])
    func paths(_ row: (String, String)) { #expect(StatePaths(row.0).directory == row.1) }
}

/// An empty tmpfs that is mounted read-only.
struct ReadOnlyDisk {
    let folder: TemporaryDirectory
    var path: String { folder.path }
    struct NotMounted: Error {}

    static let isPossible: Bool = {
        guard geteuid() == 0, let disk = try? ReadOnlyDisk() else { return false }
        disk.unmount()
        return true
    }()

    init() throws {
        folder = try TemporaryDirectory()
        guard Self.run("mount -t tmpfs -o ro,mode=0700 tmpfs \(folder.path)") else {
            throw NotMounted()
        }
    }

    func unmount() { _ = Self.run("umount -l \(path)") }

    /// By the C library: Foundation's `Process` may miss the end of a child that starts beside another.
    private static func run(_ command: String) -> Bool { unsafe system(command + " 2>/dev/null") == 0 }
}
