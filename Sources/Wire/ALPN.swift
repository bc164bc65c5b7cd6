// SPDX-License-Identifier: Apache-2.0

/// What a connection is for, as TLS negotiates it (file 01 §4.1). These names are never replaced, only joined by more.
package enum ALPN: String, Sendable, CaseIterable {
    case session = "sill/1"
    case pairing = "sill-pair/1"
}

/// The remote door's port where nobody configured another.
package let defaultRemotePort = 7455

/// The server name that every device sends, whatever it dialled.
package let serverName = "sill"
