// SPDX-License-Identifier: Apache-2.0

package import APITypes
package import Wire

/// Audit records for people. Pure.
package enum AuditText {
    package static func list(_ records: [AuditItem], now: WallTime, style: Style) -> String {
        if records.isEmpty { return "Nothing is recorded yet.\n" }
        var table = Columns(headings: ["WHEN", "WHO", "WHAT", "DEVICE", "FROM", "OUTCOME", "DETAIL"])
        for record in records {
            table.add([
                .init(TimeText.relative(record.at, to: now)), .init(record.actor),
                .init(record.action, .strong),
                .init(record.device ?? "-"), .init(record.remote ?? "-"), .init(record.outcome),
                .init(record.detail ?? ""),
            ])
        }
        return table.text(style)
    }
}
