// SPDX-License-Identifier: Apache-2.0

package import Policy
package import Synchronization
package import Wire

/// A session's byte counts, shared between the worker that moves them and whoever shows them.
package final class SessionCounters: Sendable {
    /// From the device.
    package let bytesIn = Atomic<UInt64>(0)
    /// To the device.
    package let bytesOut = Atomic<UInt64>(0)

    package init() {}
}

/// Whether the service itself carries a session's bytes (00).
package enum SessionMode: String, Sendable, Hashable {
    /// Through a door worker to the backend.
    case relay
    /// The streaming process holds the connection.
    case delegated
}

/// One session as the API, the relay and the log see it.
package struct SessionView: Sendable, Equatable {
    /// Its name in the API.
    package var id: SessionID
    /// The key that was pinned; nil never happens for an admitted session of today's rules.
    package var fingerprint: Fingerprint?
    /// The record of that key; nil when it is not paired.
    package var device: DeviceRef?
    /// Which door it came by.
    package var door: Door
    /// Where from.
    package var origin: Origin
    /// Whether it is the USB cable (04).
    package var cable: Bool
    /// How it is named to people (03 §3.7).
    package var route: String
    /// By the remote door from a VPN or the internet.
    package var away: Bool
    /// Whether its key is on the list.
    package var paired: Bool
    /// Who carries its bytes.
    package var mode: SessionMode
    /// When it was registered.
    package var startedAt: WallTime
    /// The device's address and port.
    package var remote: SocketAddress
    /// The address it came to.
    package var local: SocketAddress?
    /// The interface it arrived by; nil when unknown.
    package var arrival: String?
    /// Its first hello, cleaned; nil until one came.
    package var hello: Hello?
    /// Its bytes.
    package var counters: SessionCounters
    /// The connection under it.
    package var connection: ConnectionID
    /// How its link does; filled in when it is shown.
    package var link = SessionLinkView()
    /// Set once a goodbye was sent: it is only waiting to close.
    package var goodbye: Goodbye?

    package static func == (left: SessionView, right: SessionView) -> Bool {
        left.id == right.id && left.fingerprint == right.fingerprint && left.device == right.device
            && left.door == right.door && left.origin == right.origin && left.cable == right.cable
            && left.route == right.route && left.away == right.away && left.paired == right.paired
            && left.mode == right.mode && left.startedAt == right.startedAt && left.remote == right.remote
            && left.local == right.local && left.arrival == right.arrival && left.hello == right.hello
            && left.counters === right.counters && left.connection == right.connection
            && left.link == right.link && left.goodbye == right.goodbye
    }
}
