// SPDX-License-Identifier: Apache-2.0

import Core
import CryptoEngine
import Glibc
import Policy
import Sockets
import Store
import Synchronization
import Testing
import Wire

@testable import StateDirectory

@Suite("Another key for the host")
struct RotationTests {
    let folder: TemporaryDirectory
    static let later = WallTime(milliseconds: TemporaryDirectory.now.milliseconds + 1)

    init() throws { folder = try TemporaryDirectory() }

    private static func device(_ number: UInt8) throws -> DeviceRecord {
        DeviceRecord(
            fingerprint: try #require(Fingerprint(bytes: [number] + [UInt8](repeating: 3, count: 31))),
            name: "Device \(number)", pairedAt: TemporaryDirectory.now, pairedHow: "qr")
    }

    /// A directory with two devices, pairing not required, and a keeper that reports its steps.
    private struct Opened {
        let opened: OpenedState
        let keeper: IdentityKeeper
        let committer: Committer
        var store: Store { opened.directory.store }

        func rotation(_ stored: StoredIdentity) -> StoreCommit {
            StoreCommit(
                change: .rotate(stored, removedBy: "unix:0"),
                audit: [AuditRow(at: later, actor: "unix:0", action: "identity.rotate", outcome: "ok")])
        }
    }

    private func open(afterStep: @escaping @Sendable (RotationStep) -> Void = { _ in }) throws -> Opened {
        let opened = try folder.open()
        let directory = opened.directory
        for number in [1, 2] as [UInt8] where opened.devices.isEmpty {
            #expect(
                directory.committer.commitNow(
                    StoreCommit(change: .pairDevice(try Self.device(number)), audit: [])) == .committed)
        }
        #expect(
            directory.committer.commitNow(
                StoreCommit(change: .settings(values: ["maxFPS": "60"], requirePairing: false), audit: []))
                == .committed)
        let keeper = IdentityKeeper(
            paths: directory.paths, store: directory.store, current: directory.identity.current,
            afterStep: afterStep)
        return Opened(
            opened: opened, keeper: keeper, committer: Committer(store: directory.store, identity: keeper))
    }

    @Test("the new key, its settings and nobody paired; the same after a restart")
    func rotates() throws {
        let state = try open()
        let old = state.keeper.current
        let (staged, stored) = try state.keeper.stage(now: Self.later)
        #expect(fileFacts(folder.state.newKey)?.mode == 0o600)
        #expect(state.keeper.current.key.fingerprint == old.key.fingerprint)
        #expect(state.committer.commitNow(state.rotation(stored)) == .committed)
        #expect(state.keeper.current.key.fingerprint == staged.key.fingerprint)
        #expect(state.keeper.takeProblem() == nil)
        // What is signed from here on is the new key's.
        #expect(
            state.committer.commitNow(
                StoreCommit(change: .settings(values: [:], requirePairing: false), audit: [])) == .committed)
        state.opened.directory.close()
        #expect(fileFacts(folder.state.newKey) == nil)

        let reopened = try folder.open()
        defer { reopened.directory.close() }
        let current = reopened.directory.identity.current
        #expect(current.key.fingerprint == stored.fingerprint && stored.fingerprint != old.key.fingerprint)
        #expect(current.recognitionKey.copy == stored.recognitionKey)
        #expect(!current.recognitionKey.equals(old.recognitionKey.copy))
        #expect(current.createdAt == Self.later)
        #expect(
            reopened.devices.isEmpty && !reopened.settings.requirePairing && reopened.settings.maxFPS == 60)
        #expect(
            try reopened.tombstones.sorted { $0.fingerprint.id < $1.fingerprint.id }
                == [1, 2].map {
                    Tombstone(
                        fingerprint: try Self.device($0).fingerprint, removedAt: Self.later,
                        removedBy: "unix:0")
                })
    }

    /// What a crash left, and whether the commit was in it.
    private final class Crashed: Sendable {
        let folder: TemporaryDirectory
        let isSet = Mutex(false)
        init() throws { folder = try TemporaryDirectory() }
    }

    @Test(
        "stopping after any step, as kill -9 would, leaves one identity whole",
        arguments: RotationStep.allCases)
    func stopped(_ step: RotationStep) throws {
        let crashed = try Crashed()
        let paths = folder.state
        let state = try open { done in
            guard done == step else { return }
            do {
                try copyFiles(from: paths.directory, to: crashed.folder.state.directory)
                crashed.isSet.withLock { $0 = true }
            } catch {
                Issue.record(error)
            }
        }
        let old = state.keeper.current
        let (_, stored) = try state.keeper.stage(now: Self.later)
        #expect(state.committer.commitNow(state.rotation(stored)) == .committed)
        state.opened.directory.close()
        #expect(crashed.isSet.withLock { $0 })

        let isNew = step != .keyWritten
        // The first start mends it, the second finds nothing to mend.
        for notes in [step == .keyRenamed ? 0 : 1, 0] {
            let said = Mutex<[String]>([])
            let found = try crashed.folder.open(note: { note in said.withLock { $0.append(note) } })
            defer { found.directory.close() }
            let current = found.directory.identity.current
            #expect(current.key.fingerprint == (isNew ? stored.fingerprint : old.key.fingerprint))
            #expect(current.recognitionKey.copy == (isNew ? stored.recognitionKey : old.recognitionKey.copy))
            #expect(found.devices.count == (isNew ? 0 : 2) && found.tombstones.count == (isNew ? 2 : 0))
            #expect(!found.settings.requirePairing)
            #expect(fileFacts(crashed.folder.state.newKey) == nil)
            #expect(try KeyFile.read(crashed.folder.state.key)?.fingerprint == current.key.fingerprint)
            #expect(said.withLock { $0.count } == notes)
        }
    }

    @Test("one at a time; what was let go of leaves nothing behind")
    func oneAtATime() throws {
        let state = try open()
        defer { state.opened.directory.close() }
        _ = try state.keeper.stage(now: Self.later)
        #expect(throws: IdentityKeeper.StagingFailure.inProgress) { try state.keeper.stage(now: Self.later) }
        state.keeper.abandon()
        #expect(fileFacts(folder.state.newKey) == nil)
        let (_, stored) = try state.keeper.stage(now: Self.later)
        #expect(state.committer.commitNow(state.rotation(stored)) == .committed)
        _ = try state.keeper.stage(now: Self.later)
        state.keeper.abandon()
        #expect(state.keeper.current.key.fingerprint == stored.fingerprint)
    }

    @Test("a new key that cannot sign, or a commit for a key that is not staged, changes nothing")
    func cannotSign() throws {
        let state = try open()
        let before = try state.store.identity()
        let unable = Committer(store: state.store, identity: state.keeper) { _, _ throws(CryptoError) in
            throw CryptoError(.openssl, "no token")
        }
        let (_, stored) = try state.keeper.stage(now: Self.later)
        let answer = Answer()
        unable.commit(state.rotation(stored)) { answer.note($0) }
        #expect(answer.wait() == .failed(message: "the host key cannot sign now: no token"))
        #expect(fileFacts(folder.state.newKey) == nil)
        let (_, again) = try state.keeper.stage(now: Self.later)
        state.keeper.abandon()
        #expect(
            state.committer.commitNow(state.rotation(again))
                == .failed(message: "the new host key is not ready"))
        #expect(try state.store.identity() == before)
        #expect(state.keeper.current.key.fingerprint == before?.fingerprint)
        state.opened.directory.close()
        let found = try folder.open()
        defer { found.directory.close() }
        #expect(found.devices.count == 2 && found.tombstones.isEmpty && !found.settings.requirePairing)
    }

    @Test("after a disk that failed in the commit the new key stays until it surely names nobody")
    func doubt() throws {
        let state = try open()
        let (_, first) = try state.keeper.stage(now: Self.later)
        state.keeper.settled(StoreError(.io, "fsync failed"))
        // The commit may still be found after a power loss; then this is the key.
        #expect(try KeyFile.read(folder.state.newKey)?.fingerprint == first.fingerprint)
        // A commit that is on disk settles it.
        let (_, second) = try state.keeper.stage(now: Self.later)
        #expect(try KeyFile.read(folder.state.newKey)?.fingerprint == second.fingerprint)
        state.keeper.settled(StoreError(.io, "fsync failed"))
        state.store.close()
        #expect(throws: IdentityKeeper.StagingFailure.failed("the store is closed")) {
            try state.keeper.stage(now: Self.later)
        }
        #expect(try KeyFile.read(folder.state.newKey)?.fingerprint == second.fingerprint)
        state.opened.directory.close()
        let found = try folder.open()
        defer { found.directory.close() }
        #expect(
            found.directory.identity.current.key.fingerprint == state.keeper.current.key.fingerprint
                && fileFacts(folder.state.newKey) == nil)
    }

    @Test("a text that the old key did not sign is not made good by the new one")
    func editedStore() throws {
        let state = try open()
        let forged = try RequirePairing.text(false, key: HostKey.generate())
        try state.store.perform(
            StoreCommit(change: .settings(values: [:], requirePairing: false), audit: []),
            requirePairing: { _ throws(StoreError) in forged })
        let (_, stored) = try state.keeper.stage(now: Self.later)
        #expect(state.committer.commitNow(state.rotation(stored)) == .committed)
        state.opened.directory.close()
        #expect(try folder.reopenedSettings().requirePairing)
    }

    @Test("a setting and a rotation committed together keep the setting")
    func together() throws {
        let state = try open()
        let (_, stored) = try state.keeper.stage(now: Self.later)
        let answers = [Answer(), Answer(), Answer()]
        for (answer, isOn) in zip(answers, [true, false]) {
            state.committer.commit(
                StoreCommit(change: .settings(values: [:], requirePairing: isOn), audit: [])
            ) { answer.note($0) }
        }
        state.committer.commit(state.rotation(stored)) { answers[2].note($0) }
        for answer in answers { #expect(answer.wait() == .committed) }
        state.opened.directory.close()
        #expect(try !folder.reopenedSettings().requirePairing)
    }

    @Test("a key that could not get its name has it before the next rotation, and after the next start")
    func renameOwed() throws {
        for again in [false, true] {
            let folder = try TemporaryDirectory()
            let opened = try folder.open()
            let paths = folder.state
            // A directory in the key's place cannot be replaced by a file.
            let keeper = IdentityKeeper(
                paths: paths, store: opened.directory.store, current: opened.directory.identity.current
            ) { step in
                guard step == .committed else { return }
                do {
                    try removeFile(paths.key)
                    try makeDirectory(paths.key, mode: 0o700)
                } catch {
                    Issue.record(error)
                }
            }
            let committer = Committer(store: opened.directory.store, identity: keeper)
            let (_, stored) = try keeper.stage(now: Self.later)
            let row = AuditRow(at: Self.later, actor: "unix:0", action: "identity.rotate", outcome: "ok")
            let rotation = StoreCommit(change: .rotate(stored, removedBy: "unix:0"), audit: [row])
            #expect(committer.commitNow(rotation) == .committed)
            #expect(keeper.current.key.fingerprint == stored.fingerprint)
            #expect(keeper.takeProblem()?.contains("rename") == true)
            #expect(keeper.takeProblem() == nil)
            #expect(throws: IdentityKeeper.StagingFailure.self) { try keeper.stage(now: Self.later) }
            #expect(try KeyFile.read(paths.newKey)?.fingerprint == stored.fingerprint)
            try #require(unsafe rmdir(paths.key) == 0)
            if again {
                _ = try keeper.stage(now: Self.later)
                #expect(try KeyFile.read(paths.key)?.fingerprint == stored.fingerprint)
                keeper.abandon()
            }
            opened.directory.close()
            let found = try folder.open()
            #expect(found.directory.identity.current.key.fingerprint == stored.fingerprint)
            found.directory.close()
        }
    }
}
