// The mapping that the owner asked the router for. SPDX-License-Identifier: Apache-2.0

package import Wire

/// The answer to `POST` and `DELETE /v1/reachability/port-mapping` (spec 05 B8, 09.42).
package struct PortMapping: APIObject {
    /// `mappingActive`, `mappingPending`, `toThisHost` (an entry of the owner's own that is right already) or `off`.
    package var code: String
    /// Where the router leads the port: `192.168.1.5:7455`.
    package var target: String?
    /// When it ends by itself; it is renewed before.
    package var expiresAt: WallTime?
    /// More for people, such as the router's own words.
    package var detail: String?

    package init(code: String, target: String? = nil, expiresAt: WallTime? = nil, detail: String? = nil) {
        self.code = code
        self.target = target
        self.expiresAt = expiresAt
        self.detail = detail
    }

    package init(json: JSON) throws(JSONError) {
        self = try json.required("mapping") { json throws(JSONError) in
            PortMapping(
                code: try json.requiredString("code"), target: try json.optionalString("target"),
                expiresAt: try json.optionalTime("expiresAt"), detail: try json.optionalString("detail"))
        }
    }

    package func encode(into writer: inout JSONWriter) {
        writer.object("mapping") { writer in
            writer.field("code", code)
            writer.field("target", ifPresent: target)
            writer.field("expiresAt", ifPresent: expiresAt?.rfc3339)
            writer.field("detail", ifPresent: detail)
        }
    }
}
