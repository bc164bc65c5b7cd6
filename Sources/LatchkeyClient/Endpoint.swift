// SPDX-License-Identifier: Apache-2.0

/// Where a service's local API is reached (spec 07, "Where it listens, who may call").
public struct Endpoint: Sendable, Hashable, CustomStringConvertible {
    /// The two ways in.
    enum Way: Sendable, Hashable {
        case unix(path: String)
        case tcp(host: String, port: UInt16, token: String)
    }

    let way: Way

    /// The Unix socket at `path`; the kernel says who calls, so there is no token.
    public static func unix(path: String) -> Endpoint { Endpoint(way: .unix(path: path)) }

    /// An `http://HOST:PORT` URL with a bearer token; nil for any other text.
    ///
    /// The service listens on loopback alone and speaks no TLS there, so nothing else is a place it could be.
    public static func url(_ text: String, token: String) -> Endpoint? {
        let scheme = "http://"
        guard text.lowercased().hasPrefix(scheme) else { return nil }
        var rest = text.dropFirst(scheme.count)
        if rest.last == "/" { rest.removeLast() }
        guard let colon = rest.lastIndex(of: ":"), let port = UInt16(rest[rest.index(after: colon)...]),
            port > 0
        else { return nil }
        let host = rest[..<colon]
        let allowed = host.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-.:[]".contains($0)) }
        guard !host.isEmpty, allowed else { return nil }
        guard token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
        return Endpoint(way: .tcp(host: String(host), port: port, token: token))
    }

    /// For people; never the token.
    public var description: String {
        switch way {
        case .unix(let path): path
        case .tcp(let host, let port, _): "http://\(host):\(port)"
        }
    }

    /// What the request's `Host` says (spec 07: on TCP anything else is refused).
    var hostField: String {
        switch way {
        case .unix: "localhost"
        case .tcp(let host, let port, _): "\(host):\(port)"
        }
    }

    /// What the request's `Authorization` says; nil on the Unix socket.
    var authorization: String? {
        switch way {
        case .unix: nil
        case .tcp(_, _, let token): "Bearer \(token)"
        }
    }
}
