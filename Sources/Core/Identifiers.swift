// SPDX-License-Identifier: Apache-2.0

package import Wire

/// One accepted connection, by the worker that owns it.
package struct ConnectionID: Hashable, Sendable {
    /// The owner in the high 16 bits, its serial below.
    package let rawValue: UInt64

    /// `serial` must stay below 2^48, which a million connections a second reach in nine years.
    package init(owner: UInt16, serial: UInt64) {
        rawValue = UInt64(owner) << 48 | serial & 0xFFFF_FFFF_FFFF
    }

    /// The door worker's number, or `delegated`.
    package var owner: UInt16 { UInt16(truncatingIfNeeded: rawValue >> 48) }

    /// The owner of connections that a streaming process holds itself (03 §6).
    package static let delegated: UInt16 = 0xFFFF
}

/// A session's name in the API; never used twice, also across restarts.
package struct SessionID: Hashable, Sendable {
    /// What the API shows.
    package let text: String

    package init(text: String) {
        self.text = text
    }
}

/// A change that was handed to the store and whose result is awaited.
package struct ChangeID: Hashable, Sendable {
    /// Grows by one for each change.
    package let rawValue: UInt64

    package init(rawValue: UInt64) {
        self.rawValue = rawValue
    }
}

/// A paired device in an answer, event or list.
package struct DeviceRef: Hashable, Sendable {
    /// Its Sill ID.
    package var id: SillID
    /// As the admin named it; may be empty.
    package var name: String

    package init(id: SillID, name: String) {
        self.id = id
        self.name = name
    }
}

/// Who asked for something, for the audit record.
package struct Actor: Sendable, Hashable {
    /// `unix:0`, `token:admin`, `token:host`, `door:home`, `door:remote` or `service`.
    package var text: String
    /// Whether it is a streaming process rather than an admin.
    package var isHostRole: Bool

    package init(text: String, isHostRole: Bool = false) {
        self.text = text
        self.isHostRole = isHostRole
    }

    /// The service itself.
    package static let service = Actor(text: "service")
}

/// Both clocks, read together. Rules use `now`; `wall` is only shown and stored.
package struct Moment: Sendable, Hashable {
    /// Monotonic.
    package var now: MonotonicTime
    /// For people.
    package var wall: WallTime

    package init(now: MonotonicTime, wall: WallTime) {
        self.now = now
        self.wall = wall
    }
}
