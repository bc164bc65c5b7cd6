// SPDX-License-Identifier: Apache-2.0

import Synchronization

@testable import LatchkeyDevice

/// A network browser that lists what a test says.
final class ScriptedRows: RowSource {
    private let told = Mutex<(@Sendable ([BrowsedRow]) -> Void)?>(nil)
    private let listed = Mutex<[BrowsedRow]>([])

    func start(_ changed: @escaping @Sendable ([BrowsedRow]) -> Void) {
        told.withLock { $0 = changed }
        changed(listed.withLock { $0 })
    }

    func stop() { told.withLock { $0 = nil } }

    func list(_ rows: [BrowsedRow]) {
        listed.withLock { $0 = rows }
        told.withLock { $0 }?(rows)
    }

    /// One row, at a scripted host.
    static func row(_ host: ScriptedHost, of id: String, name: String = "Desk", tls: Bool = true) throws
        -> BrowsedRow
    {
        BrowsedRow(
            row: ListedRow(id: name, name: name, hostID: id, isTLS: tls),
            endpoints: [try Endpoint(host.endpoint)])
    }
}
