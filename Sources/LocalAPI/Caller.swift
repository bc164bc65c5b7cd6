// One connection and who is at its other end. SPDX-License-Identifier: Apache-2.0

/// Who may use the Unix socket (spec 07).
package struct SocketCallers: Sendable {
    /// The service's own user.
    package var ownUser: UInt32
    /// The group whose members are admins; nil: none.
    package var adminGroup: UInt32?

    /// Root, this user, and members of this group.
    package init(ownUser: UInt32, adminGroup: UInt32?) {
        self.ownUser = ownUser
        self.adminGroup = adminGroup
    }

    /// Whether a peer is an admin. `groups`: its main and supplementary groups.
    func admits(user: UInt32, groups: [UInt32]) -> Bool {
        if user == 0 || user == ownUser { return true }
        guard let adminGroup else { return false }
        return groups.contains(adminGroup)
    }
}

/// A connection's caller: lives as long as the connection, on the server's thread.
final class Caller {
    /// Where it came in.
    enum Listener {
        /// The Unix socket, with the role its user has.
        case unix(user: UInt32, role: Role?)
        /// TCP: each request says who it is.
        case tcp
    }

    let listener: Listener
    /// The name in audit rows of a caller on the Unix socket.
    private let socketActor: String
    /// The last `Authorization` value that was good, and what it gives: saves the constant-time comparison on every
    /// request of a connection, and only ever against what this very connection has already proved.
    private var proved: (value: [UInt8], role: Role)?

    /// Where the last request of this connection led: a streaming process asks the same again and again.
    private var last: (method: String, path: String, route: Int)?

    init(_ listener: Listener) {
        self.listener = listener
        if case .unix(let user, _) = listener {
            socketActor = "unix:\(user)"
        } else {
            socketActor = "anonymous"
        }
    }

    /// The `Authorization` value that need not be judged again; empty: none.
    var provedAuthorization: [UInt8] { proved?.value ?? [] }

    /// The role of a request whose headers were scanned; `authorize` judges a token.
    func role(_ headers: HeaderScan, _ authorize: (String) -> Role?) -> Role? {
        if case .unix(_, let role) = listener { return role }
        if headers.isProved { return proved?.role }
        if headers.authorization.isEmpty { return nil }
        guard let token = ASCII.bearer(headers.authorization.span), let role = authorize(token) else {
            return nil
        }
        proved = (headers.authorization, role)
        return role
    }

    /// Where a method and a path lead: looked up in `table`, unless it is what was asked last.
    func match(_ method: String, _ path: String, in table: RouteTable) -> RouteTable.Match {
        if let last, last.method == method, last.path == path { return .found(last.route, parameters: []) }
        let match = table.match(method: method, path: path)
        // Only what is as short as the table's own paths is kept: those without parameters.
        if case .found(let route, let parameters) = match, parameters.isEmpty { last = (method, path, route) }
        return match
    }

    /// The name in audit rows of a request with this role.
    func actor(_ role: Role?) -> String {
        if case .unix = listener { return socketActor }
        return switch role {
        case .admin: "token:admin"
        case .host: "token:host"
        case nil: "anonymous"
        }
    }
}
