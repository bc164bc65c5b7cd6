// SPDX-License-Identifier: Apache-2.0

package import Wire

/// How many connections of one door may be between accept and admission (03 §7.1).
package struct PendingLimits<ID: Hashable & Sendable>: Sendable {
    /// What becomes of a newcomer.
    package enum Verdict: Sendable, Equatable {
        /// It is pending now.
        case admitted
        /// It is pending now, and this one is closed for it (word `limit`, no failure).
        case admittedInsteadOf(ID)
        /// Closed (word `limit`, no failure).
        case refused
    }

    private let limits: DoorLimits
    private var perSource: [IPAddress: Int] = [:]
    private var silent = LinkedTable<ID, IPAddress>()
    private var talking = LinkedTable<ID, IPAddress>()

    package init(_ limits: DoorLimits = .shipped) {
        self.limits = limits
    }

    /// Pending now.
    package var count: Int { silent.count + talking.count }

    /// A newcomer. Two of its source are enough; a full door closes its oldest connection without a complete
    /// ClientHello, or, if all have sent one, its oldest, where the limits say so, else the newcomer.
    package mutating func arrive(_ id: ID, from source: IPAddress) -> Verdict {
        if perSource[source, default: 0] >= limits.pendingPerSource { return .refused }
        var victim: ID?
        if count >= limits.pendingPerDoor {
            guard limits.makesRoom else { return .refused }
            victim = silent.first?.key ?? talking.first?.key
            if let victim { leave(victim) }
        }
        silent[id] = source
        perSource[source, default: 0] += 1
        return victim.map { .admittedInsteadOf($0) } ?? .admitted
    }

    /// It sent a complete ClientHello.
    package mutating func sentClientHello(_ id: ID) {
        if let source = silent.remove(id) { talking[id] = source }
    }

    /// It is admitted, refused or gone.
    package mutating func leave(_ id: ID) {
        guard let source = silent.remove(id) ?? talking.remove(id) else { return }
        let left = perSource[source, default: 1] - 1
        perSource[source] = left > 0 ? left : nil
    }
}
