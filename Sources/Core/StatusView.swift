// SPDX-License-Identifier: Apache-2.0

package import Policy
package import Wire

/// What `GET /v1/status` needs of the core (09.23).
package struct StatusView: Sendable {
    /// The lock's verdict.
    package var lock: LockState
    /// The home listener.
    package var homeDoor: DoorState
    /// The remote listener.
    package var remoteDoor: DoorState
    /// Whether the remote door should listen.
    package var wantsRemoteDoor: Bool
    /// The open window; its secrets are not for the status.
    package var window: WindowOffer?
    /// Registered sessions.
    package var sessions: Int
    /// Paired devices.
    package var devices: Int
    /// Which pair runs.
    package var quality: QualityView
    /// The pending "wants to pair" (03 §12.8).
    package var request: PairingRequest?
    /// An older Sill that tries to connect (03 §8).
    package var olderDevice: OlderNotice?
}

/// The notice of kind `olderDevice`.
package struct OlderNotice: Sendable, Equatable {
    /// `nearby`, `on this host`, `on this network`.
    package var place: String
    /// When it is taken down, for people.
    package var until: WallTime
}

/// Everything the core counted since it started; label values are the enums' raw values.
package struct CoreCounters: Sendable, Equatable {
    /// What became of a connection: `session`, `pairing`, `goodbye`, `refuse` by door.
    package var admissions: [Door: [String: UInt64]] = [:]
    /// Refusals by door and word.
    package var refusals: [Door: [RefusalWord: UInt64]] = [:]
    /// Handshakes that failed, by reason.
    package var handshakeFailures: [HandshakeFailure: UInt64] = [:]
    /// Answers to kind 19: `ok` or the reason.
    package var pairings: [String: UInt64] = [:]
    /// Goodbyes by reason.
    package var goodbyes: [String: UInt64] = [:]
    /// Commits that failed.
    package var failedCommits: UInt64 = 0
}
