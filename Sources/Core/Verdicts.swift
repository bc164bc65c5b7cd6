// SPDX-License-Identifier: Apache-2.0

package import Policy
package import Wire

/// A connection that was just accepted (03 §5.1).
package struct Arrival: Sendable {
    /// The worker's name for it.
    package var id: ConnectionID
    /// The listener that accepted it.
    package var door: Door
    /// Its source.
    package var peer: SocketAddress
    /// The address it came to.
    package var local: SocketAddress?
    /// The interface the kernel received it on (03 §3.3 step 2); nil when the kernel does not say.
    package var receivedOn: UInt32?
    /// The same by name, from a streaming process that only knows that.
    package var receivedOnName: String?
    /// The zone of the source, by name, from the API's text.
    package var zoneName: String?
    /// It came by the loopback, from a peer that a user-space VPN delivers there (03 §3.4).
    package var isVPNPeer = false
    /// The interfaces were read again because of this connection: there is nothing newer to judge it by.
    package var hasLookedAgain = false

    package init(
        id: ConnectionID, door: Door, peer: SocketAddress, local: SocketAddress? = nil,
        receivedOn: UInt32? = nil, receivedOnName: String? = nil, zoneName: String? = nil
    ) {
        self.id = id
        self.door = door
        self.peer = peer
        self.local = local
        self.receivedOn = receivedOn
        self.receivedOnName = receivedOnName
        self.zoneName = zoneName
    }
}

/// Step A. A refused connection is closed at once, without a byte.
package enum StartVerdict: Sendable, Equatable {
    /// TLS may start.
    case proceed(Origin)
    /// It came by an interface that the table does not have: have the interfaces read now, then ask again.
    case lookAgain
    /// Closed, and counted under this word already.
    case refuse(RefusalWord)
}

/// Step C. After anything but `session` and `pairing` the core has forgotten the connection.
package enum ReadyVerdict: Sendable, Equatable {
    /// Register at once when `floor` is nil; else run the device gate with it first.
    case session(floor: Version?)
    /// Read one kind 19.
    case pairing
    /// Send this, then close as an unregistered connection (03 §11.3).
    case goodbye(Goodbye)
    /// Close without a word.
    case refuse(RefusalWord)
}

/// Step E and registering.
package enum RegisterVerdict: Sendable, Equatable {
    /// It is a session now.
    case session(SessionView)
    /// Send this, then close as an unregistered connection.
    case goodbye(Goodbye)
    /// Close without a word: the core does not know the connection (any more).
    case refuse
}

/// How a session ended, for the log and `session.closed`.
package enum SessionEnd: String, Sendable, CaseIterable, Hashable {
    /// The device ended its stream.
    case peerClosed
    /// The connection was reset.
    case peerReset
    /// The host said goodbye.
    case goodbye
    /// Nothing was heard (03 §14).
    case silent
    /// The device took nothing (03 §14).
    case notDraining
    /// A message above the caps (01 §3).
    case tooLong
    /// The streaming process ended it.
    case backendEnded
    /// The streaming process could not be reached or broke off.
    case backendFailed
    /// Bytes that are not the protocol.
    case protocolError
    /// The service stopped.
    case stopped
    /// A streaming process deleted it (03 §6).
    case deleted
    /// A streaming process was told to end it and did not.
    case abandoned
}
