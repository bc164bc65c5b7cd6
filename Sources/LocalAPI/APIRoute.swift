// What the server can be asked, as one table of values. SPDX-License-Identifier: Apache-2.0

/// What a caller may do (spec 07).
package enum Role: String, Sendable, Hashable {
    /// A streaming process.
    case host
    /// A person or tool that manages the host; may do everything.
    case admin
}

/// An HTTP method that some route answers. HEAD is answered wherever GET is.
package enum Method: String, Sendable, Hashable, CaseIterable {
    case get = "GET"
    case post = "POST"
    case put = "PUT"
    case patch = "PATCH"
    case delete = "DELETE"
}

/// One operation of the API.
package struct APIRoute: Sendable {
    /// Who may call it.
    package enum Access: String, Sendable {
        /// Anyone on the machine, without a token.
        case open
        /// Role `host` and role `admin`.
        case host
        /// Role `admin` alone.
        case admin
    }

    /// Handles one request: answers through the responder, now or later, from any thread. What it throws is mapped
    /// to a problem in one place (`ErrorAnswer`).
    package typealias Handler = @Sendable (Request, Responder) throws -> Void

    /// The largest body unless a route says otherwise (spec 07).
    package static let usualBodyLimit = 65_536

    /// The method.
    package let method: Method
    /// The path as OpenAPI writes it: "/v1/devices/{id}". A segment in braces matches any one segment.
    package let path: String
    /// Who may call it.
    package let access: Access
    /// Bytes a body may have.
    package let bodyLimit: Int
    /// What answers it.
    package let handler: Handler

    /// One row of the table.
    package init(
        _ method: Method, _ path: String, _ access: Access, bodyLimit: Int = APIRoute.usualBodyLimit,
        _ handler: @escaping Handler
    ) {
        self.method = method
        self.path = path
        self.access = access
        self.bodyLimit = bodyLimit
        self.handler = handler
    }

    /// Whether a caller of this role, nil for one without any, may call it.
    func admits(_ role: Role?) -> Bool {
        switch access {
        case .open: true
        case .host: role != nil
        case .admin: role == .admin
        }
    }
}
