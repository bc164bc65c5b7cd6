// SPDX-License-Identifier: Apache-2.0

internal import Core
internal import LocalAPI
internal import Synchronization

/// Callers who wait for a pairing window's link to be complete (spec 09.20). The core says so after 3 s at the latest.
package final class WindowDesk: Sendable {
    private let waiting = Mutex<[String: [@Sendable () -> Void]]>([:])

    /// An empty desk.
    package init() {}

    /// Takes effect `windowReady`, and the end of a window that never was; called under the core's lock.
    package func settled(_ id: String) {
        let calls = waiting.withLock { $0.removeValue(forKey: id) }
        for call in calls ?? [] { call() }
    }

    /// Must be called inside the core's entry that saw the window not ready.
    func expect(_ id: String, _ call: @escaping @Sendable () -> Void) {
        waiting.withLock { $0[id, default: []].append(call) }
    }
}
