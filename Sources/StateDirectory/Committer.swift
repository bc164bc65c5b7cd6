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

    /// Queues the commit and returns. `answer` is called once, on the store's thread: committed means it is on disk,
    /// failed that nothing changed. Call order is commit order.
    package func commit(_ commit: StoreCommit, answer: @escaping @Sendable (CommitResult) -> Void) {
        do throws(CryptoError) {
            store.submit(commit, requirePairing: try signed(commit)) { answer(Self.result($0)) }
        } catch {
            answer(Self.cannotSign(error))
        }
    }

    /// Commits and waits; for the command line with the service down.
    package func commitNow(_ commit: StoreCommit) -> CommitResult {
        do throws(CryptoError) {
            let text = try signed(commit)
            do throws(StoreError) {
                try store.perform(commit, requirePairing: text)
                return .committed
            } catch {
                return Self.result(.failure(error))
            }
        } catch {
            return Self.cannotSign(error)
        }
    }

    private func signed(_ commit: StoreCommit) throws(CryptoError) -> String? {
        guard case .settings(_, let isOn?) = commit.change else { return nil }
        return try requirePairing(isOn)
    }

    private static func result(_ result: Result<Void, StoreError>) -> CommitResult {
        switch result {
        case .success: .committed
        case .failure(let error): .failed(message: error.message)
        }
    }

    private static func cannotSign(_ error: CryptoError) -> CommitResult {
        .failed(message: "the host key cannot sign now: \(error.message)")
    }
}
