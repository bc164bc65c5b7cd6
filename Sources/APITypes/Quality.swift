// The two qualities and the links as the API shows them. SPDX-License-Identifier: Apache-2.0

package import Wire

/// `GET /v1/quality` and `quality.changed` (spec 06 C1, 09.24).
package struct QualityItem: APIObject {
    /// Who is connected, and so why that pair runs.
    package struct Why: APIObject {
        /// Devices at home.
        package var home: Int
        /// Devices away.
        package var away: Int
        /// In one clause.
        package var reason: String

        /// All of it.
        package init(home: Int, away: Int, reason: String) {
            self.home = home
            self.away = away
            self.reason = reason
        }

        package init(json: JSON) throws(JSONError) {
            home = try json.requiredInt("home")
            away = try json.requiredInt("away")
            reason = try json.requiredString("reason")
        }

        package func encode(into writer: inout JSONWriter) {
            writer.field("home", home)
            writer.field("away", away)
            writer.field("reason", reason)
        }
    }

    /// `home` or `away`: the pair that is wanted.
    package var runs: String
    /// The quality at home.
    package var home: SettingsBody.Quality
    /// The quality away.
    package var away: SettingsBody.Quality
    /// Frames per second at most.
    package var maxFPS: Int
    /// Who is connected.
    package var why: Why
    /// What the stream runs with as far as is known; nil when it has stopped.
    package var running: RunningItem?
    /// Each session's view; nil in an event of many.
    package var sessions: [SessionQualityItem]?

    /// All of it.
    package init(
        runs: String, home: SettingsBody.Quality, away: SettingsBody.Quality, maxFPS: Int, why: Why,
        running: RunningItem?, sessions: [SessionQualityItem]?
    ) {
        self.runs = runs
        self.home = home
        self.away = away
        self.maxFPS = maxFPS
        self.why = why
        self.running = running
        self.sessions = sessions
    }

    package init(json: JSON) throws(JSONError) {
        runs = try json.requiredString("runs")
        home = try json.required("home", SettingsBody.Quality.init(json:))
        away = try json.required("away", SettingsBody.Quality.init(json:))
        maxFPS = try json.requiredInt("maxFPS")
        why = try json.required("why", Why.init(json:))
        running = try json.optional("running", RunningItem.init(json:))
        sessions =
            json["sessions"] == nil ? nil : try json.list("sessions", SessionQualityItem.init(json:))
    }

    package func encode(into writer: inout JSONWriter) {
        writer.field("runs", runs)
        writer.object("home") { home.encode(into: &$0) }
        writer.object("away") { away.encode(into: &$0) }
        writer.field("maxFPS", maxFPS)
        writer.object("why") { why.encode(into: &$0) }
        writer.object("running", orNull: running)
        guard let sessions else { return }
        writer.list("sessions", sessions)
    }
}

/// What a stream runs with.
package struct RunningItem: APIObject {
    /// Bits per second per 60 frames a second.
    package var bitrate: Int
    /// Frames per second.
    package var fps: Int
    /// 1 or 2.
    package var captureScale: Int

    /// All of it.
    package init(bitrate: Int, fps: Int, captureScale: Int) {
        self.bitrate = bitrate
        self.fps = fps
        self.captureScale = captureScale
    }

    package init(json: JSON) throws(JSONError) {
        bitrate = try json.requiredInt("bitrate")
        fps = try json.requiredInt("fps")
        captureScale = try json.requiredInt("captureScale")
    }

    package func encode(into writer: inout JSONWriter) {
        writer.field("bitrate", bitrate)
        writer.field("fps", fps)
        writer.field("captureScale", captureScale)
    }
}

/// One session's part: what its kind 16 says (spec 06 A4).
package struct SessionQualityItem: APIObject {
    /// The session's ID.
    package var id: String
    /// Whether it is away.
    package var away: Bool
    /// The pair that its controls set.
    package var settings: PickedSettings
    /// Nil while its link keeps up.
    package var link: LinkReportItem?

    /// All of it.
    package init(id: String, away: Bool, settings: PickedSettings, link: LinkReportItem?) {
        self.id = id
        self.away = away
        self.settings = settings
        self.link = link
    }

    package init(json: JSON) throws(JSONError) {
        id = try json.requiredString("id")
        away = try json.requiredBool("away")
        settings = try json.required("settings", PickedSettings.init(json:))
        link = try json.optional("link", LinkReportItem.init(json:))
    }

    package func encode(into writer: inout JSONWriter) {
        writer.field("id", id)
        writer.field("away", away)
        writer.object("settings") { settings.encode(into: &$0) }
        writer.object("link", ifPresent: link)
    }
}

