// SPDX-License-Identifier: Apache-2.0

internal import Policy
internal import Synchronization

/// What the doors show of themselves, for tests and figures; the core has its own account of what counts.
final class DoorBoard: Sendable {
    private let ports = Mutex<[Door: UInt16]>([:])
    /// Connections that the workers hold, pending ones and those that are leaving included.
    let connections = Atomic<Int>(0)
    /// Connections shed because descriptors had run out.
    let shed = Atomic<Int>(0)

    func listens(_ door: Door, port: UInt16?) { ports.withLock { $0[door] = port } }

    func port(_ door: Door) -> UInt16? { ports.withLock { $0[door] } }
}
