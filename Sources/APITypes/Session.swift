// Sessions as the API shows them. SPDX-License-Identifier: Apache-2.0

package import Wire

/// One session (spec 09.22).
package struct SessionItem: APIObject {
    /// The session's ID.
    package var id: String
    /// Its paired device; nil for an unpaired one.
    package var device: DeviceRef?
    /// `home` or `remote`.
    package var door: String
    /// `loopback`, `direct`, `lan`, `vpn` or `internet`.
    package var origin: String
    /// Whether it is proven to come over the cable.
    package var cable: Bool
    /// How it comes, for people: "on this network".
    package var route: String
    /// Whether it counts as away from home.
    package var away: Bool
    /// Whether its key is paired.
    package var paired: Bool
    /// `relay` or `delegated`.
    package var mode: String
    /// When it was registered.
    package var startedAt: WallTime
    /// The device's address and port.
    package var remote: String
    /// Bytes from the device, decrypted.
    package var bytesIn: UInt64
    /// Bytes to the device, decrypted.
    package var bytesOut: UInt64
    /// What its first hello said; nil before one.
    package var hello: HelloItem?
    /// How its link does.
    package var link: LinkItem
    /// Why it ends; once it was told to go (spec 09.24).
    package var goodbye: GoodbyeItem?

    /// All of it.
    package init(
        id: String, device: DeviceRef?, door: String, origin: String, cable: Bool, route: String, away: Bool,
        paired: Bool, mode: String, startedAt: WallTime, remote: String, bytesIn: UInt64, bytesOut: UInt64,
        hello: HelloItem?, link: LinkItem, goodbye: GoodbyeItem? = nil
    ) {
        self.id = id
        self.device = device
        self.door = door
        self.origin = origin
        self.cable = cable
        self.route = route
        self.away = away
        self.paired = paired
        self.mode = mode
        self.startedAt = startedAt
        self.remote = remote
        self.bytesIn = bytesIn
        self.bytesOut = bytesOut
        self.hello = hello
        self.link = link
        self.goodbye = goodbye
    }

    package init(json: JSON) throws(JSONError) {
        id = try json.requiredString("id")
        device = try json.optional("device", DeviceRef.init(json:))
        door = try json.requiredString("door")
        origin = try json.requiredString("origin")
        cable = try json.requiredBool("cable")
        route = try json.requiredString("route")
        away = try json.requiredBool("away")
        paired = try json.requiredBool("paired")
        mode = try json.requiredString("mode")
        startedAt = try json.requiredTime("startedAt")
        remote = try json.requiredString("remote")
        bytesIn = UInt64(max(0, try json.requiredInt("bytesIn")))
        bytesOut = UInt64(max(0, try json.requiredInt("bytesOut")))
        hello = try json.optional("hello", HelloItem.init(json:))
        link = try json.optional("link", LinkItem.init(json:)) ?? LinkItem()
        goodbye = try json.optional("goodbye", GoodbyeItem.init(json:))
    }

    package func encode(into writer: inout JSONWriter) {
        writer.field("id", id)
        writer.object("device", orNull: device)
        writer.field("door", door)
        writer.field("origin", origin)
        writer.field("cable", cable)
        writer.field("route", route)
        writer.field("away", away)
        writer.field("paired", paired)
        writer.field("mode", mode)
        writer.field("startedAt", startedAt.rfc3339)
        writer.field("remote", remote)
        writer.field("bytesIn", bytesIn)
        writer.field("bytesOut", bytesOut)
        writer.object("hello", orNull: hello)
        writer.object("link") { link.encode(into: &$0) }
        writer.object("goodbye", ifPresent: goodbye)
    }
}