/// What one session's controls show.
package struct PickedSettings: APIObject {
    /// Frames per second at most; shared.
    package var maxFPS: Int
    /// Bits per second per 60 frames a second, of its pair.
    package var bitrate: Int
    /// 1 or 2, of its pair.
    package var captureScale: Int

    /// All of it.
    package init(maxFPS: Int, bitrate: Int, captureScale: Int) {
        self.maxFPS = maxFPS
        self.bitrate = bitrate
        self.captureScale = captureScale
    }

    package init(json: JSON) throws(JSONError) {
        maxFPS = try json.requiredInt("maxFPS")
        bitrate = try json.requiredInt("bitrate")
        captureScale = try json.requiredInt("captureScale")
    }

    package func encode(into writer: inout JSONWriter) {
        writer.field("maxFPS", maxFPS)
        writer.field("bitrate", bitrate)
        writer.field("captureScale", captureScale)
    }
}

/// A link that does not keep up, in kind 16's own words (spec 06 A4).
package struct LinkReportItem: APIObject {
    /// `behind` or `stalled`; in an event also `fine`.
    package var state: String
    /// Frames of the second that the report was made in.
    package var withheldPerSecond: Int
    /// The encoder's target, in bits per second.
    package var bitrate: Int
    /// What the link carried, in kilobits per second.
    package var carriedKbps: Int?
    /// A lower quality that the link would carry.
    package var suggestedBitrate: Int?
    /// The scale that goes with it; nil: leave it.
    package var suggestedCaptureScale: Int?

    /// All of it.
    package init(
        state: String, withheldPerSecond: Int, bitrate: Int, carriedKbps: Int? = nil,
        suggestedBitrate: Int? = nil, suggestedCaptureScale: Int? = nil
    ) {
        self.state = state
        self.withheldPerSecond = withheldPerSecond
        self.bitrate = bitrate
        self.carriedKbps = carriedKbps
        self.suggestedBitrate = suggestedBitrate
        self.suggestedCaptureScale = suggestedCaptureScale
    }

    package init(json: JSON) throws(JSONError) {
        state = try json.requiredString("state")
        withheldPerSecond = try json.requiredInt("withheldPerSecond")
        bitrate = try json.requiredInt("bitrate")
        carriedKbps = try json.optionalInt("carriedKbps")
        suggestedBitrate = try json.optionalInt("suggestedBitrate")
        suggestedCaptureScale = try json.optionalInt("suggestedCaptureScale")
    }

    package func encode(into writer: inout JSONWriter) {
        writer.field("state", state)
        writer.field("withheldPerSecond", withheldPerSecond)
        writer.field("bitrate", bitrate)
        writer.field("carriedKbps", ifPresent: carriedKbps)
        writer.field("suggestedBitrate", ifPresent: suggestedBitrate)
        writer.field("suggestedCaptureScale", ifPresent: suggestedCaptureScale)
    }
}

/// `link.changed`.
package struct LinkEvent: APIObject {
    /// The session's ID.
    package var session: String
    /// Its paired device.
    package var device: DeviceRef?
    /// How its link does.
    package var link: LinkReportItem

    /// All of it.
    package init(session: String, device: DeviceRef?, link: LinkReportItem) {
        self.session = session
        self.device = device
        self.link = link
    }

    package init(json: JSON) throws(JSONError) {
        session = try json.requiredString("session")
        device = try json.optional("device", DeviceRef.init(json:))
        link = try LinkReportItem(json: json)
    }

    package func encode(into writer: inout JSONWriter) {
        writer.field("session", session)
        writer.object("device", orNull: device)
        link.encode(into: &writer)
    }
}

/// What `POST /v1/sessions/{id}/settings` answers.
package struct QualityPickReply: APIObject {
    /// The fields that were taken.
    package var applied: [String]
    /// The fields that were dropped.
    package var refused: [String]
    /// `home` or `away`: where bitrate and scale go.
    package var pair: String
    /// What the session's controls show now.
    package var settings: PickedSettings
    /// It came too fast, and changed nothing.
    package var limited: Bool

    /// All of it.
    package init(
        applied: [String], refused: [String], pair: String, settings: PickedSettings, limited: Bool
    ) {
        self.applied = applied
        self.refused = refused
        self.pair = pair
        self.settings = settings
        self.limited = limited
    }

    package init(json: JSON) throws(JSONError) {
        applied = try json.strings("applied")
        refused = try json.strings("refused")
        pair = try json.requiredString("pair")
        settings = try json.required("settings", PickedSettings.init(json:))
        limited = try json.requiredBool("limited")
    }

    package func encode(into writer: inout JSONWriter) {
        writer.list("applied", applied)
        writer.list("refused", refused)
        writer.field("pair", pair)
        writer.object("settings") { settings.encode(into: &$0) }
        writer.field("limited", limited)
    }
}

/// What `POST /v1/sessions/{id}/seconds` answers.
package struct LinkReply: APIObject {
    /// `fine`, `behind` or `stalled`.
    package var state: String
    /// Nil while the link keeps up.
    package var link: LinkReportItem?

    /// All of it.
    package init(state: String, link: LinkReportItem?) {
        self.state = state
        self.link = link
    }

    package init(json: JSON) throws(JSONError) {
        state = try json.requiredString("state")
        link = try json.optional("link", LinkReportItem.init(json:))
    }

    package func encode(into writer: inout JSONWriter) {
        writer.field("state", state)
        writer.object("link", ifPresent: link)
    }
}
