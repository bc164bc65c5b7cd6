// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
package import Wire

/// The core behind its one lock. Door workers, the API's thread and timers all enter it the same way, for
/// microseconds, and nobody waits inside.
package final class SharedCore: Sendable {
    private let core: Mutex<Core>
    private let published: Mutex<TrustSnapshot>
    private let clock: @Sendable () -> MonotonicTime
    private let wall: @Sendable () -> WallTime
    private let carryOut: @Sendable (Effect) -> Void

    /// `carryOut` is called under the lock, in order, and must only enqueue.
    package init(
        _ core: consuming Core, clock: @escaping @Sendable () -> MonotonicTime,
        wall: @escaping @Sendable () -> WallTime, carryOut: @escaping @Sendable (Effect) -> Void
    ) {
        published = Mutex(core.trust)
        self.core = Mutex(core)
        self.clock = clock
        self.wall = wall
        self.carryOut = carryOut
    }

    /// The trust that holds now. Never waits for the core: the lock under it is held for one copy of a reference.
    package var trust: TrustSnapshot { published.withLock { $0 } }

    /// The API's hot call, here so that `enter` is compiled for it alone.
    package func admission(_ query: AdmissionQuery) -> AdmissionAnswer {
        enter { core, moment in core.admission(query, moment) }
    }

    /// Runs `body` alone, publishes the snapshot when it changed, then hands over the effects in order.
    package func enter<R: Sendable>(_ body: (inout Core, Moment) -> R) -> R {
        core.withLock { core in
            let before = core.trust
            let result = body(&core, Moment(now: clock(), wall: wall()))
            let trust = core.trust
            if trust !== before { published.withLock { $0 = trust } }
            for effect in core.takeEffects() { carryOut(effect) }
            return result
        }
    }
}
