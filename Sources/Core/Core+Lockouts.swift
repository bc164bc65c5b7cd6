// SPDX-License-Identifier: Apache-2.0

internal import Policy
package import Wire

/// What an admin lets go early (09.32b).
extension Core {
    /// Whose backoffs and quiet times.
    package enum Lockouts: Sendable, Equatable {
        /// Everybody's, and the count of asked windows.
        case all
        /// One address's.
        case source(IPAddress)
        /// One device's, paired or not.
        case device(SillID)
    }

    /// `DELETE /v1/lockouts`.
    package mutating func forgetLockouts(_ which: Lockouts, actor: Actor, _ moment: Moment) {
        settle(moment)
        changeLockouts(moment) { $0.forget(which) }
        var row = AuditRow(at: moment.wall, actor: actor.text, action: "lockouts.clear", outcome: "ok")
        switch which {
        case .all: break
        case .source(let source): row.remote = source.description
        case .device(let id): row.device = id.text
        }
        audit(row)
    }

    private mutating func forget(_ which: Lockouts) {
        switch which {
        case .all:
            home.backoff.clearAll()
            remote.backoff.clearAll()
            askLimits.clear()
        case .source(let source):
            // What a source is counted by depends on where it came from; it is the same person in every case.
            for origin in Origin.allCases {
                let limited = Source.limited(source, origin)
                home.backoff.clear(limited)
                remote.backoff.clear(limited)
            }
            askLimits.forget(source: Source.of(source))
        case .device(let id): askLimits.forget(device: id)
        }
    }
}
