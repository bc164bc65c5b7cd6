// SPDX-License-Identifier: Apache-2.0

package import Policy
package import Wire

/// The paired devices as a persistent map: a copy is free, and a change copies a few small nodes however many
/// devices there are, so that publishing a snapshot costs the same with ten devices and with a hundred thousand.
///
/// A radix tree over the fingerprint's leading bits, four at a time. A Sill ID is made of the same bits, so the tree
/// is in ID order and serves lookups by ID prefix and paging too.
package struct DeviceMap: Sendable {
    /// How many devices.
    package private(set) var count = 0
    private var root = Node.leaf([])

    package init() {}

    /// All at once, which costs a start with many devices far less than adding each. Of two records of one key the
    /// later holds.
    package init(_ devices: [DeviceRecord]) {
        (root, count) = Node.make(Self.ordered(devices)[...], of: devices, depth: 0)
    }

    /// The records' places in the order of their keys, and of one key in their own order. Distributed by the leading
    /// bits first: keys are uniform, so what is left to sort are a few at a time.
    private static func ordered(_ devices: [DeviceRecord]) -> [Slot] {
        let shift: UInt64 = 64 - 12
        var ends = [Int](repeating: 0, count: 1 << 12)
        for index in devices.indices { ends[Int(devices[index].fingerprint.leadingBits >> shift)] += 1 }
        var total = 0
        for bucket in ends.indices {
            total += ends[bucket]
            ends[bucket] = total
        }
        var order = [Slot](repeating: Slot(bits: 0, position: 0), count: devices.count)
        var starts = ends
        for index in devices.indices.reversed() {
            let bits = devices[index].fingerprint.leadingBits
            starts[Int(bits >> shift)] -= 1
            order[starts[Int(bits >> shift)]] = Slot(bits: bits, position: index)
        }
        for bucket in ends.indices where ends[bucket] - starts[bucket] > 1 {
            order[starts[bucket]..<ends[bucket]].sort { ($0.bits, $0.position) < ($1.bits, $1.position) }
        }
        return order
    }

    /// The record of a key.
    package subscript(key: Fingerprint) -> DeviceRecord? { root.record(of: key, bits: key.leadingBits) }

    /// A key's record as answers name it, without a copy of the whole record.
    package func reference(to key: Fingerprint) -> DeviceRef? {
        root.name(of: key, bits: key.leadingBits).map { DeviceRef(id: key.id, name: $0) }
    }

    /// Whether the key is on the list; cheaper than its record.
    package func contains(_ key: Fingerprint) -> Bool { root.contains(key, bits: key.leadingBits) }

    /// Adds the record or replaces the one of the same key.
    package mutating func set(_ record: DeviceRecord) {
        if root.set(record, bits: record.fingerprint.leadingBits, depth: 0) { count += 1 }
    }

    /// Takes a key off the list; nil when it was not on it.
    @discardableResult package mutating func remove(_ key: Fingerprint) -> DeviceRecord? {
        let removed = root.remove(key, bits: key.leadingBits)
        if removed != nil { count -= 1 }
        return removed
    }

    /// Visits records in ID order, from the first whose leading bits are at least `start`, until `body` says false.
    package func forEach(from start: UInt64 = 0, _ body: (DeviceRecord) -> Bool) {
        _ = root.visit(from: start, depth: 0, body)
    }

    /// Where a record stands while the tree is made.
    private struct Slot {
        let bits: UInt64
        let position: Int
    }

    private enum Node: Sendable {
        case leaf([DeviceRecord])
        case branch([Node])

        /// A leaf splits above this; at the last level, which random keys never reach, it may grow.
        private static let leafLimit = 8
        private static let maxDepth = 15

        /// The node of a run of sorted slots, and how many keys it holds.
        static func make(
            _ slots: ArraySlice<Slot>, of devices: [DeviceRecord], depth: Int
        ) -> (Node, Int) {
            guard slots.count > leafLimit && depth < maxDepth else {
                var records: [DeviceRecord] = []
                records.reserveCapacity(slots.count)
                for slot in slots {
                    let record = devices[slot.position]
                    if let twin = records.firstIndex(where: { $0.fingerprint == record.fingerprint }) {
                        records[twin] = record
                    } else {
                        records.append(record)
                    }
                }
                return (.leaf(records), records.count)
            }
            var children: [Node] = []
            children.reserveCapacity(16)
            var count = 0
            var start = slots.startIndex
            for nibble in 0..<UInt64(16) {
                let rest = slots[start...]
                let end =
                    rest.firstIndex { ($0.bits << (4 * UInt64(depth))) >> 60 != nibble } ?? slots.endIndex
                let (child, held) = make(slots[start..<end], of: devices, depth: depth + 1)
                children.append(child)
                count += held
                start = end
            }
            return (.branch(children), count)
        }

        func record(of key: Fingerprint, bits: UInt64) -> DeviceRecord? {
            switch self {
            case .branch(let children): children[Int(bits >> 60)].record(of: key, bits: bits << 4)
            case .leaf(let records): Self.position(of: key, in: records).map { records[$0] }
            }
        }

        func name(of key: Fingerprint, bits: UInt64) -> String? {
            switch self {
            case .branch(let children): children[Int(bits >> 60)].name(of: key, bits: bits << 4)
            case .leaf(let records): Self.position(of: key, in: records).map { records[$0].name }
            }
        }

        func contains(_ key: Fingerprint, bits: UInt64) -> Bool {
            switch self {
            case .branch(let children): children[Int(bits >> 60)].contains(key, bits: bits << 4)
            case .leaf(let records): Self.position(of: key, in: records) != nil
            }
        }

        /// By index, so that only keys are looked at and no record is copied.
        private static func position(of key: Fingerprint, in records: [DeviceRecord]) -> Int? {
            for position in records.indices where records[position].fingerprint == key { return position }
            return nil
        }

        /// Whether the key was new.
        mutating func set(_ record: DeviceRecord, bits: UInt64, depth: Int) -> Bool {
            switch self {
            case .branch(var children):
                // Lets go of the array, so that it is changed in place when nobody shares it.
                self = .leaf([])
                let isNew = children[Int(bits >> 60)].set(record, bits: bits << 4, depth: depth + 1)
                self = .branch(children)
                return isNew
            case .leaf(var records):
                self = .leaf([])
                if let position = records.firstIndex(where: { $0.fingerprint == record.fingerprint }) {
                    records[position] = record
                    self = .leaf(records)
                    return false
                }
                records.append(record)
                self = .leaf(records)
                if records.count > Self.leafLimit && depth < Self.maxDepth { split(records, depth: depth) }
                return true
            }
        }

        mutating func remove(_ key: Fingerprint, bits: UInt64) -> DeviceRecord? {
            switch self {
            case .branch(var children):
                self = .leaf([])
                let removed = children[Int(bits >> 60)].remove(key, bits: bits << 4)
                self = .branch(children)
                return removed
            case .leaf(var records):
                guard let position = records.firstIndex(where: { $0.fingerprint == key }) else { return nil }
                self = .leaf([])
                let removed = records.remove(at: position)
                self = .leaf(records)
                return removed
            }
        }

        /// False once `body` said false.
        func visit(from start: UInt64, depth: Int, _ body: (DeviceRecord) -> Bool) -> Bool {
            switch self {
            case .branch(let children):
                let first = Int(start >> 60)
                for position in first..<children.count {
                    let rest = position == first ? start << 4 : 0
                    if !children[position].visit(from: rest, depth: depth + 1, body) { return false }
                }
                return true
            case .leaf(let records):
                let inOrder = records.sorted { $0.id < $1.id }
                for record in inOrder where record.fingerprint.leadingBits << (4 * UInt64(depth)) >= start {
                    if !body(record) { return false }
                }
                return true
            }
        }

        private mutating func split(_ records: [DeviceRecord], depth: Int) {
            var children = [Node](repeating: .leaf([]), count: 16)
            for record in records {
                let slot = Int((record.fingerprint.leadingBits << (4 * UInt64(depth))) >> 60)
                _ = children[slot].set(record, bits: 0, depth: Self.maxDepth)
            }
            self = .branch(children)
        }
    }
}
