// Decides what a request leads to, before its body. SPDX-License-Identifier: Apache-2.0

internal import Wire

/// The rules in front of every route. Pure but for the token check it is given.
struct Gatekeeper {
    /// The routes.
    let table: RouteTable
    /// Judges a bearer token.
    let authorize: @Sendable (String) -> Role?

    /// First match wins (spec 07, 09.17):
    /// 1. headers above the limit: 431;
    /// 2. a foreign `Host` (TCP only), then a foreign `Origin` or `Referer`: 403;
    /// 3. a stranger on the Unix socket: 403;
    /// 4. no role, unless the route is open: 401, also for paths and methods that do not exist;
    /// 5. unknown path 404, wrong method 405;
    /// 6. a role that is not enough: 403.
    func judge(method: String, path: String, caller: Caller, headers: HeaderScan, headerBytes: Int)
        -> Exchange.Verdict
    {
        if headerBytes > ServerLimits.headerBytes { return .refuse(.problem(ErrorAnswer.headersTooLarge)) }
        if case .tcp = caller.listener, !headers.hasHost || !headers.hostsAreOurs {
            return .refuse(.problem(ErrorAnswer.forbiddenHost))
        }
        if !headers.originsAreOurs { return .refuse(.problem(ErrorAnswer.forbiddenOrigin)) }
        if case .unix(_, nil) = caller.listener { return .refuse(.problem(ErrorAnswer.strangerOnSocket)) }
        let role = caller.role(headers, authorize)
        let match = caller.match(method, path, in: table)
        if role == nil, !isOpen(match) { return .refuse(.problem(ErrorAnswer.unauthorized)) }
        switch match {
        case .unknown: return .refuse(.problem(ErrorAnswer.notFound))
        case .wrongMethod(let allow): return .refuse(ErrorAnswer.methodNotAllowed(allow: allow))
        case .found(let index, let parameters):
            guard table.routes[index].admits(role) else {
                return .refuse(.problem(ErrorAnswer.forbidden))
            }
            return .call(index, role: role, parameters: parameters)
        }
    }

    private func isOpen(_ match: RouteTable.Match) -> Bool {
        if case .found(let index, _) = match { table.routes[index].access == .open } else { false }
    }
}
