// SPDX-License-Identifier: Apache-2.0

/// One of the two TLS listeners (03 §1).
package enum Door: String, Sendable, CaseIterable, Hashable {
    /// For devices on the host's own networks.
    case home
    /// For paired devices that are away.
    case remote
}

/// Where a connection comes from (03 §3.4); found once, before TLS, and never changed.
package enum Origin: String, Sendable, CaseIterable, Hashable {
    /// From this machine.
    case loopback
    /// By peer-to-peer Wi-Fi.
    case direct
    /// From one of the host's own networks.
    case lan
    /// Through a tunnel.
    case vpn
    /// From anywhere else.
    case internet
}

/// Why a connection is refused (03 §7.5): the words of the API, and but for `direct` those of the refusal summary.
package enum RefusalWord: String, Sendable, CaseIterable, Hashable {
    /// The key, certificate, protocol name or deadline.
    case unpaired
    /// The home door was reached through a tunnel.
    case vpn
    /// The origin is not admitted by this door.
    case internet
    /// A Sill from before TLS, or something that is not TLS, at the home door.
    case older
    /// Backoff, too many pending connections, too many remote sessions.
    case limit
    /// By peer-to-peer Wi-Fi while Direct is off. Counts nothing: the person switched off a way in, nobody tried a door.
    case direct

    /// The words that are counted.
    package static let counted: [RefusalWord] = [.unpaired, .vpn, .internet, .older, .limit]
}
