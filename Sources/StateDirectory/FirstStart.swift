// SPDX-License-Identifier: Apache-2.0

internal import CryptoEngine
internal import Policy
internal import Sockets
internal import Store
internal import Wire

/// The steps of a first start, each of which may be the last before a crash (spec 09 point 15).
enum FirstStartStep: CaseIterable, Sendable {
    /// `host-key.pem.new` is on disk.
    case keyWritten
    /// The database has its tables and names nobody.
    case databaseMade
    /// The database names the key: from here on this is the identity.
    case identityCommitted
    /// The key has its name.
    case keyRenamed
}

extension IdentityFiles {
    /// Makes the host's identity, so that stopping between any two steps is mended by the next start.
    func begin() throws(StateError) -> Opened {
        let key = try KeyFile.make(paths.newKey, in: paths.directory)
        try afterStep(.keyWritten)
        let store: Store
        let identity: StoredIdentity
        do throws(StoreError) {
            store = try Store(path: paths.database, create: true)
        } catch {
            throw StateError(error)
        }
        try afterStep(.databaseMade)
        do throws(CryptoError) {
            identity = StoredIdentity(
                fingerprint: key.fingerprint, recognitionKey: try Entropy.bytes(32), createdAt: now)
        } catch {
            throw StateError(error)
        }
        do throws(StoreError) {
            try store.commitIdentity(
                identity,
                audit: AuditRow(at: now, actor: "service", action: "identity.create", outcome: "ok"))
        } catch {
            throw StateError(error)
        }
        try afterStep(.identityCommitted)
        do throws(SocketError) {
            try renameFile(paths.newKey, to: paths.key)
            try fsyncDirectory(paths.directory)
        } catch {
            throw StateError(making: error)
        }
        try afterStep(.keyRenamed)
        note("made a new identity, \(key.fingerprint.id.text)")
        return Opened(key: key, store: store, identity: identity)
    }
}
