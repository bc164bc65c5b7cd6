// The one shape of an error. SPDX-License-Identifier: Apache-2.0

package import Wire

/// An error answer, `application/problem+json` (RFC 9457). Codes are listed in docs/api.md.
package struct Problem: APIObject, Error {
    /// What went wrong, for people: "Device not found".
    package var title: String
    /// The HTTP status once more.
    package var status: Int
    /// Stable, and all that a program may decide by: "deviceNotFound".
    package var code: String
    /// This very case, for people.
    package var detail: String
    /// The member of the body or the query that is wrong; only with 400.
    package var field: String?
    /// The devices that a prefix could mean; only with `ambiguousDevice`.
    package var candidates: [DeviceRef]?
    /// How the last window ended; only with `noWindow`, where it is null before the first (spec 09.20).
    package var last: LastWindow??

    /// A problem without extension members.
    package init(_ status: Int, _ code: String, _ title: String, detail: String, field: String? = nil) {
        self.title = title
        self.status = status
        self.code = code
        self.detail = detail
        self.field = field
    }

    package init(json: JSON) throws(JSONError) {
        title = try json.optionalString("title") ?? ""
        status = try json.requiredInt("status")
        code = try json.optionalString("code") ?? ""
        detail = try json.optionalString("detail") ?? ""
        field = try json.optionalString("field")
        candidates = json["candidates"] == nil ? nil : try json.list("candidates", DeviceRef.init(json:))
        last = json["last"] == nil ? nil : .some(try json.optional("last", LastWindow.init(json:)))
    }

    package func encode(into writer: inout JSONWriter) {
        writer.field("type", "about:blank")
        writer.field("title", title)
        writer.field("status", status)
        writer.field("code", code)
        writer.field("detail", detail)
        writer.field("field", ifPresent: field)
        if let candidates { writer.list("candidates", candidates) }
        if let last { writer.object("last", orNull: last) }
    }
}

/// How the last pairing window ended (spec 09.20).
package struct LastWindow: APIObject {
    /// `used`, `expired`, `stopped`, `cancelled` or `withdrawn`.
    package var outcome: String
    /// When it ended.
    package var at: WallTime
    /// The ID of the device that used it; nil for every other outcome.
    package var device: String?

    /// The outcome of one window.
    package init(outcome: String, at: WallTime, device: String?) {
        self.outcome = outcome
        self.at = at
        self.device = device
    }

    package init(json: JSON) throws(JSONError) {
        outcome = try json.requiredString("outcome")
        at = try json.requiredTime("at")
        device = try json.optionalString("device")
    }

    package func encode(into writer: inout JSONWriter) {
        writer.field("outcome", outcome)
        writer.field("at", at.rfc3339)
        writer.field("device", orNull: device)
    }
}
