// SPDX-License-Identifier: Apache-2.0

package import Wire

/// One thing that holds somebody back, as it outlives a restart (09.5). The wall clock says when it ends, since no other
/// clock goes on while the service is down.
package struct Lockout: Sendable, Hashable {
    /// What holds whom.
    package enum Kind: String, Sendable, CaseIterable {
        /// A source the home door closes at once; the key is its address.
        case homeBackoff = "backoff.home"
        /// A source the remote door closes at once; the key is its address.
        case remoteBackoff = "backoff.remote"
        /// A device whose asks open nothing; the key is its fingerprint.
        case quietKey = "quiet.key"
        /// An address whose asks open nothing.
        case quietSource = "quiet.source"
        /// A window that an ask opened and that counts for everybody; the key is the window's ID.
        case askedWindow = "window"
    }

    /// What holds whom.
    package var kind: Kind
    /// Whom, as text.
    package var key: String
    /// When it ends.
    package var until: WallTime

    package init(_ kind: Kind, _ key: String, until: WallTime) {
        self.kind = kind
        self.key = key
        self.until = until
    }

    /// What is left of it, between nothing and `length`, so that no change of the clock lengthens it.
    package func rest(at now: WallTime, of length: Duration) -> Duration {
        let latest = now.milliseconds + length.wholeNanoseconds / 1_000_000
        let end = min(max(until.milliseconds, now.milliseconds), latest)
        return .milliseconds(end - now.milliseconds)
    }
}
