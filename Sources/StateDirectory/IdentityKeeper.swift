// SPDX-License-Identifier: Apache-2.0

internal import CryptoEngine
package import Policy
internal import Sockets
internal import Store
internal import Synchronization
package import Wire

/// The steps of a rotation on the disk, each of which may be the last before a crash (spec 09 point 15).
enum RotationStep: CaseIterable, Sendable {
    /// `host-key.pem.new` is on disk.
    case keyWritten
    /// The database names the new key: from here on that is the identity.
    case committed
    /// The key has its name.
    case keyRenamed
}

/// The host's identity while its directory is open, and the way from one to the next: the new key is staged beside the
/// old one, the database's commit decides, and the files follow. Stopping between any two steps leaves the old identity
/// whole or the new one (``IdentityFiles/open()``).
package final class IdentityKeeper: Sendable {
    /// Why no other identity could be made ready.
    package enum StagingFailure: Error, Sendable, Equatable {
        /// One is on its way already.
        case inProgress
        /// Key or file could not be made; nothing changed.
        case failed(String)
    }

    /// What a former rotation could not do to `host-key.pem.new`, and must be done before the next.
    private enum Leftover: Sendable {
        case none
        /// It holds the key in force.
        case rename
        /// It holds a key that the database was not to name; whether it does is only sure once a later commit is on disk.
        case removal
    }

    private struct State: Sendable {
        var current: KeptIdentity
        var isStaging = false
        var staged: KeptIdentity?
        var leftover = Leftover.none
        var problem: String?
    }

    private let paths: StatePaths
    private let store: Store
    private let afterStep: @Sendable (RotationStep) -> Void
    private let state: Mutex<State>

    /// `afterStep` runs after each step; a test looks there at what a crash would leave.
    init(
        paths: StatePaths, store: Store, current: KeptIdentity,
        afterStep: @escaping @Sendable (RotationStep) -> Void = { _ in }
    ) {
        self.paths = paths
        self.store = store
        self.afterStep = afterStep
        state = Mutex(State(current: current))
    }

    /// Who the host is now. Another one as soon as the database names it.
    package var current: KeptIdentity { state.withLock { $0.current } }

    /// What went wrong after a rotation was committed and so could not be said in its answer; once.
    package func takeProblem() -> String? {
        state.withLock { state in
            defer { state.problem = nil }
            return state.problem
        }
    }

    /// Makes another identity and puts its key on disk, synced, where it harms nothing. Waits for the disk. What is
    /// returned ends either in a commit `rotate` or by ``abandon()``; until then there can be no other.
    package func stage(now: WallTime) throws(StagingFailure) -> (
        identity: KeptIdentity, stored: StoredIdentity
    ) {
        let leftover = try state.withLock { state throws(StagingFailure) in
            guard !state.isStaging else { throw .inProgress }
            state.isStaging = true
            return state.leftover
        }
        do throws(StateError) {
            try clear(leftover)
        } catch {
            finished()
            throw .failed(error.message)
        }
        do throws(StateError) {
            let key = try KeyFile.make(paths.newKey, in: paths.directory)
            let stored = StoredIdentity(
                fingerprint: key.fingerprint, recognitionKey: try Self.randomKey(), createdAt: now)
            let identity = KeptIdentity(key: key, stored: stored)
            state.withLock { $0.staged = identity }
            afterStep(.keyWritten)
            return (identity, stored)
        } catch {
            removeKey()
            finished()
            throw .failed(error.message)
        }
    }

    /// Lets go of what was staged; it was not proposed, or refused.
    package func abandon() {
        state.withLock { $0.staged = nil }
        removeKey()
        finished()
    }

    // MARK: - For the committer, on the store's thread

    /// The key that is to be, if it is this one.
    func stagedKey(_ fingerprint: Fingerprint) -> HostKey? {
        state.withLock { state in
            state.staged?.key.fingerprint == fingerprint ? state.staged?.key : nil
        }
    }

    /// A commit `rotate` has ended; after success ``finished()`` follows once the new identity is served. After success the new key is in force before anything else is signed or answered.
    func settled(_ error: StoreError?) {
        if let error {
            state.withLock { state in
                state.staged = nil
                state.leftover = .removal
            }
            if error.leftNothing { removeKey() }
            finished()
            return
        }
        state.withLock { state in
            if let staged = state.staged { state.current = staged }
            state.staged = nil
            state.leftover = .rename
        }
        afterStep(.committed)
        do throws(SocketError) {
            try putInPlace()
        } catch {
            state.withLock {
                $0.problem = "\(error.message). The next start puts the new host key in place for good"
            }
        }
    }

    /// What was committed is served, or nothing is on its way any more: another may be staged.
    package func finished() { state.withLock { $0.isStaging = false } }

    private func putInPlace() throws(SocketError) {
        try renameFile(paths.newKey, to: paths.key)
        state.withLock { $0.leftover = .none }
        afterStep(.keyRenamed)
        try fsyncDirectory(paths.directory)
    }

    /// The file that holds no identity goes; a later try, or the next start, does what fails here.
    private func removeKey() {
        let isGone = (try? removeFile(paths.newKey)) != nil
        state.withLock { $0.leftover = isGone ? .none : .removal }
    }

    private func clear(_ leftover: Leftover) throws(StateError) {
        if case .removal = leftover {
            do throws(StoreError) { try store.proveWritable() } catch { throw StateError(error) }
        }
        do throws(SocketError) {
            switch leftover {
            case .none: return
            case .rename: try putInPlace()
            case .removal:
                try removeFile(paths.newKey)
                state.withLock { $0.leftover = .none }
            }
        } catch {
            throw StateError(making: error)
        }
    }

    private static func randomKey() throws(StateError) -> [UInt8] {
        do throws(CryptoError) { return try Entropy.bytes(32) } catch { throw StateError(error) }
    }
}
