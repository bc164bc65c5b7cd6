// SPDX-License-Identifier: Apache-2.0

internal import Policy
internal import Wire

/// The open window: its judge, and who is behind it.
struct OpenedWindow: Sendable {
    /// The ask that opened it.
    struct Asker: Sendable {
        let key: Fingerprint
        let source: IPAddress
        let name: String
    }

    let entropy: WindowEntropy
    var judge: PairingWindow
    var openedBy: WindowOpener
    let asker: Asker?
    var requestedBy: String?
    /// Whether the remote door takes its proofs.
    var isForRemote: Bool
    let expiresAt: WallTime
    /// When the link is shown with whatever is known (02 §6.1).
    var readyBy: MonotonicTime
    var isReady = false

    var id: String { entropy.id }
    var isDevices: Bool { openedBy == .device }
    var askedBy: AskedBy? { asker.map { AskedBy(name: $0.name, id: $0.key.id) } }
}
