// One screen about the service. SPDX-License-Identifier: Apache-2.0

package import Wire

/// `GET /v1/status` (spec 09.23).
package struct Status: APIObject {
    /// The service's version.
    package var version: String
    /// The host's Sill ID.
    package var hostID: String
    /// The name that devices show.
    package var name: String
    /// When the service started.
    package var startedAt: WallTime
    /// Seconds since then, on the monotonic clock.
    package var uptime: Double
    /// `locked` or `unlocked`: whether asks may pair or open a window now.
    package var lock: String
    /// The home door.
    package var home: DoorStatus
    /// The remote door.
    package var remote: DoorStatus
    /// The pairing window, without its secrets.
    package var window: WindowSummary
    /// Sessions now.
    package var sessions: Int
    /// Paired devices.
    package var devices: Int
    /// Which of the two quality settings runs: `home` or `away`.
    package var qualityRuns: String
    /// `on`, `off` or `unavailable`.
    package var advertising: String
    /// The last report's verdict; nil before the first.
    package var reachability: ReachabilitySummary?
    /// The device that wants to pair but sees no window (spec 03 section 12.8).
    package var request: PairingRequestItem?
    /// What a person should know (spec 03 section 8).
    package var notices: [Notice]

    /// All of it.
    package init(
        version: String, hostID: String, name: String, startedAt: WallTime, uptime: Double, lock: String,
        home: DoorStatus, remote: DoorStatus, window: WindowSummary, sessions: Int, devices: Int,
        qualityRuns: String, advertising: String, reachability: ReachabilitySummary?,
        request: PairingRequestItem?, notices: [Notice]
    ) {
        self.version = version
        self.hostID = hostID
        self.name = name
        self.startedAt = startedAt
        self.uptime = uptime
        self.lock = lock
        self.home = home
        self.remote = remote
        self.window = window
        self.sessions = sessions
        self.devices = devices
        self.qualityRuns = qualityRuns
        self.advertising = advertising
        self.reachability = reachability
        self.request = request
        self.notices = notices
    }

    package init(json: JSON) throws(JSONError) {
        version = try json.requiredString("version")
        hostID = try json.requiredString("hostID")
        name = try json.requiredString("name")
        startedAt = try json.requiredTime("startedAt")
        uptime = try json.requiredDouble("uptime")
        lock = try json.requiredString("lock")
        let doors = try json.requiredObject("doors")
        home = try doors.required("home", DoorStatus.init(json:))
        remote = try doors.required("remote", DoorStatus.init(json:))
        window = try json.required("window", WindowSummary.init(json:))
        sessions = try json.requiredInt("sessions")
        devices = try json.requiredInt("devices")
        qualityRuns = try json.requiredObject("quality").requiredString("runs")
        advertising = try json.requiredString("advertising")
        reachability = try json.optional("reachability", ReachabilitySummary.init(json:))
        request = try json.optional("request", PairingRequestItem.init(json:))
        notices = try json.list("notices", Notice.init(json:))
    }

    package func encode(into writer: inout JSONWriter) {
        writer.field("version", version)
        writer.field("hostID", hostID)
        writer.field("name", name)
        writer.field("startedAt", startedAt.rfc3339)
        writer.field("uptime", uptime)
        writer.field("lock", lock)
        writer.object("doors") { doors in
            doors.object("home") { home.encode(into: &$0) }
            doors.object("remote") { remote.encode(into: &$0) }
        }
        writer.object("window") { window.encode(into: &$0) }
        writer.field("sessions", sessions)
        writer.field("devices", devices)
        writer.object("quality") { $0.field("runs", qualityRuns) }
        writer.field("advertising", advertising)
        writer.object("reachability", orNull: reachability)
        writer.object("request", orNull: request)
        writer.list("notices", notices)
    }
}

/// One door in the status and in `door.changed`.
package struct DoorStatus: APIObject {
    /// `open`, `closed` or `failed`.
    package var state: String
    /// The port it listens on, or the one it wants when it failed; nil when closed.
    package var port: Int?
    /// Why it failed, for people.
    package var problem: String?

    /// A door's state.
    package init(state: String, port: Int? = nil, problem: String? = nil) {
        self.state = state
        self.port = port
        self.problem = problem
    }

    package init(json: JSON) throws(JSONError) {
        state = try json.requiredString("state")
        port = try json.optionalInt("port")
        problem = try json.optionalString("problem")
    }

    package func encode(into writer: inout JSONWriter) {
        writer.field("state", state)
        if let port { writer.field("port", port) } else { writer.null("port") }
        writer.field("problem", ifPresent: problem)
    }
}

