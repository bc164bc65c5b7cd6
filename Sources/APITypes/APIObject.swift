// What every object of the local API can do. SPDX-License-Identifier: Apache-2.0

package import Wire

/// An object of the local API (spec 07, 09 points 17-28): the service writes it, clients read it.
///
/// A reader takes what it knows and ignores the rest, so that a later service may add members.
package protocol APIObject: Sendable, Equatable {
    /// Reads the object; throws `JSONError` naming the member that is missing or of another type.
    init(json: JSON) throws(JSONError)
    /// Writes the members, without the braces, so that an object may be written inside another.
    func encode(into writer: inout JSONWriter)
}

extension APIObject {
    /// The whole object as JSON text in UTF-8.
    package var jsonBytes: [UInt8] {
        var writer = JSONWriter(capacity: 512)
        writer.object { encode(into: &$0) }
        return writer.bytes
    }
}

extension JSON {
    /// The object under `key`, read by `make`; errors inside are named with `key` before them.
    func required<T>(_ key: String, _ make: (JSON) throws(JSONError) -> T) throws(JSONError) -> T {
        let member = try requiredObject(key)
        do { return try make(member) } catch { throw error.inside(key) }
    }

    /// The object under `key`, or nil when it is absent or null.
    func optional<T>(_ key: String, _ make: (JSON) throws(JSONError) -> T) throws(JSONError) -> T? {
        guard let member = try optionalObject(key) else { return nil }
        do { return try make(member) } catch { throw error.inside(key) }
    }

    /// The array under `key`, each element read by `make`.
    func list<T>(_ key: String, _ make: (JSON) throws(JSONError) -> T) throws(JSONError) -> [T] {
        var items: [T] = []
        for (index, element) in try requiredArray(key).enumerated() {
            do { items.append(try make(element)) } catch { throw error.inside("\(key)[\(index)]") }
        }
        return items
    }

    /// The array of strings under `key`.
    func strings(_ key: String) throws(JSONError) -> [String] {
        try requiredArray(key).mapStrings(key)
    }

    /// The time under `key`, RFC 3339.
    func requiredTime(_ key: String) throws(JSONError) -> WallTime {
        try time(requiredString(key), key)
    }

    /// The time under `key`, or nil when it is absent or null.
    func optionalTime(_ key: String) throws(JSONError) -> WallTime? {
        guard let text = try optionalString(key) else { return nil }
        return try time(text, key)
    }

    private func time(_ text: String, _ key: String) throws(JSONError) -> WallTime {
        guard let time = WallTime(rfc3339: text) else {
            throw JSONError(field: key, message: "\(key) must be a time such as 2026-11-30T07:14:13.123Z")
        }
        return time
    }
}

extension [JSON] {
    fileprivate func mapStrings(_ key: String) throws(JSONError) -> [String] {
        var texts: [String] = []
        for element in self {
            guard let text = element.string else {
                throw JSONError(field: key, message: "\(key) must hold text only")
            }
            texts.append(text)
        }
        return texts
    }
}

extension JSONWriter {
    /// A member that is always there: null stands for nil.
    mutating func field(_ name: String, orNull value: String?) {
        if let value { field(name, value) } else { null(name) }
    }

    /// A time, or null.
    mutating func field(_ name: String, orNull value: WallTime?) { field(name, orNull: value?.rfc3339) }

    /// A member that is an object, or null.
    mutating func object<T: APIObject>(_ name: String, orNull value: T?) {
        if let value { object(name) { value.encode(into: &$0) } } else { null(name) }
    }

    /// A member that is an object; left out when nil.
    mutating func object<T: APIObject>(_ name: String, ifPresent value: T?) {
        if let value { object(name) { value.encode(into: &$0) } }
    }

    /// A member that is a list of objects.
    mutating func list<T: APIObject>(_ name: String, _ items: [T]) {
        array(name) { array in for item in items { array.object { item.encode(into: &$0) } } }
    }

    /// A member that is a list of strings.
    mutating func list(_ name: String, _ items: [String]) {
        array(name) { array in for item in items { array.element(item) } }
    }
}
