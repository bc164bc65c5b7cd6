// SPDX-License-Identifier: Apache-2.0

/// What a connection is for, as TLS negotiates it (file 01 §4.1). These names are never replaced, only joined by more.
package enum ALPN: String, Sendable, CaseIterable {
    case session = "sill/1"
    case pairing = "sill-pair/1"

    /// The protocol of that name. The compiler's own `init(rawValue:)` searches a table, which every handshake and
    /// every admission would pay for.
    package init?(name: String) {
        if name == Self.session.rawValue {
            self = .session
        } else if name == Self.pairing.rawValue {
            self = .pairing
        } else {
            return nil
        }
    }
}

/// The remote door's port where nobody configured another.
package let defaultRemotePort = 7455

/// The server name that every device sends, whatever it dialled.
package let serverName = "sill"