/// The pairing window in the status: never its secrets.
package struct WindowSummary: APIObject {
    /// What is said of an open window.
    package struct Open: Sendable, Equatable {
        /// Whether the remote door pairs with it too.
        package var remote: Bool
        /// When it closes by itself.
        package var expiresAt: WallTime
        /// Wrong proofs it still takes.
        package var triesLeft: Int
        /// `admin`, `host` or `device`.
        package var openedBy: String

        /// An open window.
        package init(remote: Bool, expiresAt: WallTime, triesLeft: Int, openedBy: String) {
            self.remote = remote
            self.expiresAt = expiresAt
            self.triesLeft = triesLeft
            self.openedBy = openedBy
        }
    }

    /// nil when no window is open.
    package var open: Open?

    /// An open window, or none.
    package init(open: Open?) { self.open = open }

    package init(json: JSON) throws(JSONError) {
        guard try json.requiredBool("open") else { return }
        open = Open(
            remote: try json.requiredBool("remote"), expiresAt: try json.requiredTime("expiresAt"),
            triesLeft: try json.requiredInt("triesLeft"), openedBy: try json.requiredString("openedBy"))
    }

    package func encode(into writer: inout JSONWriter) {
        writer.field("open", open != nil)
        guard let open else { return }
        writer.field("remote", open.remote)
        writer.field("expiresAt", open.expiresAt.rfc3339)
        writer.field("triesLeft", open.triesLeft)
        writer.field("openedBy", open.openedBy)
    }
}

/// The reachability verdict in one line.
package struct ReachabilitySummary: APIObject {
    /// The report's overall code.
    package var verdict: String
    /// When it was made.
    package var at: WallTime

    /// A verdict and its time.
    package init(verdict: String, at: WallTime) {
        self.verdict = verdict
        self.at = at
    }

    package init(json: JSON) throws(JSONError) {
        verdict = try json.requiredString("verdict")
        at = try json.requiredTime("at")
    }

    package func encode(into writer: inout JSONWriter) {
        writer.field("verdict", verdict)
        writer.field("at", at.rfc3339)
    }
}

/// A device that wants to pair (spec 03 section 12.8).
package struct PairingRequestItem: APIObject {
    /// The device's name, cleaned.
    package var name: String
    /// Where it asked from.
    package var place: String
    /// When it asked.
    package var at: WallTime
    /// `showing`, `locked` or `limit`.
    package var state: String

    /// One request.
    package init(name: String, place: String, at: WallTime, state: String) {
        self.name = name
        self.place = place
        self.at = at
        self.state = state
    }

    package init(json: JSON) throws(JSONError) {
        name = try json.requiredString("name")
        place = try json.requiredString("place")
        at = try json.requiredTime("at")
        state = try json.requiredString("state")
    }

    package func encode(into writer: inout JSONWriter) {
        writer.field("name", name)
        writer.field("place", place)
        writer.field("at", at.rfc3339)
        writer.field("state", state)
    }
}

/// Something a person should know, for as long as it holds.
package struct Notice: APIObject {
    /// `olderDevice` (spec 03 section 8); later services may have more.
    package var kind: String
    /// Where it was seen.
    package var place: String
    /// When it ends by itself.
    package var until: WallTime

    /// One notice.
    package init(kind: String, place: String, until: WallTime) {
        self.kind = kind
        self.place = place
        self.until = until
    }

    package init(json: JSON) throws(JSONError) {
        kind = try json.requiredString("kind")
        place = try json.optionalString("place") ?? ""
        until = try json.requiredTime("until")
    }

    package func encode(into writer: inout JSONWriter) {
        writer.field("kind", kind)
        writer.field("place", place)
        writer.field("until", until.rfc3339)
    }
}

/// `GET /healthz`.
package struct Health: APIObject {
    /// `ok` or `degraded`.
    package var status: String
    /// Why it is degraded; empty when ok.
    package var reasons: [String]

    /// Ok without reasons, degraded with.
    package init(reasons: [String]) {
        status = reasons.isEmpty ? "ok" : "degraded"
        self.reasons = reasons
    }

    package init(json: JSON) throws(JSONError) {
        status = try json.requiredString("status")
        reasons = json["reasons"] == nil ? [] : try json.strings("reasons")
    }

    package func encode(into writer: inout JSONWriter) {
        writer.field("status", status)
        if !reasons.isEmpty { writer.list("reasons", reasons) }
    }
}

/// The answer to `PUT /v1/lock` (spec 09.19), and its body.
package struct LockBody: APIObject {
    /// Whether the host counts as locked: asks neither pair nor open a window.
    package var locked: Bool

    /// Locked or not.
    package init(locked: Bool) { self.locked = locked }

    package init(json: JSON) throws(JSONError) { locked = try json.requiredBool("locked") }

    package func encode(into writer: inout JSONWriter) { writer.field("locked", locked) }
}
