// SPDX-License-Identifier: Apache-2.0

/// One call of the API, before it is bytes.
package struct Request: Sendable {
    /// The methods the API knows.
    package enum Method: String, Sendable {
        case get = "GET", post = "POST", put = "PUT", patch = "PATCH", delete = "DELETE"
    }

    package var method: Method
    /// An absolute path without query, its segments escaped (``segment(_:)``).
    package var path: String
    /// Query items in order, not yet escaped.
    package var query: [(name: String, value: String)]
    /// The JSON body, if any.
    package var body: [UInt8]?
    /// Fields beside those every request carries.
    package var fields: [(name: String, value: String)]

    package init(
        _ method: Method, _ path: String, query: [(name: String, value: String)] = [], body: [UInt8]? = nil,
        fields: [(name: String, value: String)] = []
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.body = body
        self.fields = fields
    }

    /// Whether doing it twice is the same as doing it once, so that a lost connection may be tried again.
    var isRepeatable: Bool { method == .get }

    /// One path segment, everything but RFC 3986's unreserved characters escaped.
    package static func segment(_ text: String) -> String { escape(text) }

    /// Path and query as they stand in the request line.
    var target: String {
        guard !query.isEmpty else { return path }
        return path + "?"
            + query.map { "\(Self.escape($0.name))=\(Self.escape($0.value))" }.joined(separator: "&")
    }

    /// The request as it goes out.
    func encode(for endpoint: Endpoint) -> [UInt8] {
        var head = "\(method.rawValue) \(target) HTTP/1.1\r\nHost: \(endpoint.hostField)\r\n"
        if let authorization = endpoint.authorization { head += "Authorization: \(authorization)\r\n" }
        for field in fields { head += "\(field.name): \(field.value)\r\n" }
        if let body {
            head += "Content-Type: application/json\r\nContent-Length: \(body.count)\r\n"
        } else if method != .get {
            head += "Content-Length: 0\r\n"
        }
        return Array((head + "\r\n").utf8) + (body ?? [])
    }

    private static func escape(_ text: String) -> String {
        let hex = Array("0123456789ABCDEF")
        var escaped = ""
        for byte in text.utf8 {
            let isPlain =
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: true
                default: false
                }
            if isPlain {
                escaped.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                escaped += "%\(hex[Int(byte >> 4)])\(hex[Int(byte & 15)])"
            }
        }
        return escaped
    }
}
