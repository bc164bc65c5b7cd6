// SPDX-License-Identifier: Apache-2.0

package import Core
internal import CryptoEngine
package import Policy
internal import Store
internal import Wire

/// Carries the core's commits to the store: signs what must be signed, has the key files follow a new identity, and words
/// the answer as the core's input.
package struct Committer: Sendable {
    private let store: Store
    private let identity: IdentityKeeper
    private let sign: @Sendable (_ requirePairing: Bool, HostKey) throws(CryptoError) -> String

    /// `sign` is another way to sign, for tests of a key that cannot.
    init(
        store: Store, identity: IdentityKeeper,
        sign: @escaping @Sendable (_ requirePairing: Bool, HostKey) throws(CryptoError) -> String = {
            isOn, key throws(CryptoError) in try RequirePairing.text(isOn, key: key)
        }
    ) {
        self.store = store
        self.identity = identity
        self.sign = sign
    }

    /// Queues the commit and returns. `answer` is called once, on the store's thread and never inside this call:
    /// committed means it is on disk, failed that nothing changed. Call order is commit order. After `rotate` was
    /// committed the caller says ``IdentityKeeper/finished()`` once it serves the new identity.
    package func commit(_ commit: StoreCommit, answer: @escaping @Sendable (CommitResult) -> Void) {
        store.submit(commit, requirePairing: text(for: commit)) { result in
            settle(commit, result)
            answer(Self.result(result))
        }
    }

    /// Commits and waits; for the command line with the service down.
    package func commitNow(_ commit: StoreCommit) -> CommitResult {
        let result: Result<Void, StoreError>
        do throws(StoreError) {
            result = .success(try store.perform(commit, requirePairing: text(for: commit)))
        } catch {
            result = .failure(error)
        }
        settle(commit, result)
        if case .rotate = commit.change { identity.finished() }
        return Self.result(result)
    }

    /// Asked on the store's thread, where every commit before this one has had its effect on the identity.
    private func text(for commit: StoreCommit) -> RequirePairingText? {
        switch commit.change {
        case .settings(_, let isOn?):
            { [self] _ throws(StoreError) in try text(isOn, identity.current.key) }
        case .rotate(let new, _):
            { [self] stored throws(StoreError) in
                guard let key = identity.stagedKey(new.fingerprint) else {
                    throw StoreError(.unsigned, "the new host key is not ready")
                }
                // Only what the old key signed turns it off; an edited text is not carried over.
                return try text(!RequirePairing.isOff(stored, key: identity.current.key), key)
            }
        default: nil
        }
    }

    private func text(_ isOn: Bool, _ key: HostKey) throws(StoreError) -> String {
        do throws(CryptoError) {
            return try sign(isOn, key)
        } catch {
            throw StoreError(.unsigned, "the host key cannot sign now: \(error.message)")
        }
    }

    /// The key files follow before the core hears of it, and so before anyone is promised anything.
    private func settle(_ commit: StoreCommit, _ result: Result<Void, StoreError>) {
        guard case .rotate = commit.change else { return }
        switch result {
        case .success: identity.settled(nil)
        case .failure(let error): identity.settled(error)
        }
    }

    private static func result(_ result: Result<Void, StoreError>) -> CommitResult {
        switch result {
        case .success: .committed
        case .failure(let error): .failed(message: error.message)
        }
    }
}
