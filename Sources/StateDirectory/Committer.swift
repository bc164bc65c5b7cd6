// SPDX-License-Identifier: Apache-2.0

package import Core
internal import CryptoEngine
package import Policy
internal import Store
internal import Wire

/// Carries the core's commits to the store: signs what must be signed, and words the answer as the core's input.
package struct Committer: Sendable {
    private let store: Store
    private let requirePairing: @Sendable (_ isOn: Bool) throws(CryptoError) -> String

    init(store: Store, key: HostKey) {
        self.init(store: store) { isOn throws(CryptoError) in try RequirePairing.text(isOn, key: key) }
    }

    /// With another way to sign, for tests of a key that cannot.
    init(
        store: Store, requirePairing: @escaping @Sendable (_ isOn: Bool) throws(CryptoError) -> String
    ) {
        self.store = store
        self.requirePairing = requirePairing
    }

    /// Queues the commit and returns. `answer` is called once, on the store's thread and never inside this call:
    /// committed means it is on disk, failed that nothing changed. Call order is commit order.
    package func commit(_ commit: StoreCommit, answer: @escaping @Sendable (CommitResult) -> Void) {
        store.submit(commit, requirePairing: text(for: commit)) { answer(Self.result($0)) }
    }

    /// Commits and waits; for the command line with the service down.
    package func commitNow(_ commit: StoreCommit) -> CommitResult {
        do throws(StoreError) {
            try store.perform(commit, requirePairing: text(for: commit))
            return .committed
        } catch {
            return Self.result(.failure(error))
        }
    }

    private func text(for commit: StoreCommit) -> RequirePairingText? {
        guard case .settings(_, let isOn?) = commit.change else { return nil }
        return { [requirePairing] () throws(StoreError) in
            do throws(CryptoError) {
                return try requirePairing(isOn)
            } catch {
                throw StoreError(.unsigned, "the host key cannot sign now: \(error.message)")
            }
        }
    }

    private static func result(_ result: Result<Void, StoreError>) -> CommitResult {
        switch result {
        case .success: .committed
        case .failure(let error): .failed(message: error.message)
        }
    }
}
