// One answer as a handler gives it. SPDX-License-Identifier: Apache-2.0

package import APITypes
internal import Wire

/// A whole answer, or a stream of events.
package struct Answer: Sendable {
    /// What follows the headers.
    package enum Body: Sendable {
        /// All of it.
        case bytes([UInt8])
        /// Events, until either side ends it.
        case events(EventSubscription)
    }

    /// The HTTP status.
    package var status: Int
    /// The media type.
    package var contentType: ContentType
    /// More headers, rarely any.
    package var headers: [(name: String, value: String)] = []
    /// What follows the headers.
    package var body: Body

    /// Media types this API answers with.
    package enum ContentType: String, Sendable {
        case json = "application/json"
        case problem = "application/problem+json"
        case events = "text/event-stream"
        case jsonLines = "application/x-ndjson"
        case svg = "image/svg+xml"
        case text = "text/plain; charset=utf-8"
        case metrics = "text/plain; version=0.0.4; charset=utf-8"
    }

    /// Bytes of some type.
    package init(_ status: Int, _ contentType: ContentType, _ bytes: [UInt8]) {
        self.status = status
        self.contentType = contentType
        body = .bytes(bytes)
    }

    /// An object of the API.
    package static func object(_ object: some APIObject, status: Int = 200) -> Answer {
        Answer(status, .json, object.jsonBytes)
    }

    /// An error.
    package static func problem(_ problem: Problem) -> Answer {
        var answer = Answer(problem.status, .problem, problem.jsonBytes)
        switch problem.status {
        case 401: answer.headers.append(("WWW-Authenticate", "Bearer"))
        case 503: answer.headers.append(("Retry-After", "1"))
        default: break
        }
        return answer
    }

    /// A stream of events.
    package static func events(_ subscription: EventSubscription) -> Answer {
        var answer = Answer(200, .events, [])
        answer.headers.append(("Cache-Control", "no-cache"))
        answer.body = .events(subscription)
        return answer
    }
}
