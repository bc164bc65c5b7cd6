// Who did what, when. SPDX-License-Identifier: Apache-2.0

package import Wire

/// One record of `GET /v1/audit` (spec 09.25). Never a code, secret, token, key or USB serial.
package struct AuditItem: APIObject {
    /// Grows with every record.
    package var id: Int
    /// When.
    package var at: WallTime
    /// `unix:UID`, `token:admin`, `token:host`, `door:home`, `door:remote` or `service`.
    package var actor: String
    /// What was done.
    package var action: String
    /// The device it was about.
    package var device: String?
    /// Where it came from.
    package var remote: String?
    /// How it went.
    package var outcome: String
    /// More, for people.
    package var detail: String?

    /// One record.
    package init(
        id: Int, at: WallTime, actor: String, action: String, device: String?, remote: String?,
        outcome: String, detail: String?
    ) {
        self.id = id
        self.at = at
        self.actor = actor
        self.action = action
        self.device = device
        self.remote = remote
        self.outcome = outcome
        self.detail = detail
    }

    package init(json: JSON) throws(JSONError) {
        id = try json.requiredInt("id")
        at = try json.requiredTime("at")
        actor = try json.requiredString("actor")
        action = try json.requiredString("action")
        device = try json.optionalString("device")
        remote = try json.optionalString("remote")
        outcome = try json.requiredString("outcome")
        detail = try json.optionalString("detail")
    }

    package func encode(into writer: inout JSONWriter) {
        writer.field("id", id)
        writer.field("at", at.rfc3339)
        writer.field("actor", actor)
        writer.field("action", action)
        writer.field("device", ifPresent: device)
        writer.field("remote", ifPresent: remote)
        writer.field("outcome", outcome)
        writer.field("detail", ifPresent: detail)
    }
}
