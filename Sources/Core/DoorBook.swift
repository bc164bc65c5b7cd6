// SPDX-License-Identifier: Apache-2.0

internal import Policy
internal import Wire

/// What the core keeps about one door.
struct DoorBook: Sendable {
    /// Sources that are closed at once.
    var backoff: Backoff
    /// Connections between accept and admission.
    var pending: PendingLimits<ConnectionID>
    /// Refusals of this minute.
    var summary = RefusalSummary()
    /// What its listener does.
    var state = DoorState.off
    /// The port it was told to listen at; nil while it is not wanted.
    var wantedPort: Int?
    /// When to try to listen again.
    var retryAt: MonotonicTime?
    /// One log line for a whole episode of trouble was written.
    var isInTrouble = false

    init(_ limits: DoorLimits) {
        backoff = Backoff(limits)
        pending = PendingLimits(limits)
    }

    /// The port it accepts at; nil while it does not.
    var boundPort: Int? {
        if case .listening(let port) = state { Int(port) } else { nil }
    }
}

/// One accepted connection that is no session yet.
struct Connection: Sendable {
    /// How far it got.
    enum Stage: Sendable, Equatable {
        /// Before ready.
        case handshake
        /// Judged a session; in the gate, or about to be registered.
        case admitted(Fingerprint?, wasPaired: Bool)
        /// Its one kind 19 is awaited.
        case pairing(Fingerprint)
        /// Its kind 19 was judged, and its kind 20 is on its way.
        case answering
    }

    let door: Door
    let peer: SocketAddress
    let local: SocketAddress?
    let placement: Placement
    /// What its door's limits count it by.
    let limited: IPAddress
    var stage = Stage.handshake
    /// It was admitted by a key that has since made way for another.
    var isOfOldIdentity = false
}
