// SPDX-License-Identifier: Apache-2.0

package import Wire

/// The one ask that is kept for the host's menu, so that an ask which shows nothing is not lost (03 §12.8).
package struct PairingRequest: Sendable, Equatable {
    /// What the host's menu says about it.
    package enum State: String, Sendable, Hashable {
        /// A window is open for it.
        case showing
        /// The host was locked.
        case locked
        /// Too many, or too soon.
        case limit
    }

    /// How long an unanswered one stays.
    package static let lifetime: Duration = .seconds(300)

    /// The key that asked.
    package var fingerprint: Fingerprint
    /// Its cleaned name; may be empty.
    package var name: String
    /// `nearby`, `on this host`, `on this network`.
    package var place: String
    /// When it asked, for people.
    package var at: WallTime
    /// When it is dropped.
    package var ends: MonotonicTime
    /// What it waits for.
    package var state: State
    /// The window that shows it, with which it ends.
    package var window: String?

    package init(
        fingerprint: Fingerprint, name: String, place: String, at: WallTime, ends: MonotonicTime,
        state: State, window: String? = nil
    ) {
        self.fingerprint = fingerprint
        self.name = name
        self.place = place
        self.at = at
        self.ends = ends
        self.state = state
        self.window = window
    }
}
