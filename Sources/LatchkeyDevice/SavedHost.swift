// SPDX-License-Identifier: Apache-2.0

internal import Wire

/// A host this device has paired with: its pin, its name and where it was reachable (06 B1).
public struct SavedHost: Sendable, Equatable {
    /// The host's ID, which follows from its fingerprint: an index, never a credential.
    public let id: String
    /// SHA-256 of the host's key, unpadded base64url: the pin.
    public let fingerprint: String
    /// The host's name as it last said it.
    public internal(set) var name: String
    /// The port of addresses that carry none.
    public internal(set) var remotePort: Int
    /// The host's own addresses, from its link and its signed host info.
    public internal(set) var addresses: [SavedAddress]
    /// Addresses a person typed here. They stay whatever the host says.
    public internal(set) var typedAddresses: [SavedAddress] = []
    /// Seconds since 1970 of the pairing.
    public internal(set) var pairedAt: Double
    /// `qr` or `code`; later words are kept.
    public internal(set) var method: String
    /// Seconds since 1970 of the last session that was served.
    public internal(set) var lastConnectedAt: Double?
    /// How that session went, in words.
    public internal(set) var lastRoute: String?
    /// The host has turned this device's key away since.
    public internal(set) var revoked = false

    /// Recognises the host's DNS-SD record (02 section 11). 32 bytes; a secret between host and device.
    var recognitionKey: [UInt8]
    /// `issuedAt` of the newest host info taken; 0 after a pairing.
    var infoIssuedAt: Double = 0
    /// The Bonjour name it was last found under.
    var bonjourName: String?
    /// `host|port` of the remote address that worked last.
    var lastWorked: String?
    /// The home door has been seen to speak TLS.
    var homeTLS = false
    /// The host was set up again under another key.
    var newKey = false

    /// A host just paired with; nil when the fingerprint is none.
    init?(
        fingerprint: String, name: String, recognitionKey: [UInt8], remotePort: Int,
        addresses: [SavedAddress],
        pairedAt: Double, method: String
    ) {
        guard let pin = Fingerprint(base64url: fingerprint) else { return nil }
        id = pin.id.text
        self.fingerprint = fingerprint
        self.name = name
        self.recognitionKey = recognitionKey
        self.remotePort = remotePort
        self.addresses = addresses
        self.pairedAt = pairedAt
        self.method = method
    }

    /// The pin as a value. Exists for every record, since `init` refuses one without.
    var pin: Fingerprint? { Fingerprint(base64url: fingerprint) }

    /// When it was last reached, else paired: what decides which record makes room.
    var lastUse: Double { lastConnectedAt ?? pairedAt }
}
