// SPDX-License-Identifier: Apache-2.0

package import Wire

/// Whether asks may show anything (03 §13).
package enum LockPolicy {
    /// What one witness says.
    package enum Witness: String, Sendable, CaseIterable, Hashable {
        /// The desktop is in use.
        case unlocked
        /// It is not, or that cannot be told.
        case locked
        /// It knows nothing about this machine.
        case silent
    }

    /// Any `locked` wins; else any `unlocked`; both silent is locked.
    package static func isUnlocked(logind: Witness, word: Witness) -> Bool {
        logind != .locked && word != .locked && (logind == .unlocked || word == .unlocked)
    }
}

/// What was last said through `PUT /v1/lock`. `unlocked` lasts 90 s, `locked` until it is said otherwise.
package struct LockWord: Sendable, Equatable {
    /// How long `unlocked` holds.
    package static let unlockedFor: Duration = .seconds(90)

    private var said: (locked: Bool, at: MonotonicTime)?

    package init() {}

    /// Said now.
    package mutating func say(locked: Bool, at now: MonotonicTime) { said = (locked, now) }

    /// What it says as a witness.
    package func witness(at now: MonotonicTime) -> LockPolicy.Witness {
        guard let said else { return .silent }
        if said.locked { return .locked }
        return now - said.at < Self.unlockedFor ? .unlocked : .silent
    }

    /// Forgets a word that has run out, so that it is not waited for again.
    package mutating func expire(at now: MonotonicTime) {
        if let ends, now >= ends { said = nil }
    }

    /// When its word runs out by itself.
    package var ends: MonotonicTime? {
        guard let said, !said.locked else { return nil }
        return said.at + Self.unlockedFor
    }

    package static func == (left: LockWord, right: LockWord) -> Bool {
        left.said?.locked == right.said?.locked && left.said?.at == right.said?.at
    }
}
