// SPDX-License-Identifier: Apache-2.0

internal import Core

/// Whose handshake goes on next, when more of them could than the processor has time for.
///
/// A handshake is the dearest thing a stranger can ask for. First match wins: the newest of those whose source has no
/// failure on record, then the newest of the others. Newest first, because under a flood the oldest are about to be
/// given up anyway (03 section 7.1), and whoever comes next would wait behind all of them.
struct HandshakeQueue {
    private var others: [ConnectionID] = []
    private var suspects: [ConnectionID] = []

    /// Whether nobody waits.
    var isEmpty: Bool { others.isEmpty && suspects.isEmpty }

    /// A connection whose handshake can go on; once until it was taken out.
    mutating func add(_ id: ConnectionID, isSuspect: Bool) {
        if isSuspect { suspects.append(id) } else { others.append(id) }
    }

    /// Takes out whoever is next. A connection that closed meanwhile is still in its place.
    mutating func next() -> ConnectionID? { others.popLast() ?? suspects.popLast() }
}
