// SPDX-License-Identifier: Apache-2.0

import Core
import CryptoEngine
import Dispatch
import Policy
import Sockets
import Store
import Synchronization
import Testing
import Wire

@testable import StateDirectory

@Suite("Require pairing, signed")
struct RequirePairingTests {
    static let key = Result { try HostKey.generate() }
    static let other = Result { try HostKey.generate() }

    @Test(
        "everything but this key's signature means on",
        arguments: [
            "1", "0", "", "off", "0.", "0.AAAA", "0.!", "00.x", "true",
        ])
    func on(_ stored: String) throws {
        #expect(try !RequirePairing.isOff(stored, key: Self.key.get()))
    }

    @Test("missing means on")
    func missing() throws { #expect(try !RequirePairing.isOff(nil, key: Self.key.get())) }

    @Test("a signature counts for its own key and host alone")
    func signed() throws {
        let key = try Self.key.get()
        let text = try RequirePairing.text(false, key: key)
        #expect(RequirePairing.isOff(text, key: key))
        #expect(try !RequirePairing.isOff(text, key: Self.other.get()))
        #expect(try !RequirePairing.isOff(RequirePairing.text(false, key: Self.other.get()), key: key))
        #expect(!RequirePairing.isOff(text + "AA", key: key))
        #expect(!RequirePairing.isOff("0" + text, key: key))
        #expect(!RequirePairing.isOff("1." + text.dropFirst(2), key: key))
        #expect(try RequirePairing.text(true, key: key) == "1")
        // The bytes under the signature are the spec's (03 section 4.2).
        let statement = Array("sill-require-pairing-off-v1\n".utf8) + Array(key.fingerprint.id.text.utf8)
        let signature = try #require(Base64URL.decode(String(text.dropFirst(2))))
        #expect(try PublicKey(point: key.point).verify(signature: signature, of: statement))
    }

    @Test("turned off through the committer, it is off after a restart; an edited store is not")
    func throughStore() throws {
        let folder = try TemporaryDirectory()
        let opened = try folder.open()
        #expect(opened.settings.requirePairing)
        let result = opened.directory.committer.commitNow(
            StoreCommit(change: .settings(values: ["remoteAccess": "1"], requirePairing: false), audit: []))
        #expect(result == .committed)
        opened.directory.close()
        let key = try readFile(folder.state.key)
        let database = try readFile(folder.state.database)

        // The same rows beside another key.
        let copy = try TemporaryDirectory()
        let fresh = try copy.open()
        let stolen = try Store(path: folder.state.database, create: false)
        let text = try #require(try stolen.load().requirePairing)
        stolen.close()
        try fresh.directory.store.perform(
            StoreCommit(change: .settings(values: [:], requirePairing: nil), audit: []),
            requirePairing: { _ throws(StoreError) in text })
        fresh.directory.close()
        #expect(try copy.reopenedSettings().requirePairing)

        #expect(try readFile(folder.state.key) == key && readFile(folder.state.database) == database)
        #expect(
            try folder.reopenedSettings()
                == {
                    var want = Settings()
                    want.requirePairing = false
                    want.remoteAccess = true
                    return want
                }())
    }

    @Test("an answer never comes inside the call, which may hold the lock the answer needs")
    func answersOutside() throws {
        let folder = try TemporaryDirectory()
        let opened = try folder.open()
        let lock = Lock()
        let committer = opened.directory.committer
        for isClosed in [false, true] {
            if isClosed { opened.directory.close() }
            let answer = Answer()
            lock.held.withLock { _ in
                committer.commit(StoreCommit(change: .auditOnly, audit: [])) { result in
                    lock.held.withLock { $0 += 1 }
                    answer.note(result)
                }
            }
            #expect(answer.wait() == (isClosed ? .failed(message: "the store is closed") : .committed))
        }
    }

    @Test("a key that cannot sign saves nothing, neither now nor queued")
    func cannotSign() throws {
        let folder = try TemporaryDirectory()
        let opened = try folder.open()
        let committer = Committer(store: opened.directory.store, identity: opened.directory.identity) {
            _, _ throws(CryptoError) in throw CryptoError(.openssl, "no token")
        }
        let change = StoreCommit(
            change: .settings(values: ["remoteAccess": "1"], requirePairing: false),
            audit: [
                AuditRow(
                    at: TemporaryDirectory.now, actor: "unix:0", action: "settings.change", outcome: "ok")
            ])
        #expect(committer.commitNow(change) == .failed(message: "the host key cannot sign now: no token"))
        let answer = Answer()
        committer.commit(change) { answer.note($0) }
        #expect(answer.wait() == .failed(message: "the host key cannot sign now: no token"))
        // What needs no signature still goes through.
        #expect(
            committer.commitNow(
                StoreCommit(change: .settings(values: ["maxFPS": "60"], requirePairing: nil), audit: []))
                == .committed)
        #expect(try opened.directory.store.audit().items.count == 1)
        opened.directory.close()
    }
}

/// Stands for the core's lock.
final class Lock: Sendable {
    let held = Mutex(0)
}

/// Where a test waits for a committer's answer.
final class Answer: Sendable {
    private let result = Mutex<CommitResult?>(nil)
    private let isThere = DispatchSemaphore(value: 0)

    func note(_ result: CommitResult) {
        self.result.withLock { $0 = result }
        isThere.signal()
    }

    func wait() -> CommitResult? {
        isThere.wait()
        return result.withLock { $0 }
    }
}

extension TemporaryDirectory {
    /// What a restart reads.
    func reopenedSettings() throws -> Settings {
        let opened = try open()
        defer { opened.directory.close() }
        return opened.settings
    }
}
