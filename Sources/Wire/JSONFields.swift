// SPDX-License-Identifier: Apache-2.0

// Typed access to an object's fields by the rules of file 01 §9.2: a wrong type is an error, whether or not the field is
// required; an optional field that is null counts as absent. On a value that is no object every access throws.
extension JSON {
    /// The text of a field that has to be there.
    package func requiredString(_ key: String) throws(JSONError) -> String {
        try required(key, "a string", { $0.string })
    }

    /// The text of a field, nil when it is absent or null.
    package func optionalString(_ key: String) throws(JSONError) -> String? {
        try optional(key, "a string", { $0.string })
    }

    /// The truth value of a field that has to be there. Numbers and strings never stand in for it.
    package func requiredBool(_ key: String) throws(JSONError) -> Bool {
        try required(key, "true or false", { $0.bool })
    }

    /// The truth value of a field, nil when it is absent or null.
    package func optionalBool(_ key: String) throws(JSONError) -> Bool? {
        try optional(key, "true or false", { $0.bool })
    }

    /// The integer of a field that has to be there, in whatever form it was written.
    package func requiredInt(_ key: String) throws(JSONError) -> Int {
        try required(key, "an integer", { $0.int })
    }

    /// The integer of a field, nil when it is absent or null.
    package func optionalInt(_ key: String) throws(JSONError) -> Int? {
        try optional(key, "an integer", { $0.int })
    }

    /// The number of a field that has to be there.
    package func requiredDouble(_ key: String) throws(JSONError) -> Double {
        try required(key, "a number", { $0.double })
    }

    /// The number of a field, nil when it is absent or null.
    package func optionalDouble(_ key: String) throws(JSONError) -> Double? {
        try optional(key, "a number", { $0.double })
    }

    /// The object of a field that has to be there.
    package func requiredObject(_ key: String) throws(JSONError) -> JSON {
        try required(key, "an object", { $0.objectItself })
    }

    /// The object of a field, nil when it is absent or null.
    package func optionalObject(_ key: String) throws(JSONError) -> JSON? {
        try optional(key, "an object", { $0.objectItself })
    }

    /// The elements of a field that has to be there.
    package func requiredArray(_ key: String) throws(JSONError) -> [JSON] {
        try required(key, "an array", { $0.array })
    }

    /// The elements of a field, nil when it is absent or null.
    package func optionalArray(_ key: String) throws(JSONError) -> [JSON]? {
        try optional(key, "an array", { $0.array })
    }

    private var objectItself: JSON? {
        if case .object = self { self } else { nil }
    }

    private func required<T>(
        _ key: String, _ kind: String, _ read: (JSON) -> T?
    ) throws(JSONError) -> T {
        guard let value = try optional(key, kind, read) else {
            throw JSONError(field: key, message: "is missing")
        }
        return value
    }

    private func optional<T>(
        _ key: String, _ kind: String, _ read: (JSON) -> T?
    ) throws(JSONError) -> T? {
        guard case .object = self else { throw JSONError(message: "is not an object") }
        guard let value = self[key], !value.isNull else { return nil }
        guard let result = read(value) else { throw JSONError(field: key, message: "is not \(kind)") }
        return result
    }
}
