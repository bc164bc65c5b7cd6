// One request on its way to an answer. SPDX-License-Identifier: Apache-2.0

internal import Wire

/// A request while the server has it; lives on the server's thread.
final class Exchange {
    /// What the rules said before the body was read.
    enum Verdict {
        /// Answer this once the body is over.
        case refuse(Answer)
        /// Call this route for a caller of this role (nil: an open route without a token), with what stood at the
        /// braces of its path.
        case call(Int, role: Role?, parameters: [String])
    }

    /// The verdict; becomes `refuse` when the body turns out too large.
    private(set) var verdict: Verdict
    let responder: Responder
    /// Whether the answer's body is left out.
    let isHead: Bool
    /// When the request line was read.
    let began: MonotonicTime
    /// Whether its handler has been called.
    var wasCalled = false
    /// Whether its connection is suspended until somebody answers.
    var isWaiting = false
    /// The `Last-Event-ID` header.
    var lastEventID: String?
    /// The body so far; empty when it is thrown away.
    private var body: [UInt8] = []
    private var received = 0
    private let bodyLimit: Int

    init(verdict: Verdict, responder: Responder, bodyLimit: Int, isHead: Bool, began: MonotonicTime) {
        self.verdict = verdict
        self.responder = responder
        self.bodyLimit = bodyLimit
        self.isHead = isHead
        self.began = began
    }

    /// The route it leads to; nil when it was refused before.
    var routeIndex: Int? {
        if case .call(let index, _, _) = verdict { index } else { nil }
    }

    /// Takes a part of the body. False when so much has been thrown away that the connection is better closed.
    ///
    /// A sequence, and not a span, because an array takes one whole.
    func append(_ part: some Collection<UInt8>) -> Bool {
        received += part.count
        if case .call = verdict {
            if received <= bodyLimit {
                body.append(contentsOf: part)
            } else {
                body = []
                verdict = .refuse(.problem(ErrorAnswer.bodyTooLarge(limit: bodyLimit)))
            }
        }
        return received <= bodyLimit + ServerLimits.drainedBytes
    }

    /// The body, given away.
    func takeBody() -> [UInt8] {
        defer { body = [] }
        return body
    }
}
