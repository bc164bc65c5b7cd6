// SPDX-License-Identifier: Apache-2.0

import CryptoEngine
import Policy
import Sockets
import Store
import Synchronization
import Testing
import Wire

@testable import StateDirectory

@Suite("First start")
struct FirstStartTests {
    let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    @Test("makes everything, closed to others, and comes back the same")
    func first() throws {
        let opened = try folder.open()
        #expect(opened.devices.isEmpty && opened.tombstones.isEmpty && opened.settings == Settings())
        let recognition = opened.directory.identity.current.recognitionKey.copy
        let admin = try #require(opened.directory.adminToken?.copy)
        let host = try #require(opened.directory.hostToken?.copy)
        #expect(recognition.count == 32 && admin.count == 43 && host.count == 43 && admin != host)
        #expect(opened.directory.identity.current.createdAt == TemporaryDirectory.now)
        #expect(fileFacts(folder.state.directory)?.mode == 0o700)
        for name in try directoryEntries(folder.state.directory) {
            #expect(fileFacts(folder.state.directory + "/" + name)?.mode == 0o600, "\(name)")
        }
        #expect(try readFile(folder.state.adminToken) == admin + [10])
        #expect(try opened.directory.store.audit().items.map(\.row.action) == ["identity.create"])
        opened.directory.close()
    }

    private struct Facts: Equatable {
        var key: Fingerprint
        var recognition: [UInt8]
        var admin: [UInt8]?
        var host: [UInt8]?
    }

    private func facts() throws -> Facts {
        let opened = try folder.open()
        let directory = opened.directory
        defer { directory.close() }
        return Facts(
            key: directory.identity.current.key.fingerprint,
            recognition: directory.identity.current.recognitionKey.copy,
            admin: directory.adminToken?.copy, host: directory.hostToken?.copy)
    }

    @Test("a later start finds the same key, recognition key and tokens")
    func again() throws {
        let first = try facts()
        #expect(try facts() == first)
        #expect(
            try directoryEntries(folder.state.directory)
                == ["admin.token", "host-key.pem", "host.token", "latchkey.db", "latchkey.lock"])
    }

    @Test(
        "stopping after any step, as kill -9 would, is mended by the next start",
        arguments: FirstStartStep.allCases)
    func stopped(_ step: FirstStartStep) throws {
        try makeDirectory(folder.state.directory, mode: 0o700)
        var files = IdentityFiles(
            paths: folder.state, now: TemporaryDirectory.now, mayBegin: true, note: { _ in })
        let crashed = try TemporaryDirectory()
        var made: Fingerprint?
        files.afterStep = { done throws(StateError) in
            guard done == step else { return }
            do {
                try copyFiles(from: folder.state.directory, to: crashed.state.directory)
                made = try (KeyFile.read(folder.state.newKey) ?? KeyFile.read(folder.state.key))?.fingerprint
            } catch {
                Issue.record(error)
            }
            throw StateError(.cannotCreate, "stopped")
        }
        #expect(failure { () throws(StateError) in try files.open() }?.message == "stopped")

        let opened = try crashed.open()
        let isCommitted = step == .identityCommitted || step == .keyRenamed
        #expect((opened.directory.identity.current.key.fingerprint == made) == isCommitted)
        #expect(
            try opened.directory.store.identity()?.fingerprint
                == opened.directory.identity.current.key.fingerprint)
        opened.directory.close()
        #expect(fileFacts(crashed.state.newKey) == nil)
        let later = try crashed.open()
        #expect(
            later.directory.identity.current.key.fingerprint
                == opened.directory.identity.current.key.fingerprint)
    }

    @Test("a new key cut short by a crash is made again")
    func partialKey() throws {
        try makeDirectory(folder.state.directory, mode: 0o700)
        try createExclusive(folder.state.newKey, Array("-----BEGIN PRIV".utf8), mode: 0o600)
        #expect(try folder.open().directory.identity.current.key.point.count == 65)
    }

    @Test("the key that the database names in `.new` takes its place, whatever stands there")
    func rotation() throws {
        try folder.prepare()
        let key = try readFile(folder.state.key)
        let other = try HostKey.generate().pkcs8PEM()
        for old in [other, Array("damaged".utf8)] {
            try removeFile(folder.state.key)
            try createExclusive(folder.state.newKey, key, mode: 0o600)
            try createExclusive(folder.state.key, old, mode: 0o600)
            let opened = try folder.open()
            opened.directory.close()
            #expect(try readFile(folder.state.key) == key)
            #expect(fileFacts(folder.state.newKey) == nil)
        }
    }

    @Test("a `.new` that the database does not name goes")
    func unnamedNewKey() throws {
        try folder.prepare()
        let key = try readFile(folder.state.key)
        try createExclusive(folder.state.newKey, HostKey.generate().pkcs8PEM(), mode: 0o600)
        try folder.open().directory.close()
        #expect(try readFile(folder.state.key) == key)
        #expect(fileFacts(folder.state.newKey) == nil)
    }

    @Test("--new-identity gives a fresh key and keeps the old one", arguments: [false, true])
    func newIdentityAfterDamage(_ isDamaged: Bool) throws {
        try folder.prepare()
        let key = try readFile(folder.state.key)
        let token = try readFile(folder.state.adminToken)
        if isDamaged { try writeFileAtomically(folder.state.database, [1, 2, 3], mode: 0o600) }
        let notes = Mutex<[String]>([])
        let opened = try folder.open(newIdentity: true, note: { text in notes.withLock { $0.append(text) } })
        opened.directory.close()
        #expect(opened.devices.isEmpty)
        #expect(try readFile(folder.state.key) != key)
        #expect(try readFile(folder.state.adminToken) == token)
        let aside = folder.state.directory + "/identity-until-20261130T071413123"
        #expect(try readFile(aside + "/host-key.pem") == key)
        #expect(try directoryEntries(aside) == ["host-key.pem", "latchkey.db"])
        #expect(notes.withLock { $0.contains { $0.contains(aside) } })
    }

    @Test("--new-identity where there is nothing is a first start")
    func newIdentityOfNothing() throws {
        try folder.open(newIdentity: true).directory.close()
        #expect(try directoryEntries(folder.state.directory).filter { $0.contains("until") }.isEmpty)
    }
}
