// SPDX-License-Identifier: Apache-2.0

package import NetFacts
internal import Policy
package import Wire

/// What `print-cable` says (04 §8). Pure. Neither form has a serial number or what is made from one.
package enum CableText {
    /// One row an interface.
    package static func table(_ reports: [CableReport], style: Style) -> String {
        var table = Columns(headings: ["INTERFACE", "DRIVER", "PRODUCT", "CABLE", "WHY"])
        for report in reports {
            let isCable = report.reason == nil
            table.add([
                .init(report.interface, .strong), .init(shown(report.driver)), .init(shown(report.product)),
                .init(isCable ? "yes" : "no", isCable ? .good : nil),
                .init(why(report), isCable ? .attention : .faint),
            ])
        }
        return table.text(style)
    }

    /// One object an interface.
    package static func json(_ reports: [CableReport]) -> [JSON] {
        reports.map { report in
            let fields: [(String, JSON)] = [
                ("interface", .string(report.interface)), ("index", .integer(Int64(report.index))),
                ("driver", text(report.driver)), ("vendor", text(report.vendor)),
                ("productID", text(report.productID)), ("product", text(report.product)),
                ("cable", .bool(report.reason == nil)), ("reason", text(report.reason?.rawValue)),
                ("linkLocal", .bool(report.hasLinkLocal)), ("neighbours", .integer(Int64(report.neighbours))),
                ("plug", text(report.plug)),
            ]
            return .object(fields.map { JSON.Member(key: $0.0, value: $0.1) })
        }
    }

    private static func why(_ report: CableReport) -> String {
        if let reason = report.reason { return reason.rawValue }
        return report.hasLinkLocal ? "" : "but no IPv6 link-local address: enable IPv6 on it"
    }

    /// A device says what it likes of itself; one short line of it is shown.
    private static func shown(_ text: String?) -> String {
        let cleaned = Label.clean(text ?? "", limit: 32)
        return cleaned.isEmpty ? "-" : cleaned
    }

    private static func text(_ value: String?) -> JSON { value.map { .string($0) } ?? .null }
}
