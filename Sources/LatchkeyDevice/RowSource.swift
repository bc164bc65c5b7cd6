// SPDX-License-Identifier: Apache-2.0

/// A row of the network, and where to dial it.
package struct BrowsedRow: Sendable, Equatable {
    /// What is listed.
    package var row: ListedRow
    /// Its addresses with the port, best first.
    package var endpoints: [Endpoint]

    package init(row: ListedRow, endpoints: [Endpoint]) {
        self.row = row
        self.endpoints = endpoints
    }
}

/// The network cannot be searched; says why in one sentence.
package struct RowSourceError: Error, Sendable {
    /// One sentence.
    package let message: String

    package init(message: String) { self.message = message }
}

/// Where rows come from: the network browser, or a test's script.
package protocol RowSource: Sendable {
    /// Begins. `changed` is told the whole list, in display order, on a thread of the source's own, at every change.
    func start(_ changed: @escaping @Sendable ([BrowsedRow]) -> Void) throws(RowSourceError)

    /// Ends; `changed` is not called any more once this has returned.
    func stop()
}
