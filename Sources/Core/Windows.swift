// SPDX-License-Identifier: Apache-2.0

package import Wire

/// Who opened a pairing window.
package enum WindowOpener: String, Sendable, Hashable {
    /// A person.
    case admin
    /// A streaming process, for its user.
    case host
    /// A device's ask (03 §12).
    case device
}

/// A request of the API to open a window (09.3).
package struct OpenWindow: Sendable {
    /// For the audit record.
    package var actor: Actor
    /// `admin` or `host`.
    package var openedBy: WindowOpener
    /// A name the caller gave, for whom it is.
    package var requestedBy: String?
    /// 30 to 600 s.
    package var lifetime: Duration
    /// Whether the remote door takes its proofs too.
    package var remote: Bool
    /// Whether an open window makes way.
    package var replace: Bool
    /// Fresh secrets for it.
    package var entropy: WindowEntropy

    package init(
        actor: Actor, openedBy: WindowOpener = .admin, requestedBy: String? = nil,
        lifetime: Duration = .seconds(300), remote: Bool = true, replace: Bool = false,
        entropy: WindowEntropy
    ) {
        self.actor = actor
        self.openedBy = openedBy
        self.requestedBy = requestedBy
        self.lifetime = lifetime
        self.remote = remote
        self.replace = replace
        self.entropy = entropy
    }
}

/// The random parts of one window; never described, logged or stored.
package struct WindowEntropy: Sendable, CustomStringConvertible {
    /// Names the window in the API.
    package var id: String
    /// 16 bytes for the link.
    package var secret: [UInt8]
    /// 12 digits with a valid check digit.
    package var code: String

    package init(id: String, secret: [UInt8], code: String) {
        self.id = id
        self.secret = secret
        self.code = code
    }

    package var description: String { "<secrets of window \(id)>" }
}

/// What became of a request to open a window.
package enum OpenWindowAnswer: Sendable, Equatable {
    /// A fresh one.
    case opened(id: String)
    /// A device's window is the admin's now, with the same code.
    case takenOver(id: String)
    /// 409 `windowOpen`.
    case alreadyOpen
}

/// The device whose ask opened a window.
package struct AskedBy: Sendable, Hashable {
    /// As it called itself, cleaned.
    package var name: String
    /// Of its key.
    package var id: SillID

    package init(name: String, id: SillID) {
        self.name = name
        self.id = id
    }
}

/// An open window with its secrets, for those who may show them.
package struct WindowOffer: Sendable {
    /// Its name in the API.
    package var id: String
    /// What the QR code holds.
    package var link: PairingLink
    /// 12 digits.
    package var code: String
    /// When it ends, for people.
    package var expiresAt: WallTime
    /// Wrong proofs it still takes.
    package var triesLeft: Int
    /// Who opened it, or took it over.
    package var openedBy: WindowOpener
    /// The device whose ask opened it first.
    package var askedBy: AskedBy?
    /// The name its opener gave.
    package var requestedBy: String?
    /// Whether the remote door takes its proofs.
    package var remote: Bool
    /// What the link carries; empty for a window of the home door alone.
    package var addresses: [HostAddress]
    /// The door and the addresses are known, or 3 s are over.
    package var isReady: Bool
}

/// Why a window ended (02 §6.5).
package enum WindowClose: String, Sendable, CaseIterable, Hashable {
    /// A device paired.
    case used
    /// Its time was over.
    case expired
    /// Five wrong proofs.
    case stopped
    /// The user closed it, or switched remote access off under it.
    case cancelled
    /// The device whose ask opened it needs it no more.
    case withdrawn
}

/// How the last window ended (09.20).
package struct WindowOutcome: Sendable, Equatable {
    /// Its name in the API.
    package var id: String
    /// Why it ended.
    package var outcome: WindowClose
    /// When.
    package var at: WallTime
    /// Who paired.
    package var device: SillID?

    package init(id: String, outcome: WindowClose, at: WallTime, device: SillID? = nil) {
        self.id = id
        self.outcome = outcome
        self.at = at
        self.device = device
    }
}
