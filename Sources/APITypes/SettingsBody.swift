// The settings object. SPDX-License-Identifier: Apache-2.0

package import Wire

/// `GET` and `PATCH /v1/settings` answer with this: the values in force (spec 07, 09 points 18 and 41).
package struct SettingsBody: APIObject {
    /// One quality pair.
    package struct Quality: APIObject {
        /// Bits per second.
        package var bitrate: Int
        /// 1 or 2.
        package var captureScale: Int

        /// A pair.
        package init(bitrate: Int, captureScale: Int) {
            self.bitrate = bitrate
            self.captureScale = captureScale
        }

        package init(json: JSON) throws(JSONError) {
            bitrate = try json.requiredInt("bitrate")
            captureScale = try json.requiredInt("captureScale")
        }

        package func encode(into writer: inout JSONWriter) {
            writer.field("bitrate", bitrate)
            writer.field("captureScale", captureScale)
        }
    }

    /// The name that devices show.
    package var name: String
    /// Whether the home door turns unpaired devices away.
    package var requirePairing: Bool
    /// Whether the remote door is open.
    package var remoteAccess: Bool
    /// The remote door's port; 0: any free one.
    package var remotePort: Int
    /// Whether the remote door also admits from the internet.
    package var internetAccess: Bool
    /// A name that leads to this host from outside.
    package var addressName: String?
    /// The quality at home.
    package var home: Quality
    /// The quality away.
    package var away: Quality
    /// Frames per second at most.
    package var maxFPS: Int
    /// The least app version that is let in; "0" for any.
    package var minimumDeviceVersion: String
    /// `off` or `upnp`.
    package var portMapping: String
    /// Whether the host announces itself on the local network.
    package var advertise: Bool
    /// `host:port` of a STUN server.
    package var stunServer: String?
    /// Whether mappings without an end may be made.
    package var permanentMappings: Bool
    /// Whether an IPv6 pinhole may be asked for.
    package var ipv6Pinhole: Bool
    /// Whether peer-to-peer wireless counts as a way in.
    package var direct: Bool
    /// Names of fields that the command line holds for this run (spec 09.16).
    package var overridden: [String]

    /// All of it.
    package init(
        name: String, requirePairing: Bool, remoteAccess: Bool, remotePort: Int, internetAccess: Bool,
        addressName: String?, home: Quality, away: Quality, maxFPS: Int, minimumDeviceVersion: String,
        portMapping: String, advertise: Bool, stunServer: String?, permanentMappings: Bool,
        ipv6Pinhole: Bool, direct: Bool, overridden: [String]
    ) {
        self.name = name
        self.requirePairing = requirePairing
        self.remoteAccess = remoteAccess
        self.remotePort = remotePort
        self.internetAccess = internetAccess
        self.addressName = addressName
        self.home = home
        self.away = away
        self.maxFPS = maxFPS
        self.minimumDeviceVersion = minimumDeviceVersion
        self.portMapping = portMapping
        self.advertise = advertise
        self.stunServer = stunServer
        self.permanentMappings = permanentMappings
        self.ipv6Pinhole = ipv6Pinhole
        self.direct = direct
        self.overridden = overridden
    }

    package init(json: JSON) throws(JSONError) {
        name = try json.requiredString("name")
        requirePairing = try json.requiredBool("requirePairing")
        remoteAccess = try json.requiredBool("remoteAccess")
        remotePort = try json.requiredInt("remotePort")
        internetAccess = try json.requiredBool("internetAccess")
        addressName = try json.optionalString("addressName")
        home = try json.required("home", Quality.init(json:))
        away = try json.required("away", Quality.init(json:))
        maxFPS = try json.requiredInt("maxFPS")
        minimumDeviceVersion = try json.requiredString("minimumDeviceVersion")
        portMapping = try json.requiredString("portMapping")
        advertise = try json.requiredBool("advertise")
        stunServer = try json.optionalString("stunServer")
        permanentMappings = try json.optionalBool("permanentMappings") ?? false
        ipv6Pinhole = try json.optionalBool("ipv6Pinhole") ?? false
        direct = try json.optionalBool("direct") ?? false
        overridden = try json.strings("overridden")
    }

    package func encode(into writer: inout JSONWriter) {
        writer.field("name", name)
        writer.field("requirePairing", requirePairing)
        writer.field("remoteAccess", remoteAccess)
        writer.field("remotePort", remotePort)
        writer.field("internetAccess", internetAccess)
        writer.field("addressName", orNull: addressName)
        writer.object("home") { home.encode(into: &$0) }
        writer.object("away") { away.encode(into: &$0) }
        writer.field("maxFPS", maxFPS)
        writer.field("minimumDeviceVersion", minimumDeviceVersion)
        writer.field("portMapping", portMapping)
        writer.field("advertise", advertise)
        writer.field("stunServer", orNull: stunServer)
        writer.field("permanentMappings", permanentMappings)
        writer.field("ipv6Pinhole", ipv6Pinhole)
        writer.field("direct", direct)
        writer.list("overridden", overridden)
    }
}