/// A session's link, as far as anyone counted it.
package struct LinkItem: APIObject {
    /// What would fit the link better.
    package struct Suggestion: Sendable, Equatable {
        /// Bits per second.
        package var bitrate: Int
        /// 1 or 2; nil: leave it.
        package var captureScale: Int?

        /// A lower setting.
        package init(bitrate: Int, captureScale: Int?) {
            self.bitrate = bitrate
            self.captureScale = captureScale
        }
    }

    /// `fine` unless a report says otherwise.
    package var state: String
    /// What the link carried, in kilobits per second.
    package var carriedKbps: Int?
    /// What would fit it better.
    package var suggestion: Suggestion?

    /// A link; one that nobody complained about without arguments.
    package init(state: String = "fine", carriedKbps: Int? = nil, suggestion: Suggestion? = nil) {
        self.state = state
        self.carriedKbps = carriedKbps
        self.suggestion = suggestion
    }

    package init(json: JSON) throws(JSONError) {
        state = try json.requiredString("state")
        carriedKbps = try json.optionalInt("carriedKbps")
        suggestion = try json.optional("suggestion") { json throws(JSONError) in
            Suggestion(
                bitrate: try json.requiredInt("bitrate"),
                captureScale: try json.optionalInt("captureScale"))
        }
    }

    package func encode(into writer: inout JSONWriter) {
        writer.field("state", state)
        writer.field("carriedKbps", ifPresent: carriedKbps)
        guard let suggestion else { return }
        writer.object("suggestion") { object in
            object.field("bitrate", suggestion.bitrate)
            object.field("captureScale", ifPresent: suggestion.captureScale)
        }
    }
}

/// What a device's hello said (kind 23).
package struct HelloItem: APIObject {
    /// The app's version.
    package var appVersion: String?
    /// The app's build.
    package var build: String?
    /// The device's model.
    package var device: String?
    /// The protocol generation it speaks.
    package var protocolGeneration: Int?
    /// Audio formats it takes.
    package var audio: [String]?

    /// A hello with what it had.
    package init(
        appVersion: String?, build: String?, device: String?, protocolGeneration: Int?, audio: [String]?
    ) {
        self.appVersion = appVersion
        self.build = build
        self.device = device
        self.protocolGeneration = protocolGeneration
        self.audio = audio
    }

    package init(json: JSON) throws(JSONError) {
        appVersion = try json.optionalString("appVersion")
        build = try json.optionalString("build")
        device = try json.optionalString("device")
        protocolGeneration = try json.optionalInt("protocolGeneration")
        audio = try json.optionalArray("audio") == nil ? nil : try json.strings("audio")
    }

    package func encode(into writer: inout JSONWriter) {
        writer.field("appVersion", ifPresent: appVersion)
        writer.field("build", ifPresent: build)
        writer.field("device", ifPresent: device)
        writer.field("protocolGeneration", ifPresent: protocolGeneration)
        if let audio { writer.list("audio", audio) }
    }
}

/// A goodbye (kind 22).
package struct GoodbyeItem: APIObject {
    /// `removed`, `remoteOff`, `internetOff`, `quit`, `busy`, `pairingRequired`, `update`, `noHost`, `ended`.
    package var reason: String
    /// For the person at the device.
    package var message: String?
    /// The least app version that is let in; with `update`.
    package var minimumVersion: String?
    /// Whether the device should try again by itself.
    package var reconnect: Bool?

    /// A goodbye.
    package init(reason: String, message: String?, minimumVersion: String?, reconnect: Bool?) {
        self.reason = reason
        self.message = message
        self.minimumVersion = minimumVersion
        self.reconnect = reconnect
    }

    package init(json: JSON) throws(JSONError) {
        reason = try json.requiredString("reason")
        message = try json.optionalString("message")
        minimumVersion = try json.optionalString("minimumVersion")
        reconnect = try json.optionalBool("reconnect")
    }

    package func encode(into writer: inout JSONWriter) {
        writer.field("reason", reason)
        writer.field("message", ifPresent: message)
        writer.field("minimumVersion", ifPresent: minimumVersion)
        writer.field("reconnect", ifPresent: reconnect)
    }
}

/// `GET /v1/whois` (spec 09.27).
package struct Whois: APIObject {
    /// The session behind the address.
    package var session: SessionItem
    /// Its device; nil when it is not paired.
    package var device: Device?

    /// Who it is.
    package init(session: SessionItem, device: Device?) {
        self.session = session
        self.device = device
    }

    package init(json: JSON) throws(JSONError) {
        session = try json.required("session", SessionItem.init(json:))
        device = try json.optional("device", Device.init(json:))
    }

    package func encode(into writer: inout JSONWriter) {
        writer.object("session") { session.encode(into: &$0) }
        writer.object("device", orNull: device)
    }
}
