// SPDX-License-Identifier: Apache-2.0

package import Core
package import CryptoEngine
internal import Glibc
package import Policy
internal import Sockets
package import Store
internal import Synchronization
package import Wire

/// An open state directory: its lock, the host's key, the tokens and the database, which belong together. Holds the
/// directory for as long as it lives; only one process can.
package final class StateDirectory: Sendable {
    package let paths: StatePaths
    /// Who the host is, and how it becomes another.
    package let identity: IdentityKeeper
    /// The text of the bearer token; nil when opened for the command line.
    package let adminToken: SecretBytes?
    /// The text of the bearer token; nil when opened for the command line.
    package let hostToken: SecretBytes?
    package let store: Store
    /// The way from the core to the store.
    package let committer: Committer
    private let lock: Mutex<FileLock?>

    /// Who opens it.
    package enum Purpose: Sendable, Equatable {
        /// The service. `newIdentity` moves what is there aside first (`--new-identity`).
        case service(newIdentity: Bool)
        /// The command line with the service down (09.32): never makes a directory, an identity or a token.
        case commandLine
    }

    private init(
        paths: StatePaths, opened: IdentityFiles.Opened, tokens: (admin: SecretBytes, host: SecretBytes)?,
        lock: consuming FileLock
    ) {
        self.paths = paths
        identity = IdentityKeeper(
            paths: paths, store: opened.store,
            current: KeptIdentity(key: opened.key, stored: opened.identity))
        adminToken = tokens?.admin
        hostToken = tokens?.host
        store = opened.store
        committer = Committer(store: opened.store, identity: identity)
        self.lock = Mutex(lock)
    }

    /// Opens a directory in the order of spec 08: directory, lock, key, database, tokens, what it holds. `note` hears
    /// of what a person should know was done: a first start, a copy made, files moved aside.
    ///
    /// Throws with the exit code of spec 09 point 13. Nothing unusable is ever taken for empty.
    package static func open(
        path: String, for purpose: Purpose, now: WallTime,
        note: @escaping (String) -> Void = { _ in }
    ) throws(StateError) -> OpenedState {
        let paths = StatePaths(path)
        try paths.prepareDirectory(mayMake: purpose != .commandLine, note: note)
        let lock = try paths.takeLock()
        if purpose == .service(newIdentity: true), let aside = try paths.moveIdentityAside(now: now) {
            note("moved the old identity's files to \(aside)")
        }
        return try open(
            paths, lock: lock,
            files: IdentityFiles(paths: paths, now: now, mayBegin: purpose != .commandLine, note: note),
            withTokens: purpose != .commandLine)
    }

    /// Whether a service, or a command that changes something, holds the directory now.
    package static func isHeld(path: String) -> Bool { FileLock.isHeld(path: StatePaths(path).lock) }

    /// The settings of a directory, for who only wants to look: without its lock, so also while another command works on
    /// it. Whether pairing is required takes the host's key to say, and is not looked at.
    package static func settings(path: String) throws(StateError) -> Settings {
        do throws(StoreError) {
            return Settings.load(
                try Store.settings(path: StatePaths(path).database), requirePairingOff: false)
        } catch {
            throw StateError(error)
        }
    }

    private static func open(
        _ paths: StatePaths, lock: consuming FileLock, files: IdentityFiles, withTokens: Bool
    ) throws(StateError) -> OpenedState {
        let opened = try files.open()
        do throws(StateError) {
            let state = try load(opened.store)
            var tokens: (admin: SecretBytes, host: SecretBytes)?
            if withTokens {
                tokens = (try TokenFile.open(paths.adminToken), try TokenFile.open(paths.hostToken))
            }
            let settings = Settings.load(
                state.settings, requirePairingOff: RequirePairing.isOff(state.requirePairing, key: opened.key)
            )
            return OpenedState(
                directory: StateDirectory(paths: paths, opened: opened, tokens: tokens, lock: lock),
                settings: settings, devices: state.devices, tombstones: state.tombstones,
                lockouts: state.lockouts)
        } catch {
            opened.store.close()
            throw error
        }
    }

    private static func load(_ store: Store) throws(StateError) -> StoredState {
        do throws(StoreError) { return try store.load() } catch { throw StateError(error) }
    }

    /// Commits what is queued, closes the database and lets go of the directory.
    package func close() {
        store.close()
        lock.withLock { $0 = nil }
    }

    /// What the core needs to know of this host.
    package func hostFacts(
        fallbackName: String, startedAt: WallTime, bootWall: WallTime, sessionPrefix: String, version: String
    ) -> HostFacts {
        let identity = identity.current
        return HostFacts(
            fingerprint: identity.key.fingerprint, recognitionKey: identity.recognitionKey.copy,
            fallbackName: fallbackName, startedAt: startedAt, sessionPrefix: sessionPrefix,
            bootWall: bootWall, version: version)
    }
}

/// A state directory and what a start reads from it; the lists are the caller's to hand to the core and let go of.
package struct OpenedState: Sendable {
    package let directory: StateDirectory
    package let settings: Settings
    package let devices: [DeviceRecord]
    package let tombstones: [Tombstone]
    package let lockouts: [Lockout]
}

extension StatePaths {
    /// Makes the directory, 0700, or sees to it that one which is there is closed to others.
    func prepareDirectory(mayMake: Bool, note: (String) -> Void) throws(StateError) {
        // "/." follows a link to the directory itself.
        guard let facts = fileFacts(directory + "/.") else {
            guard mayMake else {
                throw StateError(
                    .unusable,
                    "there is no state directory \(directory). Start latchkeyd, or name another with --state-dir"
                )
            }
            do throws(SocketError) {
                try makeDirectory(directory, mode: 0o700)
            } catch {
                throw StateError(making: error)
            }
            return
        }
        // Whoever owns it can put another key or token there.
        guard facts.uid == geteuid() else {
            throw StateError(
                .unusable,
                "the state directory \(directory) belongs to user \(facts.uid), not to user \(geteuid()), whom this "
                    + "runs as. Run it as its owner, or: chown \(geteuid()) \(directory)")
        }
        guard facts.isOpenToOthers else { return }
        // Only a directory that is ours in use, too: `--state-dir /tmp` must not close /tmp to everybody.
        guard mayMake, isOursOrEmpty else {
            throw StateError(
                .unusable,
                "the state directory \(directory) is open to others (mode 0\(String(facts.mode, radix: 8))). "
                    + "Name another with --state-dir, or: chmod 700 \(directory)")
        }
        do throws(SocketError) {
            try makeDirectory(directory, mode: 0o700)
        } catch {
            throw StateError(making: error)
        }
        note("closed the state directory \(directory) to other users (mode 0700)")
    }

    private var isOursOrEmpty: Bool {
        guard let names = try? directoryEntries(directory) else { return false }
        return names.isEmpty || names.contains("latchkey.db") || names.contains("latchkey.lock")
    }

    func takeLock() throws(StateError) -> FileLock {
        do throws(FileLock.Failure) {
            return try FileLock(path: lock)
        } catch {
            switch error {
            case .held(let pid):
                throw StateError(
                    .held,
                    "the state directory \(directory) is in use by \(pid.map { "process \($0)" } ?? "another process"). "
                        + "Stop it first, or give this one another --state-dir")
            case .system(let error): throw StateError(making: error)
            }
        }
    }
}
