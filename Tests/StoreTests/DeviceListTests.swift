// SPDX-License-Identifier: Apache-2.0

import Policy
import Testing
import Wire

@testable import Store

@Suite("Device list")
struct DeviceListTests {
    let folder: TemporaryDirectory
    let store: Store
    let devices: [DeviceRecord]

    init() throws {
        folder = try TemporaryDirectory()
        store = try Store(path: folder.database, create: true)
        // Equal names, equal and missing times: the key must break every tie.
        devices = try (0..<60).map { (number: UInt32) in
            var device = try device(
                number, name: ["Zoë", "anna", "Anna", "ÅSA", "line\nbreak", ""][Int(number) % 6],
                seen: number % 4 == 0 ? nil : Int64(number / 5))
            device.pairedAt = WallTime(milliseconds: Int64(number / 7))
            return device
        }
        try store.apply(.importDevices(devices, clearTombstones: []))
    }

    /// The order, said a second way.
    private func expected(_ sort: DeviceSort, filter: String?) -> [DeviceRecord] {
        devices.filter { device in
            guard let filter else { return true }
            return device.name.lowercased().contains(filter.lowercased())
        }.sorted { a, b in
            switch sort {
            case .name:
                let (left, right) = (Array(a.name.lowercased().utf8), Array(b.name.lowercased().utf8))
                return left == right ? a.id < b.id : left.lexicographicallyPrecedes(right)
            case .pairedAt: return a.pairedAt == b.pairedAt ? a.id < b.id : a.pairedAt > b.pairedAt
            case .lastSeenAt:
                let (left, right) = (a.lastSeenAt?.milliseconds ?? -1, b.lastSeenAt?.milliseconds ?? -1)
                return left == right ? a.id < b.id : left > right
            }
        }
    }

    @Test(
        "pages together are the whole list, in order",
        arguments: DeviceSort.allCases,
        [(1, nil), (7, nil), (60, nil), (1000, nil), (4, "ANN"), (3, "å"), (5, "no")]
            as [(Int, String?)])
    func pages(_ sort: DeviceSort, _ row: (Int, String?)) throws {
        var found: [DeviceRecord] = []
        var after: String?
        repeat {
            let page = try store.devices(sort: sort, filter: row.1, after: after, limit: row.0)
            #expect(page.items.count <= row.0)
            #expect(page.next == nil || page.items.count == row.0)
            found += page.items
            after = page.next
        } while after != nil
        #expect(found == expected(sort, filter: row.1))
    }

    @Test("a position stays good when the device it names is removed")
    func removedMeanwhile() throws {
        let page = try store.devices(sort: .name, limit: 10)
        let last = try #require(page.items.last)
        try store.apply(
            .removeDevice(
                last.fingerprint,
                Tombstone(fingerprint: last.fingerprint, removedAt: WallTime(milliseconds: 0), removedBy: "x")
            ))
        let next = try store.devices(sort: .name, after: page.next, limit: 10)
        #expect(next.items == Array(expected(.name, filter: nil)[10..<20]))
    }

    @Test(
        "a position of another order, or none at all, is refused",
        arguments: ["", "AAAA", "%", "bm9uc2Vuc2U"])
    func badCursor(_ text: String) throws {
        let page = try store.devices(sort: .name, limit: 1)
        for after in [text, page.next ?? ""] {
            let error = failure { () throws(StoreError) in try store.devices(sort: .pairedAt, after: after) }
            #expect(error?.code == .badCursor)
        }
    }

    @Test("no order needs sorting: each walks its index", arguments: DeviceSort.allCases)
    func usesIndex(_ sort: DeviceSort) throws {
        let column = [
            DeviceSort.name: "name_folded", .pairedAt: "paired_at DESC",
            .lastSeenAt: "ifnull(last_seen_at, -1) DESC",
        ][sort]
        let connection = try Connection(path: folder.database, access: .readOnly)
        var plan = ""
        try connection.forEachRow(
            "EXPLAIN QUERY PLAN SELECT * FROM devices ORDER BY \(column ?? ""), fingerprint LIMIT 5"
        ) { row in
            plan += row.text(3)
            return true
        }
        #expect(plan.contains("USING INDEX") && !plan.contains("TEMP B-TREE"), "\(plan)")
    }
}
