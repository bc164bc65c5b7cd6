// SPDX-License-Identifier: Apache-2.0

internal import Policy
internal import Wire

/// The order of a device list (spec 07, `?sort=`).
package enum DeviceSort: String, Sendable, CaseIterable {
    /// A to Z, by lower-cased name.
    case name
    /// Newest first.
    case pairedAt
    /// Latest first; never seen last.
    case lastSeenAt
}

/// One page of a list.
package struct Page<Item: Sendable>: Sendable {
    package var items: [Item]
    /// What `?after=` takes for the rest; nil when this was the last page. Stays good while rows come and go.
    package var next: String?
}

/// Where a page of devices begins: the sort value and key of the last one before it. Opaque to callers.
struct DeviceCursor: Equatable {
    var sort: DeviceSort
    var value: SQLValue
    var device: Fingerprint

    var text: String {
        let shown: String
        switch value {
        case .integer(let number): shown = "\(number)"
        case .text(let text): shown = text
        case .null, .blob: shown = ""
        }
        // The value comes last: a name may hold any character.
        return Base64URL.encode("\(sort.rawValue)\n\(device.base64url)\n\(shown)".utf8)
    }

    init(sort: DeviceSort, value: SQLValue, device: Fingerprint) {
        self.sort = sort
        self.value = value
        self.device = device
    }

    /// nil for a text that is not a position in a list of this order.
    init?(_ text: String, sort: DeviceSort) {
        guard let bytes = Base64URL.decode(text), let plain = String(validating: bytes, as: UTF8.self) else {
            return nil
        }
        let parts = plain.split(separator: "\n", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == sort.rawValue,
            let device = Fingerprint(base64url: String(parts[1]))
        else { return nil }
        if sort == .name {
            self.init(sort: sort, value: .text(String(parts[2])), device: device)
        } else {
            guard let number = Int64(parts[2]) else { return nil }
            self.init(sort: sort, value: .integer(number), device: device)
        }
    }
}

extension Connection {
    /// At most `limit` devices after `cursor`, those whose name contains `filter` in any case. Walks one index; a page
    /// costs the same anywhere in the list.
    func devices(
        sort: DeviceSort, filter: String?, after cursor: DeviceCursor?, limit: Int
    ) throws(StoreError) -> Page<DeviceRecord> {
        let column: String
        let step: String
        switch sort {
        case .name: (column, step) = ("name_folded", ">")
        case .pairedAt: (column, step) = ("paired_at", "<")
        case .lastSeenAt: (column, step) = ("ifnull(last_seen_at, -1)", "<")
        }
        var conditions: [String] = []
        var values: [SQLValue] = []
        if let cursor {
            // In this form, not as a row comparison, because the key always grows while the times go down.
            conditions.append("(\(column) \(step)= ?1 AND (\(column) \(step) ?1 OR fingerprint > ?2))")
            values += [cursor.value, .key(cursor.device)]
        }
        if let filter, !filter.isEmpty {
            values.append(.text(filter.lowercased()))
            conditions.append("instr(name_folded, ?\(values.count)) > 0")
        }
        values.append(.integer(Int64(limit) + 1))
        let sql =
            "SELECT \(Self.deviceColumns), \(column) FROM devices"
            + (conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND "))
            + " ORDER BY \(column)\(sort == .name ? "" : " DESC"), fingerprint LIMIT ?\(values.count)"
        var page = Page<DeviceRecord>(items: [], next: nil)
        var last: SQLValue = .null
        try forEachRow(sql, values) { row throws(StoreError) in
            if page.items.count == limit, let device = page.items.last {
                page.next = DeviceCursor(sort: sort, value: last, device: device.fingerprint).text
                return false
            }
            page.items.append(try Self.device(row))
            last = sort == .name ? .text(row.text(8)) : .integer(row.int(8))
            return true
        }
        return page
    }
}
