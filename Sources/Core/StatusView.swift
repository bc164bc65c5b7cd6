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
    /// Whether the home door is announced.
    package var advertising: AdvertisingState
    /// The pending "wants to pair" (03 §12.8).
    package var request: PairingRequest?
    /// The report's overall code and when it was made; nil before the first.
    package var reachability: (verdict: OverallCode, at: WallTime)?
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
