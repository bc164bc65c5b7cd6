// SPDX-License-Identifier: Apache-2.0

package import APITypes
internal import Wire

/// A call that brought no answer one can use.
package enum ClientError: Error, Sendable, Equatable {
    /// Nobody listens there.
    case notRunning(endpoint: String)
    /// The socket is there, and its mode keeps this user out.
    case notAllowed(endpoint: String)
    /// The service answered with an error of its own.
    case refused(Problem)
    /// What came back is not what this API speaks, or it broke off; the text says where.
    case broken(String)
    /// No answer within the time a call may take; the text names the call.
    case timedOut(String)

    /// One sentence for people, without a full stop.
    package var message: String {
        switch self {
        case .notRunning(let endpoint): "nothing answers at \(endpoint)"
        case .notAllowed(let endpoint): "this user may not open \(endpoint)"
        case .refused(let problem): problem.detail
        case .broken(let what): what
        case .timedOut(let what): "the service took too long to answer \(what)"
        }
    }
}

extension Problem {
    /// Reads an error answer. One that is no problem document still gives one, from the status alone: the
    /// HTTP library refuses some requests before the service sees them (spec 09 point 17).
    init(status: Int, body: [UInt8]) {
        if let json = try? JSON.parse(body), let problem = try? Problem(json: json) {
            self = problem
            if detail.isEmpty {
                detail = title.isEmpty ? "the service answered with status \(status)" : title
            }
            return
        }
        self.init(
            status, "", "HTTP \(status)", detail: "the service answered with status \(status)")
    }
}
