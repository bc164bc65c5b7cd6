// SPDX-License-Identifier: Apache-2.0

package import Policy
package import Wire

/// Everything trust depends on at one moment; immutable, published whole, read without waiting (03 §4.1).
package final class TrustSnapshot: Sendable {
    /// The paired devices.
    package let devices: DeviceMap
    /// The switches and whether a window for remote is open.
    package let switches: DoorPolicy.Switches

    package init(devices: DeviceMap, switches: DoorPolicy.Switches) {
        self.devices = devices
        self.switches = switches
    }

    /// The verify step inside TLS (03 §5.2); a nil key is one that is not P-256, or none.
    package func verify(door: Door, alpn: String?, key: Fingerprint?) -> Bool {
        DoorPolicy.verify(
            door: door, alpn: alpn, hasKey: key != nil, isPaired: key.map { isPaired($0) } ?? false, switches)
    }

    /// Whether the key is on the list.
    package func isPaired(_ key: Fingerprint) -> Bool { devices.contains(key) }

    /// A home session needs a paired key.
    package var requirePairing: Bool { switches.requirePairing }
    /// The remote door serves paired devices.
    package var remoteAccess: Bool { switches.remoteAccess }
    /// Internet access and remote access.
    package var effectiveInternet: Bool { switches.effectiveInternet }
    /// A window for remote is open.
    package var remotePairingOpen: Bool { switches.remotePairingOpen }
}
