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
