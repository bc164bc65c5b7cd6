// Who the host is. SPDX-License-Identifier: Apache-2.0

package import Wire

/// `GET /v1/identity`. Nothing in it is secret.
package struct Identity: APIObject {
    /// The host's Sill ID.
    package var hostID: String
    /// SHA-256 of its SubjectPublicKeyInfo, base64url; what devices pin.
    package var fingerprint: String
    /// The first six characters people compare.
    package var shortName: String
    /// The public key, X9.63 (65 bytes), base64url.
    package var publicKey: String
    /// The certificate in DER, base64url.
    package var certificate: String
    /// The name that devices show.
    package var name: String
    /// When the key was made.
    package var createdAt: WallTime
    /// Where the private key lives: `file`.
    package var keyStorage: String

    /// All of it.
    package init(
        hostID: String, fingerprint: String, shortName: String, publicKey: String, certificate: String,
        name: String, createdAt: WallTime, keyStorage: String
    ) {
        self.hostID = hostID
        self.fingerprint = fingerprint
        self.shortName = shortName
        self.publicKey = publicKey
        self.certificate = certificate
        self.name = name
        self.createdAt = createdAt
        self.keyStorage = keyStorage
    }

    package init(json: JSON) throws(JSONError) {
        hostID = try json.requiredString("hostID")
        fingerprint = try json.requiredString("fingerprint")
        shortName = try json.requiredString("shortName")
        publicKey = try json.requiredString("publicKey")
        certificate = try json.requiredString("certificate")
        name = try json.requiredString("name")
        createdAt = try json.requiredTime("createdAt")
        keyStorage = try json.requiredString("keyStorage")
    }

    package func encode(into writer: inout JSONWriter) {
        writer.field("hostID", hostID)
        writer.field("fingerprint", fingerprint)
        writer.field("shortName", shortName)
        writer.field("publicKey", publicKey)
        writer.field("certificate", certificate)
        writer.field("name", name)
        writer.field("createdAt", createdAt.rfc3339)
        writer.field("keyStorage", keyStorage)
    }
}

/// The answer to `POST /v1/identity/rotate`: the new identity, and what the old one's end cost.
package struct IdentityRotated: APIObject {
    /// Who the host is now.
    package var identity: Identity
    /// Sessions that got goodbye `removed`.
    package var closedSessions: Int

    package init(identity: Identity, closedSessions: Int) {
        self.identity = identity
        self.closedSessions = closedSessions
    }

    package init(json: JSON) throws(JSONError) {
        identity = try Identity(json: json)
        closedSessions = try json.requiredInt("closedSessions")
    }

    package func encode(into writer: inout JSONWriter) {
        identity.encode(into: &writer)
        writer.field("closedSessions", closedSessions)
    }
}
