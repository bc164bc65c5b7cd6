// The one place where errors become HTTP. SPDX-License-Identifier: Apache-2.0

import APITypes
import Wire

/// What the server itself answers when something is wrong. Codes are listed in docs/api.md.
enum ErrorAnswer {
    /// Maps what a handler threw. Anything unknown is a 500 that says only where the log has more.
    static func answer(
        to error: any Error, id: () -> String, log: (_ message: String, _ fields: [(String, String)]) -> Void
    ) -> Answer {
        switch error {
        case let problem as Problem: return .problem(problem)
        case let error as JSONError: return .problem(invalidRequest(error))
        default:
            let id = id()
            log("request failed", [("error", String(describing: type(of: error))), ("errorID", id)])
            return .problem(
                Problem(
                    500, "internal", "Something went wrong in the service",
                    detail: "The service's log has more under error ID \(id)."))
        }
    }

    /// A body or query that is not as it should be.
    static func invalidRequest(_ error: JSONError) -> Problem {
        var detail = error.message
        if let field = error.field, !detail.contains(field) { detail = "\(field): \(detail)" }
        return Problem(400, "invalidRequest", "The request is not valid", detail: detail, field: error.field)
    }

    /// No token, or not one of ours.
    static let unauthorized = Problem(
        401, "unauthorized", "A token is needed",
        detail: "Send \"Authorization: Bearer\" with a token from the state directory.")

    /// A caller on the Unix socket whom nobody allowed in.
    static let strangerOnSocket = Problem(
        403, "forbidden", "Not allowed",
        detail: "Only root, the service's own user and members of its admin group may use this socket.")

    /// A role that may not call this route.
    static let forbidden = Problem(
        403, "forbidden", "Not allowed", detail: "This call needs the admin role.")

    /// A `Host` that is not this listener's.
    static let forbiddenHost = Problem(
        403, "forbiddenHost", "Host not allowed",
        detail: "The Host header must be 127.0.0.1, localhost or [::1] with the service's port.")

    /// A page of somebody else's.
    static let forbiddenOrigin = Problem(
        403, "forbiddenOrigin", "Origin not allowed",
        detail: "Web pages of other origins may not call this API.")

    /// No such path.
    static let notFound = Problem(
        404, "notFound", "No such resource", detail: "The paths are listed at /v1/openapi.json.")

    /// The path is there, the method is not.
    static func methodNotAllowed(allow: String) -> Answer {
        var answer = Answer.problem(
            Problem(405, "methodNotAllowed", "Method not allowed", detail: "This path takes \(allow)."))
        answer.headers.append(("Allow", allow))
        return answer
    }

    /// A body above its route's limit.
    static func bodyTooLarge(limit: Int) -> Problem {
        Problem(413, "bodyTooLarge", "The body is too large", detail: "At most \(limit) bytes are read here.")
    }

    /// Headers above the limit.
    static let headersTooLarge = Problem(
        431, "headersTooLarge", "The headers are too large",
        detail: "At most \(ServerLimits.headerBytes) bytes of headers are read.")

    /// Nobody answered in time, or the service stops.
    static let unanswered = Problem(
        503, "unavailable", "The service could not answer",
        detail: "It is stopping, or what it waited for did not come in time. Try again.")
}
