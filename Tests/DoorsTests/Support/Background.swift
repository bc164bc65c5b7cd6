// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Sockets

/// A device that one background thread uses while the test leaves it alone until that thread has been joined.
struct UncheckedDevice: @unchecked Sendable {
    // Sendable: handed to exactly one thread, and not touched by the test before join().
    let value: TestDevice
    init(_ value: TestDevice) { self.value = value }
}

/// The same for a session at the backend.
struct UncheckedSession: @unchecked Sendable {
    // Sendable: handed to exactly one thread, and not touched by the test before join().
    let value: TestBackendSession
    init(_ value: TestBackendSession) { self.value = value }
}

/// Runs something beside the test.
func runInBackground(_ body: @escaping @Sendable () -> Void) throws -> JoinHandle {
    try runThread(name: "test", body)
}
