// SPDX-License-Identifier: Apache-2.0

internal import Policy
internal import Wire

/// What is done when the store has answered. Until then nothing has changed.
enum PendingChange: Sendable {
    case rename(Fingerprint, String)
    case remove(Fingerprint, Tombstone)
    case settings([String: String?], requirePairing: Bool?)
    case importDevices(
        [DeviceRecord], imported: Int, updated: Int, restored: [Fingerprint], skipped: [SillID])
    case pairing(PendingPairing)
    /// The identity that is to be; `by` goes into the tombstones.
    case rotate(StoredIdentity, by: Actor)
    /// A paired key learned whose cable it comes by.
    case bindCable(Fingerprint, String)
}

/// A proof that was right, or an ask over the cable, waiting for its record to be durable.
struct PendingPairing: Sendable {
    let connection: ConnectionID
    let record: DeviceRecord
    /// The window it used up; nil over the cable.
    let window: String?
    let door: Door
    /// The cable it paired over.
    var cable: CableFinding?
    /// Sent only once the record is durable.
    let answer: PairResult
}
