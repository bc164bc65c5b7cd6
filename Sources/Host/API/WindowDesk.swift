// SPDX-License-Identifier: Apache-2.0

package import Core
internal import LocalAPI
internal import Synchronization

/// Callers who wait for a pairing window's link to be complete (spec 09.20). The core says so after 3 s at the latest.
package final class WindowDesk: Sendable {
    private let waiting = Mutex<[String: [@Sendable (WindowOffer?) -> Void]]>([:])

    /// An empty desk.
    package init() {}

    /// Takes effect `windowReady`. The callers get the window as it was then: a device may have used it before their
    /// answers are made.
    package func ready(_ offer: WindowOffer) { settle(offer.id, offer) }

    /// Takes the end of a window; who still waits for it has waited in vain.
    package func closed(_ id: String) { settle(id, nil) }

    private func settle(_ id: String, _ offer: WindowOffer?) {
        let calls = waiting.withLock { $0.removeValue(forKey: id) }
        for call in calls ?? [] { call(offer) }
    }

    /// Must be called inside the core's entry that saw the window not ready.
    func expect(_ id: String, _ call: @escaping @Sendable (WindowOffer?) -> Void) {
        waiting.withLock { $0[id, default: []].append(call) }
    }
}
