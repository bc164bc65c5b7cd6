// SPDX-License-Identifier: Apache-2.0

package import Core
internal import Synchronization
package import Wire

/// Streaming processes that wait for the answer to a device's pairing message (spec 03 section 6). As bounded as the
/// requests are: one entry a request.
package final class PairingDesk: Sendable {
    private let waiting = Mutex<[ConnectionID: @Sendable (PairResult?) -> Void]>([:])

    /// An empty desk.
    package init() {}

    /// Takes effect `answerPairing` of a connection that a process holds; called under the core's lock.
    package func answered(_ id: ConnectionID, _ result: PairResult) { settle(id, result) }

    /// Takes effect `closeConnection` of one: nobody answers it any more.
    package func closed(_ id: ConnectionID) { settle(id, nil) }

    /// Must be called inside the core's entry that took the message: its effects come only after.
    func expect(_ id: ConnectionID, _ answer: @escaping @Sendable (PairResult?) -> Void) {
        waiting.withLock { $0[id] = answer }
    }

    private func settle(_ id: ConnectionID, _ result: PairResult?) {
        let answer = waiting.withLock { $0.removeValue(forKey: id) }
        answer?(result)
    }
}
