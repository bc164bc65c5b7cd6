// Lists that page. SPDX-License-Identifier: Apache-2.0

package import Wire

/// One page of a list (spec 07): `?limit=` 1...1000, 100 without it, and `?after=` the last page's `next`.
package struct Page<Item: APIObject>: APIObject {
    /// The items, in the list's order.
    package var items: [Item]
    /// Opaque; what the next call gives as `after`, or nil when this was the last page.
    package var next: String?

    /// One page.
    package init(items: [Item], next: String?) {
        self.items = items
        self.next = next
    }

    package init(json: JSON) throws(JSONError) {
        items = try json.list("items", Item.init(json:))
        next = try json.optionalString("next")
    }

    package func encode(into writer: inout JSONWriter) {
        writer.list("items", items)
        writer.field("next", orNull: next)
    }
}

/// `GET /v1/devices`.
package typealias DevicePage = Page<Device>
/// `GET /v1/sessions`.
package typealias SessionPage = Page<SessionItem>
/// `GET /v1/audit`.
package typealias AuditPage = Page<AuditItem>
