// SPDX-License-Identifier: Apache-2.0

import Foundation
import Sockets
import Testing

@Suite("Files")
struct FilesTests {
    @Test("an exclusive file is made once, with its mode whatever the umask")
    func exclusive() throws {
        let scratch = try ScratchDirectory()
        let path = scratch.path + "/key"
        try createExclusive(path, [1, 2], mode: 0o600)
        #expect(try readFile(path) == [1, 2])
        let facts = try #require(fileFacts(path))
        #expect(facts.mode == 0o600 && facts.size == 2 && facts.isRegular && !facts.isOpenToOthers)
        #expect(facts.uid == geteuid())
        #expect { try createExclusive(path, [3], mode: 0o600) } throws: {
            ($0 as? SocketError)?.isPresent == true
        }
        #expect(try readFile(path) == [1, 2])
    }

    @Test("a replaced file has the new bytes and mode, and nothing is left beside it")
    func replacing() throws {
        let scratch = try ScratchDirectory()
        let path = scratch.path + "/endpoints.json"
        try writeFileAtomically(path, [UInt8](repeating: 1, count: 100_000), mode: 0o644)
        try writeFileAtomically(path, [2], mode: 0o640)
        #expect(try readFile(path) == [2])
        #expect(fileFacts(path)?.mode == 0o640)
        #expect(try directoryEntries(scratch.path) == ["endpoints.json"])
        #expect(throws: SocketError.self) {
            try writeFileAtomically(scratch.path + "/none/x", [1], mode: 0o600)
        }
    }

    @Test("a file over the limit is refused, one at the limit is read")
    func limit() throws {
        let scratch = try ScratchDirectory()
        let path = scratch.path + "/f"
        try createExclusive(path, [UInt8](repeating: 7, count: 20_000), mode: 0o600)
        #expect(try readFile(path, limit: 20_000).count == 20_000)
        #expect(throws: SocketError.self) { _ = try readFile(path, limit: 19_999) }
        #expect { _ = try readFile(path + "x") } throws: { ($0 as? SocketError)?.isMissing == true }
    }

    @Test("directories are made with those above them; the last one gets the mode")
    func directories() throws {
        let scratch = try ScratchDirectory()
        let path = scratch.path + "/a/b"
        try makeDirectory(path, mode: 0o700)
        #expect(fileFacts(path)?.mode == 0o700)
        try makeDirectory(path, mode: 0o750)
        #expect(fileFacts(path)?.mode == 0o750)
        try createExclusive(scratch.path + "/plain", [], mode: 0o600)
        #expect(throws: SocketError.self) { try makeDirectory(scratch.path + "/plain", mode: 0o700) }
    }

    @Test("removing and renaming")
    func removing() throws {
        let scratch = try ScratchDirectory()
        try createExclusive(scratch.path + "/a", [1], mode: 0o600)
        try renameFile(scratch.path + "/a", to: scratch.path + "/b")
        try fsyncDirectory(scratch.path)
        #expect(try directoryEntries(scratch.path) == ["b"])
        try removeFile(scratch.path + "/b")
        try removeFile(scratch.path + "/b")
        #expect(try directoryEntries(scratch.path) == [])
    }

    @Test(
        "the directory part of a path",
        arguments: [("/a/b", "/a"), ("/a", "/"), ("a", "."), ("a/b/c", "a/b")])
    func directoryPart(path: String, want: String) { #expect(directory(of: path) == want) }

    @Test("a lock is held once, names its holder, and is free again after it ends")
    func locking() throws {
        let scratch = try ScratchDirectory()
        let path = scratch.path + "/lock"
        do {
            let held = try FileLock(path: path)
            #expect {
                _ = try FileLock(path: path)
            } throws: {
                guard case FileLock.Failure.held(let pid) = $0 else { return false }
                return pid == getpid()
            }
            _ = consume held
        }
        _ = try FileLock(path: path)
        #expect(throws: FileLock.Failure.self) { _ = try FileLock(path: scratch.path + "/none/lock") }
    }
}
