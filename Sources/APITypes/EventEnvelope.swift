// Events as they travel. SPDX-License-Identifier: Apache-2.0

package import Wire

/// One event of `GET /v1/events` (spec 07, 09.24), as a client has read it off the stream.
package struct EventEnvelope: Sendable, Equatable {
    /// The `event:` names of this version.
    package enum Kind {
        /// Events are missing before the next one: read again what matters.
        package static let reset = "reset"
        /// A window opened.
        package static let pairingOpened = "pairing.opened"
        /// A window closed; says how.
        package static let pairingClosed = "pairing.closed"
        /// A device wants to pair.
        package static let pairingRequested = "pairing.requested"
        /// A device was paired.
        package static let devicePaired = "device.paired"
        /// A device has another name.
        package static let deviceRenamed = "device.renamed"
        /// A device was removed.
        package static let deviceRemoved = "device.removed"
        /// A device was in a session.
        package static let deviceSeen = "device.seen"
        /// A session began.
        package static let sessionOpened = "session.opened"
        /// A session is to end with the goodbye it carries.
        package static let sessionClosing = "session.closing"
        /// A session has ended.
        package static let sessionClosed = "session.closed"
        /// The quality that runs, or a pair, changed.
        package static let qualityChanged = "quality.changed"
        /// A session's link does otherwise.
        package static let linkChanged = "link.changed"
        /// Settings changed.
        package static let settingsChanged = "settings.changed"
        /// A door opened, closed or failed.
        package static let doorChanged = "door.changed"
        /// What kind 18 says changed: fetch it again and send it to every session.
        package static let hostInfoChanged = "host-info.changed"
        /// The reachability report says something else.
        package static let reachabilityChanged = "reachability.changed"
        /// The host was locked or unlocked.
        package static let lockChanged = "lock.changed"
        /// The host has another key, and no device is paired; stands for a `device.removed` of each.
        package static let identityRotated = "identity.rotated"
    }

    /// Grows, also across restarts. nil in `reset` when the stream gave none.
    package var id: Int64?
    /// One of `Kind`; later services may have more.
    package var type: String
    /// The changed object plus `at`.
    package var data: JSON

    /// An event.
    package init(id: Int64?, type: String, data: JSON) {
        self.id = id
        self.type = type
        self.data = data
    }
}

/// The window in `pairing.opened` and `pairing.closed`: never its secrets.
package struct WindowEvent: APIObject {
    /// The window's ID.
    package var id: String
    /// What it was while open; nil in `pairing.closed`.
    package var open: WindowSummary.Open?
    /// The device whose ask opened it.
    package var askedBy: DeviceRef?
    /// Who the caller said wants it.
    package var requestedBy: String?
    /// How it ended; only in `pairing.closed`.
    package var outcome: String?
    /// The ID of the device that used it; only in `pairing.closed`.
    package var device: String?

    /// A window that opened.
    package init(id: String, open: WindowSummary.Open, askedBy: DeviceRef?, requestedBy: String?) {
        self.id = id
        self.open = open
        self.askedBy = askedBy
        self.requestedBy = requestedBy
    }

    /// A window that closed.
    package init(id: String, outcome: String, device: String?) {
        self.id = id
        self.outcome = outcome
        self.device = device
    }

    package init(json: JSON) throws(JSONError) {
        id = try json.requiredString("id")
        if json["remote"] != nil {
            open = WindowSummary.Open(
                remote: try json.requiredBool("remote"), expiresAt: try json.requiredTime("expiresAt"),
                triesLeft: try json.requiredInt("triesLeft"), openedBy: try json.requiredString("openedBy"))
        }
        askedBy = try json.optional("askedBy", DeviceRef.init(json:))
        requestedBy = try json.optionalString("requestedBy")
        outcome = try json.optionalString("outcome")
        device = try json.optionalString("device")
    }

    package func encode(into writer: inout JSONWriter) {
        writer.field("id", id)
        if let open {
            writer.field("remote", open.remote)
            writer.field("expiresAt", open.expiresAt.rfc3339)
            writer.field("triesLeft", open.triesLeft)
            writer.field("openedBy", open.openedBy)
        }
        writer.object("askedBy", ifPresent: askedBy)
        writer.field("requestedBy", ifPresent: requestedBy)
        if let outcome {
            writer.field("outcome", outcome)
            writer.field("device", orNull: device)
        }
    }
}
