// SPDX-License-Identifier: Apache-2.0

/// A dictionary that also keeps its keys in an order of the caller's making: new and moved keys go to the back.
/// Every operation costs the same however many keys there are; it is what bounds each table of sources.
package struct LinkedTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Node: Sendable {
        var key: Key
        var value: Value
        var previous: Int32
        var next: Int32
    }

    private static var none: Int32 { -1 }
    private var positions: [Key: Int32] = [:]
    private var nodes: [Node?] = []
    private var free: [Int32] = []
    private var head: Int32 = -1
    private var tail: Int32 = -1

    package init() {}

    /// How many keys.
    package var count: Int { positions.count }
    /// Whether there are none.
    package var isEmpty: Bool { positions.isEmpty }

    /// The value of a key. Setting a new key puts it at the back, setting a known one leaves it where it is, nil
    /// removes it.
    package subscript(key: Key) -> Value? {
        get { positions[key].flatMap { nodes[Int($0)]?.value } }
        set {
            guard let newValue else {
                remove(key)
                return
            }
            if let position = positions[key] {
                nodes[Int(position)]?.value = newValue
            } else {
                append(key, newValue)
            }
        }
    }

    /// The key at the front: the one moved or added longest ago.
    package var first: (key: Key, value: Value)? {
        head == Self.none ? nil : nodes[Int(head)].map { ($0.key, $0.value) }
    }

    /// Moves a known key to the back.
    package mutating func touch(_ key: Key) {
        guard let position = positions[key], position != tail else { return }
        unlink(position)
        link(position)
    }

    /// Forgets a key and returns its value.
    @discardableResult package mutating func remove(_ key: Key) -> Value? {
        guard let position = positions.removeValue(forKey: key) else { return nil }
        unlink(position)
        let value = nodes[Int(position)]?.value
        nodes[Int(position)] = nil
        free.append(position)
        return value
    }

    /// Forgets everything.
    package mutating func removeAll() { self = LinkedTable() }

    /// The keys from front to back.
    package var keys: [Key] {
        var out: [Key] = []
        out.reserveCapacity(count)
        var position = head
        while position != Self.none, let node = nodes[Int(position)] {
            out.append(node.key)
            position = node.next
        }
        return out
    }

    private mutating func append(_ key: Key, _ value: Value) {
        let node = Node(key: key, value: value, previous: Self.none, next: Self.none)
        let position: Int32
        if let reused = free.popLast() {
            position = reused
            nodes[Int(position)] = node
        } else {
            position = Int32(nodes.count)
            nodes.append(node)
        }
        positions[key] = position
        link(position)
    }

    private mutating func link(_ position: Int32) {
        nodes[Int(position)]?.previous = tail
        nodes[Int(position)]?.next = Self.none
        if tail != Self.none { nodes[Int(tail)]?.next = position } else { head = position }
        tail = position
    }

    private mutating func unlink(_ position: Int32) {
        guard let node = nodes[Int(position)] else { return }
        if node.previous != Self.none {
            nodes[Int(node.previous)]?.next = node.next
        } else {
            head = node.next
        }
        if node.next != Self.none {
            nodes[Int(node.next)]?.previous = node.previous
        } else {
            tail = node.previous
        }
    }
}
