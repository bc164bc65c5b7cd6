// One request as a handler sees it. SPDX-License-Identifier: Apache-2.0

package import Wire

/// A request that is allowed, routed and read.
package struct Request: Sendable {
    /// The caller's role; `host` for an open route called without a token.
    package var role: Role
    /// Who called, for audit rows: "unix:1000", "token:admin"; "anonymous" without a token.
    package var actor: String
    /// What stood at the braces of the route's path, decoded.
    package var parameters: [String]
    /// The query's names and values, decoded, in their order.
    package var query: [(name: String, value: String)]
    /// The whole body; empty without one.
    package var body: [UInt8]
    /// The `Last-Event-ID` header.
    package var lastEventID: String?

    /// A request.
    package init(
        role: Role, actor: String, parameters: [String] = [], query: [(name: String, value: String)] = [],
        body: [UInt8] = [], lastEventID: String? = nil
    ) {
        self.role = role
        self.actor = actor
        self.parameters = parameters
        self.query = query
        self.body = body
        self.lastEventID = lastEventID
    }

    /// The value at the n-th braces of the path, empty when there is none.
    package func parameter(_ index: Int) -> String {
        parameters.indices.contains(index) ? parameters[index] : ""
    }

    /// The body as JSON: an object. Throws `JSONError`; `emptyIsObject` lets a missing body stand for `{}`.
    package func json(emptyIsObject: Bool = false) throws(JSONError) -> JSON {
        if emptyIsObject && body.isEmpty { return .object([]) }
        let json = try JSON.parse(body)
        guard case .object = json else {
            throw JSONError(field: nil, message: "the body must be a JSON object")
        }
        return json
    }

    /// The first value of a query name, nil without one.
    package func text(_ name: String) -> String? {
        query.first { $0.name == name }?.value
    }

    /// A query switch: `true` and `1` or `false` and `0`; false without one. Throws `JSONError` for others.
    package func flag(_ name: String) throws(JSONError) -> Bool {
        switch text(name) {
        case nil, "false", "0": return false
        case "true", "1": return true
        default: throw JSONError(field: name, message: "\(name) must be true or false")
        }
    }

    /// The query's `after`; an empty one is none.
    package var after: String? { text("after").flatMap { $0.isEmpty ? nil : $0 } }

    /// The query's `limit`, 1...1000 and 100 without one (spec 07). Throws `JSONError` for others.
    package func limit() throws(JSONError) -> Int {
        guard let text = text("limit") else { return 100 }
        guard let limit = Int(text), (1...1000).contains(limit) else {
            throw JSONError(field: "limit", message: "limit must be a whole number from 1 to 1000")
        }
        return limit
    }
}
