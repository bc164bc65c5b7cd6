// SPDX-License-Identifier: Apache-2.0

/// How a session, and the place of an ask, is named to people (03 §3.7).
package enum Route {
    /// The route of a session. `vpn` is the service name of its arrival interface; nil or empty when it has none.
    package static func words(door: Door, origin: Origin, cable: Bool, vpn: String?) -> String {
        switch (door, origin) {
        case (.home, _) where cable: "over the USB cable"
        case (.home, .loopback): "on this host"
        case (.home, .direct): "directly"
        case (.home, _): "on this network"
        case (.remote, .vpn): vpn.flatMap { $0.isEmpty ? nil : "through \($0)" } ?? "through your VPN"
        case (.remote, .internet): "over the internet"
        case (.remote, _): "by address"
        }
    }

    /// How a device names the way it dialled a host (06 B3): by the path when that is known to have used a tunnel, else by
    /// the address's kind. `via` is where the address came from.
    package static func dialled(kind: String, via: String, usedTunnel: Bool? = nil) -> String {
        if usedTunnel == true || (kind == "vpn" && usedTunnel == nil) {
            // A tunnel without a service behind it is named by its interface, which says nothing to people.
            let isNamed = kind == "vpn" && !via.isEmpty && !via.hasPrefix("VPN (")
            return isNamed ? "through \(via)" : "through your VPN"
        }
        switch kind {
        case "vpn", "lan": return "by address"
        default: return "over the internet"
        }
    }

    /// Where an ask came from.
    package static func place(_ origin: Origin) -> String {
        switch origin {
        case .direct: "nearby"
        case .loopback: "on this host"
        case .lan, .vpn, .internet: "on this network"
        }
    }

    /// By the remote door from a VPN or the internet (06 A3).
    package static func isAway(door: Door, origin: Origin) -> Bool {
        door == .remote && (origin == .vpn || origin == .internet)
    }
}
