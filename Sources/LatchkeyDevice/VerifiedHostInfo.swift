// SPDX-License-Identifier: Apache-2.0

internal import Wire

/// A host info whose signature holds and whose signer is the host of the connection it came by.
struct VerifiedHostInfo: Sendable {
    /// What the host says.
    let info: HostInfo
    /// Whose word it is: this connection's host.
    let signer: Fingerprint
}
