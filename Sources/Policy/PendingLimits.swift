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

    /// A newcomer. Two of its source are enough. A full door closes the newcomer, or, where the limits say so, its oldest
    /// connection without a complete ClientHello; but its oldest that has sent one while those are the more.
    ///
    /// The last words are for a device far away, whose hello takes a while: were a silent one always the first to go, a
    /// crowd that says hello and then nothing would fill the door, and each next one of it would push out the device.
    package mutating func arrive(_ id: ID, from source: IPAddress) -> Verdict {
        if perSource[source, default: 0] >= limits.pendingPerSource { return .refused }
        var victim: ID?
        if count >= limits.pendingPerDoor {
            guard limits.makesRoom else { return .refused }
            victim = (silent.count >= talking.count ? silent.first : talking.first)?.key
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
