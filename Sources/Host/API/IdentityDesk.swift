// SPDX-License-Identifier: Apache-2.0

package import APITypes
package import Policy
package import Wire

/// What the API reaches of the host's identity: never the private key itself.
package struct IdentityDesk: Sendable {
    /// Who the host is now; another one after a rotation, so nobody keeps it.
    package var current: @Sendable () -> HostIdentity
    /// Makes another identity ready to be proposed. Waits for the disk, so never on the server's thread.
    package var stage: @Sendable () -> Result<StoredIdentity, Problem>
    /// Lets go of what was made ready and not proposed. Waits for the disk.
    package var abandon: @Sendable () -> Void

    package init(
        current: @escaping @Sendable () -> HostIdentity,
        stage: @escaping @Sendable () -> Result<StoredIdentity, Problem>,
        abandon: @escaping @Sendable () -> Void
    ) {
        self.current = current
        self.stage = stage
        self.abandon = abandon
    }
}

/// What `GET /v1/identity` says, but for the name.
package struct HostIdentity: Sendable {
    /// Of the host's key.
    package var fingerprint: Fingerprint
    /// The public key, X9.63, 65 bytes.
    package var publicKey: [UInt8]
    /// DER.
    package var certificate: [UInt8]
    /// When the key was made.
    package var createdAt: WallTime

    package init(fingerprint: Fingerprint, publicKey: [UInt8], certificate: [UInt8], createdAt: WallTime) {
        self.fingerprint = fingerprint
        self.publicKey = publicKey
        self.certificate = certificate
        self.createdAt = createdAt
    }

    /// As the API shows it.
    func body(name: String) -> Identity {
        Identity(
            hostID: fingerprint.id.text, fingerprint: fingerprint.base64url, shortName: fingerprint.shortName,
            publicKey: Base64URL.encode(publicKey), certificate: Base64URL.encode(certificate), name: name,
            createdAt: createdAt, keyStorage: "file")
    }
}
