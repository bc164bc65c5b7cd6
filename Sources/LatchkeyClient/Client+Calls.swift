// SPDX-License-Identifier: Apache-2.0

package import APITypes
package import Wire

// One function a call of spec 07, for those an admin makes.
extension Client {
    /// `GET /v1/status`.
    package func status() throws(ClientError) -> Reply<Status> {
        try send(Request(.get, "/v1/status")).read(Status.self)
    }

    /// `GET /v1/quality`.
    package func quality() throws(ClientError) -> Reply<QualityItem> {
        try send(Request(.get, "/v1/quality")).read(QualityItem.self)
    }

    /// `GET /v1/identity`.
    package func identity() throws(ClientError) -> Reply<Identity> {
        try send(Request(.get, "/v1/identity")).read(Identity.self)
    }

    /// `POST /v1/identity/rotate`; `confirm` is the ID of the host that is to be no more.
    package func rotate(confirm: String) throws(ClientError) -> Reply<IdentityRotated> {
        var body = JSONWriter()
        body.object { $0.field("confirm", confirm) }
        return try send(Request(.post, "/v1/identity/rotate", body: body.bytes)).read(IdentityRotated.self)
    }

    /// `GET /v1/devices`, all pages; `named` filters by name on the service's side.
    package func devices(named name: String? = nil) throws(ClientError) -> ItemList<Device> {
        try items("/v1/devices", of: Device.self, query: name.map { [("q", $0)] } ?? [])
    }

    /// `GET /v1/devices/{id}`; `id` may be a prefix of four characters up.
    package func device(_ id: String) throws(ClientError) -> Reply<Device> {
        try send(Request(.get, devicePath(id))).read(Device.self)
    }

    /// `PATCH /v1/devices/{id}`.
    package func rename(_ id: String, to name: String) throws(ClientError) -> Reply<Device> {
        var body = JSONWriter()
        body.object { $0.field("name", name) }
        return try send(Request(.patch, devicePath(id), body: body.bytes)).read(Device.self)
    }

    /// `DELETE /v1/devices/{id}`.
    package func remove(_ id: String) throws(ClientError) -> Reply<DeviceRemoved> {
        try send(Request(.delete, devicePath(id))).read(DeviceRemoved.self)
    }

    /// `POST /v1/pairing/window`.
    package func openWindow(
        _ request: WindowRequest, replace: Bool = false
    ) throws(ClientError) -> Reply<Window> {
        let query = replace ? [(name: "replace", value: "true")] : []
        return try send(Request(.post, "/v1/pairing/window", query: query, body: request.jsonBytes))
            .read(Window.self)
    }

    /// `GET /v1/pairing/window`; throws `.refused` with `noWindow` and how the last one ended.
    package func window() throws(ClientError) -> Reply<Window> {
        try send(Request(.get, "/v1/pairing/window")).read(Window.self)
    }

    /// `GET /v1/pairing/window/qr.svg`.
    package func windowPicture() throws(ClientError) -> [UInt8] {
        try send(Request(.get, "/v1/pairing/window/qr.svg")).body
    }

    /// `DELETE /v1/pairing/window`.
    package func closeWindow() throws(ClientError) -> Reply<WindowClosed> {
        try send(Request(.delete, "/v1/pairing/window")).read(WindowClosed.self)
    }

    /// `GET /v1/sessions`, all pages.
    package func sessions() throws(ClientError) -> ItemList<SessionItem> {
        try items("/v1/sessions", of: SessionItem.self)
    }

    /// `POST /v1/sessions/{id}/close`.
    package func close(session id: String, message: String?) throws(ClientError) -> Answer {
        var body = JSONWriter()
        body.object { $0.field("message", ifPresent: message) }
        return try send(
            Request(.post, "/v1/sessions/\(Request.segment(id))/close", body: body.bytes))
    }

    /// `GET /v1/settings`.
    package func settings() throws(ClientError) -> Reply<SettingsBody> {
        try send(Request(.get, "/v1/settings")).read(SettingsBody.self)
    }

    /// `PATCH /v1/settings`: all of `values` or none.
    package func change(settings values: JSON) throws(ClientError) -> Reply<SettingsBody> {
        var body = JSONWriter()
        body.value(values)
        return try send(Request(.patch, "/v1/settings", body: body.bytes)).read(SettingsBody.self)
    }

    /// `GET /v1/audit`, newest first, all pages or the first `limit` records.
    package func audit(limit: Int? = nil) throws(ClientError) -> ItemList<AuditItem> {
        try items("/v1/audit", of: AuditItem.self, limit: limit)
    }

    /// `DELETE /v1/lockouts` (spec 09 point 32b): all of them, or one source's or device's.
    package func clearLockouts(source: String?, device: String?) throws(ClientError) -> Answer {
        var query: [(name: String, value: String)] = []
        if let source { query.append(("source", source)) }
        if let device { query.append(("device", device)) }
        return try send(Request(.delete, "/v1/lockouts", query: query))
    }

    private func devicePath(_ id: String) -> String { "/v1/devices/\(Request.segment(id))" }
}
