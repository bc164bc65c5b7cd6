// SPDX-License-Identifier: Apache-2.0

internal import APITypes
internal import LocalAPI
internal import Policy
internal import Store

/// The audit log, newest first.
enum AuditRoutes {
    static func routes(_ services: APIServices) -> [APIRoute] {
        [
            APIRoute(.get, "/v1/audit", .admin) { request, responder in
                let limit = try request.limit()
                let page = try StoreError.mapped { () throws(StoreError) in
                    try services.store.audit(after: request.text("after"), limit: limit)
                }
                responder.send(AuditPage(items: page.items.map(AuditItem.init), next: page.next))
            }
        ]
    }
}

extension AuditItem {
    /// A stored row.
    init(_ stored: StoredAudit) {
        let row = stored.row
        self.init(
            id: Int(stored.id), at: row.at, actor: row.actor, action: row.action, device: row.device,
            remote: row.remote, outcome: row.outcome, detail: row.detail)
    }
}
