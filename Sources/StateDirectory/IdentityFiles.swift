// SPDX-License-Identifier: Apache-2.0

internal import CryptoEngine
internal import Policy
internal import Sockets
internal import Store
internal import Wire

/// Which key is this host's, decided from the key files and the database together (spec 09 point 15). Never makes a new
/// identity where there was one.
struct IdentityFiles {
    let paths: StatePaths
    let now: WallTime
    /// Whether a first start may be made; the command line with the service down may not.
    let mayBegin: Bool
    /// Hears of what was done beyond opening.
    let note: (String) -> Void
    /// Runs after each step of a first start; a test stops there as a crash would.
    var afterStep: (FirstStartStep) throws(StateError) -> Void = { _ in }

    /// What belongs together.
    struct Opened {
        let key: HostKey
        let store: Store
        let identity: StoredIdentity
    }

    /// First match wins:
    /// 1. the database names the key in `.new`: finish the rename, whatever `host-key.pem` holds;
    /// 2. the database names the key in `host-key.pem`: that one;
    /// 3. the database names a key that is not there, or another: unusable;
    /// 4. `host-key.pem` without a database that names one: unusable;
    /// 5. `.new` alone: a first start stopped early; begin again;
    /// 6. a blank database and no key: unusable;
    /// 7. nothing: a first start.
    func open() throws(StateError) -> Opened {
        let hasKey = fileFacts(paths.key) != nil
        let hasNewKey = fileFacts(paths.newKey) != nil
        // The key first: a loose or damaged one is reported before the database is touched. With a `.new` beside it
        // its content does not matter yet.
        var key: HostKey?
        if hasKey, !hasNewKey { key = try KeyFile.read(paths.key) }

        if let (store, identity) = try openStore() {
            if hasNewKey, let new = try? KeyFile.read(paths.newKey), new.fingerprint == identity.fingerprint {
                try finishRename()
                return Opened(key: new, store: store, identity: identity)
            }
            if hasKey, key == nil { key = try KeyFile.read(paths.key) }
            guard let key, key.fingerprint == identity.fingerprint else {
                store.close()
                throw mismatch(names: identity.fingerprint, found: key?.fingerprint)
            }
            if hasNewKey { try forgetNewKey() }
            return Opened(key: key, store: store, identity: identity)
        }

        if hasKey {
            throw StateError(
                .unusable,
                "there is a host key, \(paths.key), but no database that belongs to it (\(paths.database) "
                    + "\(fileFacts(paths.database) == nil ? "is missing" : "is empty")). \(WayOut.restoreOrStartAnew(paths.directory))"
            )
        }
        guard mayBegin else {
            throw StateError(
                .unusable, "\(paths.directory) holds no identity yet: latchkeyd makes it at its first start")
        }
        if hasNewKey {
            note("an earlier first start did not finish; beginning again")
            try clearFirstStart()
        } else if fileFacts(paths.database) != nil {
            throw StateError(
                .unusable,
                "the database \(paths.database) is empty and the host key \(paths.key) is missing. "
                    + WayOut.restoreOrStartAnew(paths.directory))
        }
        return try begin()
    }

    /// The database and whose it is; nil when there is none, or one in which a first start committed nothing yet.
    private func openStore() throws(StateError) -> (Store, StoredIdentity)? {
        guard fileFacts(paths.database) != nil else { return nil }
        do throws(StoreError) {
            let store = try Store(path: paths.database, create: false, checksBeside: true) { copy in
                note("the database is from an earlier release; a copy from before its migration is \(copy)")
            }
            guard let identity = try store.identity() else {
                let isBlank = try store.load().devices.isEmpty
                store.close()
                guard isBlank else {
                    throw StoreError(
                        .corrupt,
                        "the database \(paths.database) is damaged: it holds devices but no identity. "
                            + WayOut.restoreOrStartAnew(paths.directory))
                }
                return nil
            }
            return (store, identity)
        } catch {
            if error.code == .empty { return nil }
            throw StateError(error)
        }
    }

    private func finishRename() throws(StateError) {
        do throws(SocketError) {
            try renameFile(paths.newKey, to: paths.key)
            try fsyncDirectory(paths.directory)
        } catch {
            throw StateError(making: error)
        }
        note("finished putting the new host key in place")
    }

    private func forgetNewKey() throws(StateError) {
        do throws(SocketError) {
            try removeFile(paths.newKey)
        } catch {
            throw StateError(making: error)
        }
        note("removed \(paths.newKey), which the database does not name")
    }

    /// The database goes first, so that a blank one never stands alone.
    private func clearFirstStart() throws(StateError) {
        do throws(StoreError) {
            try Store.removeUncommitted(path: paths.database)
        } catch {
            throw StateError(error)
        }
        do throws(SocketError) {
            try removeFile(paths.newKey)
            try fsyncDirectory(paths.directory)
        } catch {
            throw StateError(making: error)
        }
    }

    private func mismatch(names wanted: Fingerprint, found: Fingerprint?) -> StateError {
        let what =
            found.map { "holds the key of \($0.id.text)" } ?? "is missing"
        return StateError(
            .unusable,
            "the database \(paths.database) belongs to the host key of \(wanted.id.text), but \(paths.key) \(what). "
                + WayOut.restoreOrStartAnew(paths.directory))
    }
}
