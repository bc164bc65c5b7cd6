// SPDX-License-Identifier: Apache-2.0

package import Wire

/// What a limit counts by (03 §7).
package enum Source {
    /// The address without port and zone, as rules about people and devices use it.
    package static func of(_ peer: IPAddress) -> IPAddress { peer.unscoped }

    /// For pending connections and the backoff: an IPv6 source from the internet counts as its /64, since one
    /// household holds a whole one; all others as themselves, since the devices of a home share one.
    package static func limited(_ peer: IPAddress, _ origin: Origin) -> IPAddress {
        guard origin == .internet, peer.family == .v6 else { return peer.unscoped }
        let network = peer.bytes.prefix(8) + [UInt8](repeating: 0, count: 8)
        return IPAddress(bytes: Array(network)) ?? peer.unscoped
    }
}
