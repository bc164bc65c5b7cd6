// Finds the route of a request. SPDX-License-Identifier: Apache-2.0

/// All routes, indexed once. A lookup costs one hash, also with many routes.
struct RouteTable: Sendable {
    /// What a path and a method lead to.
    enum Match {
        /// The route's index and what stood at its braces, decoded.
        case found(Int, parameters: [String])
        /// The path is known, the method is not: what `Allow` says.
        case wrongMethod(allow: String)
        /// No such path.
        case unknown
    }

    /// One path and its methods.
    private struct Entry {
        /// Segments; nil stands for braces.
        var segments: [String?]
        var routes: [(method: Method, index: Int)] = []

        /// The values of the braces when `segments` fit, nil otherwise.
        func parameters(_ given: [String]) -> [String]? {
            guard given.count == segments.count else { return nil }
            var values: [String] = []
            for (want, have) in zip(segments, given) {
                if let want {
                    guard want == have else { return nil }
                } else {
                    guard !have.isEmpty else { return nil }
                    values.append(have)
                }
            }
            return values
        }
    }

    /// The rows, in their order.
    let routes: [APIRoute]
    private var exact: [String: Entry] = [:]
    private var patterns: [Entry] = []

    /// Indexes the rows. When two have the same method and path the first one wins.
    init(_ routes: [APIRoute]) {
        self.routes = routes
        var entries: [String: Entry] = [:]
        var order: [String] = []
        for (index, route) in routes.enumerated() {
            if entries[route.path] == nil { order.append(route.path) }
            entries[route.path, default: Entry(segments: Self.template(route.path))].routes
                .append((route.method, index))
        }
        for path in order {
            guard let entry = entries[path] else { continue }
            if path.contains("{") { patterns.append(entry) } else { exact[path] = entry }
        }
    }

    /// Looks up a path as it came, still percent-encoded. An exact path wins over one with braces.
    func match(method: String, path: String) -> Match {
        if let entry = exact[path] { return choose(method, entry, []) }
        let segments = path.split(separator: "/", omittingEmptySubsequences: false)
            .map { PercentEncoding.decode($0.utf8) }
        for entry in patterns {
            if let parameters = entry.parameters(segments) { return choose(method, entry, parameters) }
        }
        return .unknown
    }

    private func choose(_ method: String, _ entry: Entry, _ parameters: [String]) -> Match {
        let wanted = method == "HEAD" ? "GET" : method
        for (known, index) in entry.routes where known.rawValue == wanted {
            return .found(index, parameters: parameters)
        }
        let names = entry.routes.flatMap { $0.method == .get ? ["GET", "HEAD"] : [$0.method.rawValue] }
        return .wrongMethod(allow: names.joined(separator: ", "))
    }

    private static func template(_ path: String) -> [String?] {
        path.split(separator: "/", omittingEmptySubsequences: false)
            .map { $0.hasPrefix("{") && $0.hasSuffix("}") ? nil : String($0) }
    }
}
