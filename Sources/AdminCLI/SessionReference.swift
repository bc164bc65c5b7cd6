// SPDX-License-Identifier: Apache-2.0

package import APITypes

/// What a person names a session by: its ID, or the start of one. Pure.
package enum SessionReference {
    /// The ID of the session that is meant. Throws exit code 4 when there is none, 5 when there are several.
    package static func find(_ text: String, in sessions: [SessionItem]) throws(Failure) -> String {
        if sessions.contains(where: { $0.id == text }) { return text }
        let found = sessions.filter { !text.isEmpty && $0.id.hasPrefix(text) }
        if found.count == 1 { return found[0].id }
        if found.isEmpty {
            throw Failure(
                .notFound, "no session is \"\(text)\"", advice: ["See the sessions with: latchkey sessions"])
        }
        let shown = found.prefix(20).map { "\($0.id)  \($0.device?.name ?? "not paired")" }
        throw Failure(.ambiguous, "\"\(text)\" could be \(found.count) sessions", advice: shown)
    }
}
