// SPDX-License-Identifier: Apache-2.0

package import Policy
package import Wire

/// `POST /v1/admissions` (03 §6).
package struct AdmissionQuery: Sendable {
    /// Both given together, or the question before TLS.
    package struct Handshake: Sendable, Equatable {
        /// Nil: none was negotiated.
        package var alpn: String?
        /// Nil: no P-256 key.
        package var fingerprint: Fingerprint?

        package init(alpn: String?, fingerprint: Fingerprint?) {
            self.alpn = alpn
            self.fingerprint = fingerprint
        }
    }

    /// The listener.
    package var door: Door
    /// The device's address with port.
    package var remote: SocketAddress
    /// The zone in the text of `remote`, when it is a name.
    package var zoneName: String?
    /// The address it came to.
    package var local: SocketAddress?
    /// The interface it was received on, by name.
    package var interface: String?
    /// Nil for the question before TLS.
    package var handshake: Handshake?
    /// It came by the loopback, from a peer that a user-space VPN delivers there (03 §3.4).
    package var isVPNPeer = false

    package init(
        door: Door, remote: SocketAddress, zoneName: String? = nil, local: SocketAddress? = nil,
        interface: String? = nil, handshake: Handshake? = nil
    ) {
        self.door = door
        self.remote = remote
        self.zoneName = zoneName
        self.local = local
        self.interface = interface
        self.handshake = handshake
    }
}

/// The answer to it; `origin`, `cable`, `route`, `away` and `device` are in every one.
package struct AdmissionAnswer: Sendable, Equatable {
    /// What to do.
    package enum Decision: Sendable, Equatable {
        /// Start TLS.
        case proceed
        /// Run the gate, then register.
        case session
        /// Read one kind 19 and hand it over.
        case pairing
        /// Send it and close.
        case goodbye(Goodbye)
        /// Close.
        case refuse(RefusalWord)
    }

    /// What to do.
    package var decision: Decision
    /// Where it comes from.
    package var origin: Origin
    /// Whether it is the USB cable.
    package var cable: Bool
    /// In words (03 §3.7).
    package var route: String
    /// By the remote door from a VPN or the internet.
    package var away: Bool
    /// The record of its key; nil before TLS and for unpaired keys.
    package var device: DeviceRef?
}
