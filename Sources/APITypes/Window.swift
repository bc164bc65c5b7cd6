// The pairing window with its secrets. SPDX-License-Identifier: Apache-2.0

package import Wire

/// `POST` and `GET /v1/pairing/window`. It carries the link secret and the code: never log or store it.
package struct Window: APIObject {
    /// Names this window in events.
    package var id: String
    /// The pairing link, what the QR code says (spec 02 section 3).
    package var url: String
    /// The typed code, 12 digits.
    package var code: String
    /// The same in groups of four.
    package var groupedCode: String
    /// When the window closes by itself.
    package var expiresAt: WallTime
    /// Wrong proofs it still takes.
    package var triesLeft: Int
    /// `admin`, `host` or `device`.
    package var openedBy: String
    /// The device whose ask opened it, also after an admin took it over.
    package var askedBy: DeviceRef?
    /// Who the caller said wants it, for people.
    package var requestedBy: String?
    /// Whether the remote door pairs with it too.
    package var remote: Bool
    /// Where devices can reach the host, as in kind 18.
    package var addresses: [HostAddress]

    /// All of it.
    package init(
        id: String, url: String, code: String, groupedCode: String, expiresAt: WallTime, triesLeft: Int,
        openedBy: String, askedBy: DeviceRef?, requestedBy: String?, remote: Bool, addresses: [HostAddress]
    ) {
        self.id = id
        self.url = url
        self.code = code
        self.groupedCode = groupedCode
        self.expiresAt = expiresAt
        self.triesLeft = triesLeft
        self.openedBy = openedBy
        self.askedBy = askedBy
        self.requestedBy = requestedBy
        self.remote = remote
        self.addresses = addresses
    }

    package init(json: JSON) throws(JSONError) {
        id = try json.requiredString("id")
        url = try json.requiredString("url")
        code = try json.requiredString("code")
        groupedCode = try json.requiredString("groupedCode")
        expiresAt = try json.requiredTime("expiresAt")
        triesLeft = try json.requiredInt("triesLeft")
        openedBy = try json.requiredString("openedBy")
        askedBy = try json.optional("askedBy", DeviceRef.init(json:))
        requestedBy = try json.optionalString("requestedBy")
        remote = try json.requiredBool("remote")
        addresses = try json.list("addresses", HostAddress.init(json:))
    }

    package func encode(into writer: inout JSONWriter) {
        writer.field("id", id)
        writer.field("url", url)
        writer.field("code", code)
        writer.field("groupedCode", groupedCode)
        writer.field("expiresAt", expiresAt.rfc3339)
        writer.field("triesLeft", triesLeft)
        writer.field("openedBy", openedBy)
        writer.object("askedBy", ifPresent: askedBy)
        writer.field("requestedBy", orNull: requestedBy)
        writer.field("remote", remote)
        writer.list("addresses", addresses)
    }
}

/// The body of `POST /v1/pairing/window`.
package struct WindowRequest: APIObject {
    /// Who wants it, for people; cleaned by the service.
    package var requestedBy: String?
    /// Seconds, 30...600; the service's 300 when nil.
    package var lifetime: Double?
    /// Whether the remote door pairs with it too; yes when nil.
    package var remote: Bool?

    /// What the caller asks for.
    package init(requestedBy: String? = nil, lifetime: Double? = nil, remote: Bool? = nil) {
        self.requestedBy = requestedBy
        self.lifetime = lifetime
        self.remote = remote
    }

    package init(json: JSON) throws(JSONError) {
        requestedBy = try json.optionalString("requestedBy")
        lifetime = try json.optionalDouble("lifetime")
        remote = try json.optionalBool("remote")
    }

    package func encode(into writer: inout JSONWriter) {
        writer.field("requestedBy", ifPresent: requestedBy)
        writer.field("lifetime", ifPresent: lifetime)
        writer.field("remote", ifPresent: remote)
    }
}

/// The answer to `DELETE /v1/pairing/window` (spec 09.19).
package struct WindowClosed: APIObject {
    /// Whether there was one to close.
    package var closed: Bool

    /// Closed one, or found none.
    package init(closed: Bool) { self.closed = closed }

    package init(json: JSON) throws(JSONError) { closed = try json.requiredBool("closed") }

    package func encode(into writer: inout JSONWriter) { writer.field("closed", closed) }
}

/// The answer to `DELETE /v1/pairing/quiet` and `DELETE /v1/lockouts`.
package struct Cleared: APIObject {
    /// What there was to forget is forgotten.
    package init() {}

    package init(json: JSON) throws(JSONError) { _ = try json.requiredBool("cleared") }

    package func encode(into writer: inout JSONWriter) { writer.field("cleared", true) }
}

/// One way to reach the host is kind 18's own object (spec 01 section 6).
extension HostAddress: APIObject {
    package func encode(into writer: inout JSONWriter) { write(to: &writer) }
}

/// `GET /v1/pairing/window/qr.json` (spec 09.21).
package struct QRModules: APIObject {
    /// Modules along one edge, without the quiet zone.
    package var size: Int
    /// Light modules around it on each side.
    package var quiet: Int
    /// Error correction level.
    package var level: String
    /// `size` rows of `size` characters: 1 dark, 0 light.
    package var rows: [String]

    /// A matrix of level M with the usual quiet zone of four.
    package init(size: Int, rows: [String]) {
        self.size = size
        quiet = 4
        level = "M"
        self.rows = rows
    }

    package init(json: JSON) throws(JSONError) {
        size = try json.requiredInt("size")
        quiet = try json.requiredInt("quiet")
        level = try json.requiredString("level")
        rows = try json.strings("rows")
    }

    package func encode(into writer: inout JSONWriter) {
        writer.field("size", size)
        writer.field("quiet", quiet)
        writer.field("level", level)
        writer.list("rows", rows)
    }
}
