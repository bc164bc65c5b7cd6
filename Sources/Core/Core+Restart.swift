// SPDX-License-Identifier: Apache-2.0

package import Policy
internal import Wire

/// What holds people back outlives a restart: quiet times, the times of asked windows, and backoffs (09.5).
extension Core {
    /// Takes up what the store has kept. Before `start`.
    package mutating func restore(_ lockouts: [Lockout], _ moment: Moment) {
        for lockout in lockouts {
            let length = length(of: lockout.kind)
            let rest = lockout.rest(at: moment.wall, of: length)
            guard rest > .zero else { continue }
            let end = moment.now + rest
            let since = end + (.zero - length)
            switch lockout.kind {
            case .homeBackoff:
                if let source = IPAddress(lockout.key) { home.backoff.block(source, until: end) }
            case .remoteBackoff:
                if let source = IPAddress(lockout.key) { remote.backoff.block(source, until: end) }
            case .quietKey:
                if let key = Fingerprint(base64url: lockout.key) { askLimits.quiet(key, at: since) }
            case .quietSource: if let source = IPAddress(lockout.key) { askLimits.quiet(source, at: since) }
            case .askedWindow: askLimits.windowOpened(lockout.key, at: since)
            }
        }
    }

    /// Everything that holds somebody back now.
    func lockouts(_ moment: Moment) -> [Lockout] {
        home.backoff.blocked(at: moment.now).map { lockout(.homeBackoff, $0.description, $1, moment) }
            + remote.backoff.blocked(at: moment.now).map {
                lockout(.remoteBackoff, $0.description, $1, moment)
            }
            + askLimits.quietKeys(at: moment.now).map {
                lockout(.quietKey, $0.base64url, $1 + AskLimits.span, moment)
            }
            + askLimits.quietSources(at: moment.now).map {
                lockout(.quietSource, $0.description, $1 + AskLimits.span, moment)
            }
            + askLimits.windows(at: moment.now).map {
                lockout(.askedWindow, $0, $1 + AskLimits.span, moment)
            }
    }

    /// Keeps what `change` adds, and lets go of what it takes away.
    mutating func changeLockouts(_ moment: Moment, _ change: (inout Core) -> Void) {
        let before = Set(lockouts(moment))
        change(&self)
        let after = Set(lockouts(moment))
        let kept = Set(after.map { [$0.kind.rawValue, $0.key] })
        let ended = before.filter { !kept.contains([$0.kind.rawValue, $0.key]) }
            .map { Lockout($0.kind, $0.key, until: moment.wall) }
        keep(after.subtracting(before) + ended, moment)
    }

    /// Hands them to the store.
    mutating func keep(_ lockouts: [Lockout], _ moment: Moment) {
        guard !lockouts.isEmpty else { return }
        emit(.record(StoreCommit(change: .lockouts(lockouts, now: moment.wall), audit: [])))
    }

    /// One that ends at `end`.
    func lockout(_ kind: Lockout.Kind, _ key: String, _ end: MonotonicTime, _ moment: Moment) -> Lockout {
        let rest = (end - moment.now).wholeNanoseconds / 1_000_000
        return Lockout(kind, key, until: WallTime(milliseconds: moment.wall.milliseconds + rest))
    }

    private func length(of kind: Lockout.Kind) -> Duration {
        switch kind {
        case .homeBackoff, .remoteBackoff: limits.backoff
        case .quietKey, .quietSource, .askedWindow: AskLimits.span
        }
    }
}

extension Door {
    /// What its backoffs are stored as.
    var backoffKind: Lockout.Kind { self == .home ? .homeBackoff : .remoteBackoff }
}
