// SPDX-License-Identifier: Apache-2.0

package import Policy
internal import Sockets
internal import Synchronization
internal import Wire

/// The home door's DNS-SD record, from any thread: what it should say is handed over, and what became of it comes back
/// through the handlers, on the bus's thread.
package final class Advertiser: Sendable {
    private struct State {
        var latest: Advertisement?
        var isHandedOver = true
        var isStopped = false
    }

    private let user: BusUserHandle<AvahiUser>
    private let state = Mutex(State())

    /// Does nothing until something is announced.
    package init(on bus: Bus, _ handlers: AvahiUser.Handlers) {
        user = bus.add { link in AvahiUser(link, handlers) }
    }

    /// Announces this from now on, in place of what was announced before; nil: nothing. Only enqueues. Of those that come
    /// while the bus's thread is busy the last one counts.
    package func announce(_ advertisement: Advertisement?) {
        let isFirst = state.withLock { state in
            if state.isStopped { return false }
            state.latest = advertisement
            defer { state.isHandedOver = false }
            return state.isHandedOver
        }
        guard isFirst else { return }
        user.tell { [self] user in
            let advertisement = state.withLock { state in
                state.isHandedOver = true
                return state.latest
            }
            user.announce(advertisement)
        }
    }

    /// Withdraws what is announced and announces nothing any more. Waits until Avahi has done it, at most `limit`: a
    /// record that is not withdrawn by then goes with the connection to the bus.
    package func stop(within limit: Duration) {
        state.withLock { state in
            state.latest = nil
            state.isStopped = true
        }
        guard let withdrawn = try? WakeUp() else { return }
        user.tell { user in user.withdraw { withdrawn.signal() } }
        _ = withdrawn.wait(until: monotonicNow() + limit)
    }
}
