// SPDX-License-Identifier: Apache-2.0

/// What a door's listener does (03 §2.2).
package enum DoorState: Sendable, Hashable {
    /// Not wanted.
    case off
    /// Wanted; the worker was told.
    case starting
    /// It accepts at this port.
    case listening(port: UInt16)
    /// Another program has the port; tried again.
    case portInUse(port: UInt16)
    /// It cannot listen; the words are for people; tried again.
    case failed(problem: String)
}

/// The lock's verdict (03 §13).
package enum LockState: String, Sendable, Hashable {
    /// Asks are answered `locked`.
    case locked
    /// Asks may open a window.
    case unlocked
}
