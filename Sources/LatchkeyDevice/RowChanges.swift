// SPDX-License-Identifier: Apache-2.0

/// One difference between two listings.
package enum RowChange: Sendable, Equatable {
    /// A row that is new, or says something else than before.
    case listed(BrowsedRow)
    /// A row that is listed no longer, as it was last.
    case gone(BrowsedRow)

    /// What leads from one listing to another: first what went, then what came, each in display order.
    package static func between(_ old: [BrowsedRow], _ new: [BrowsedRow]) -> [RowChange] {
        let listed = Set(new.map(\.row.id))
        let gone = old.filter { !listed.contains($0.row.id) }
        let known = Dictionary(old.map { ($0.row.id, $0) }, uniquingKeysWith: { first, _ in first })
        return gone.map { .gone($0) } + new.filter { known[$0.row.id] != $0 }.map { .listed($0) }
    }
}
