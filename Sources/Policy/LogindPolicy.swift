// SPDX-License-Identifier: Apache-2.0

/// What logind said about the desktop, as far as the lock depends on it (03 §13).
package struct LogindFacts: Sendable, Equatable {
    /// The session in front of the screen.
    package struct Session: Sendable, Equatable {
        /// logind's `Class`: `user`, `greeter`, `lock-screen`, …
        package var sessionClass: String
        /// The UID it belongs to.
        package var user: UInt32
        /// logind's `Type`: `wayland`, `x11`, `tty`, …
        package var type: String
        /// `Lock` was signalled for it, and neither `Unlock` nor a change of `LockedHint` to false came after that.
        package var isLockSignalled = false
        /// nil: missing, or not a boolean.
        package var lockedHint: Bool?

        package init(
            sessionClass: String, user: UInt32, type: String, isLockSignalled: Bool = false, lockedHint: Bool?
        ) {
            self.sessionClass = sessionClass
            self.user = user
            self.type = type
            self.isLockSignalled = isLockSignalled
            self.lockedHint = lockedHint
        }
    }

    /// There is a system bus, logind is on it, it has a seat `seat0`, and all that follows was looked for.
    package var hasSeat = false
    /// Some of what follows could not be read, or is not what it should be, or is just being read again.
    package var isUnreadable = false
    /// `PrepareForSleep(true)` was signalled, and no `false` after it.
    package var isPreparingForSleep = false
    /// The `ActiveSession` of `seat0`.
    package var session: Session?
    /// Whose session decides; nil: whoever's it is.
    package var desktopUser: UInt32?

    package init() {}
}

/// logind as a witness of the lock (03 §13).
package enum LogindPolicy {
    /// The types of a session that shows a desktop.
    package static let desktopTypes: Set = ["x11", "wayland", "mir"]

    /// First match wins:
    ///
    /// 1. no system bus, no logind, no `seat0`: silent;
    /// 2. anything below that cannot be read: locked;
    /// 3. the machine is about to sleep: locked;
    /// 4. no session is active: locked;
    /// 5. it is not a user's: locked;
    /// 6. it is not the desktop user's: locked;
    /// 7. it shows no desktop: silent;
    /// 8. it was told to lock: locked;
    /// 9. its hint is not false: locked;
    /// 10. else unlocked.
    package static func judge(_ facts: LogindFacts) -> LockPolicy.Witness {
        guard facts.hasSeat else { return .silent }
        if facts.isUnreadable { return .locked }
        if facts.isPreparingForSleep { return .locked }
        guard let session = facts.session else { return .locked }
        if session.sessionClass != "user" { return .locked }
        if let user = facts.desktopUser, session.user != user { return .locked }
        if !desktopTypes.contains(session.type) { return .silent }
        if session.isLockSignalled { return .locked }
        if session.lockedHint != false { return .locked }
        return .unlocked
    }

    /// Whose session decides; first match wins: the configured user; the service's own while that user has a session,
    /// which makes it a user's service; nil, whoever's session is active.
    package static func desktopUser(configured: UInt32?, own: UInt32, ownHasSession: Bool) -> UInt32? {
        configured ?? (ownHasSession ? own : nil)
    }
}
