// The mapping that the owner asked the router for. SPDX-License-Identifier: Apache-2.0

package import Wire

/// The answer to `POST` and `DELETE /v1/reachability/port-mapping` (spec 05 B8, 09.42): the mapping in the shape that a report
/// has it in, and what became of the request.
package struct PortMapping: APIObject {
    /// `mappingActive`, `mappingPending`, `toThisHost` (an entry of the owner's own that is right already) or `off`.
    package var code: String
    /// `ours`, `toThisHost` or `none`; nil while the router has not said.
    package var state: String?
    /// Where the router leads the port: `192.168.1.5:7455`.
    package var target: String?
    /// When it ends by itself; it is renewed before.
    package var expiresAt: WallTime?
    /// More for people, such as the router's own words.
    package var detail: String?

    package init(
        code: String, state: String? = nil, target: String? = nil, expiresAt: WallTime? = nil,
        detail: String? = nil
    ) {
        self.code = code
        self.state = state
        self.target = target
        self.expiresAt = expiresAt
        self.detail = detail
    }

    package init(json: JSON) throws(JSONError) {
        self.init(
            code: try json.requiredString("code"), state: try json.optionalString("state"),
            target: try json.optionalString("target"), expiresAt: try json.optionalTime("expiresAt"),
            detail: try json.optionalString("detail"))
    }

    package func encode(into writer: inout JSONWriter) {
        writer.field("code", code)
        writer.field("state", ifPresent: state)
        writer.field("target", ifPresent: target)
        writer.field("expiresAt", ifPresent: expiresAt?.rfc3339)
        writer.field("detail", ifPresent: detail)
    }
}
