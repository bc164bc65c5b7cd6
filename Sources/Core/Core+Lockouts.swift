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
        var row = AuditRow(at: moment.wall, actor: actor.text, action: "lockouts.clear", outcome: "ok")
        switch which {
        case .all:
            home.backoff.clearAll()
            remote.backoff.clearAll()
            askLimits.clear()
        case .source(let source):
            // What a source is counted by depends on where it came from; it is the same person in every case.
            for origin in [Origin.loopback, .direct, .lan, .vpn, .internet] {
                let limited = Source.limited(source, origin)
                home.backoff.clear(limited)
                remote.backoff.clear(limited)
                askLimits.forget(source: limited)
            }
            askLimits.forget(source: source)
            row.remote = source.description
        case .device(let id):
            askLimits.forget(device: id)
            row.device = id.text
        }
        audit(row)
    }
}
