// SPDX-License-Identifier: Apache-2.0

package import Policy
internal import Wire

/// An audit row as it was stored, with its number.
package struct StoredAudit: Sendable, Equatable {
    /// Grows with every row, never used twice.
    package var id: Int64
    package var row: AuditRow
}

extension Connection {
    /// At most `limit` rows, newest first; `before` is the ID of the last one already read.
    func audit(before: Int64?, limit: Int) throws(StoreError) -> Page<StoredAudit> {
        var page = Page<StoredAudit>(items: [], next: nil)
        let sql = """
            SELECT id, at, actor, action, device, remote, outcome, detail FROM audit WHERE id < ?1
            ORDER BY id DESC LIMIT ?2
            """
        try forEachRow(sql, [.integer(before ?? .max), .integer(Int64(limit) + 1)]) { row in
            if page.items.count == limit {
                page.next = page.items.last.map { Base64URL.encode("audit\n\($0.id)".utf8) }
                return false
            }
            page.items.append(
                StoredAudit(
                    id: row.int(0),
                    row: AuditRow(
                        at: WallTime(milliseconds: row.int(1)), actor: row.text(2), action: row.text(3),
                        device: row.optionalText(4), remote: row.optionalText(5), outcome: row.text(6),
                        detail: row.optionalText(7))))
            return true
        }
        return page
    }

    /// The row number in an `?after=` text; nil when the text is not one of ours.
    static func auditPosition(_ text: String) -> Int64? {
        guard let bytes = Base64URL.decode(text) else { return nil }
        let plain = String(decoding: bytes, as: UTF8.self)
        return plain.hasPrefix("audit\n") ? Int64(plain.dropFirst(6)) : nil
    }
}
