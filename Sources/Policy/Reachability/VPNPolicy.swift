// SPDX-License-Identifier: Apache-2.0

package import Wire

/// What each VPN is good for (05 B4, B5; order of 09.35).
package enum VPNPolicy {
    /// One VPN as the report shows it.
    package struct Line: Sendable, Equatable {
        /// What people call it; the `via` of its addresses.
        package var name: String
        package var product: VPNProduct
        package var interface: String?
        package var code: VPNCode
        package var notes: [ReachabilityNote]
        /// Its MagicDNS name, when devices may dial it.
        package var dnsName: String?
        /// Its addresses when it has no link of its own (user-space Tailscale).
        package var userspaceAddresses: [IPAddress] = []
        /// Its daemon says how it is; without that its link alone speaks for it.
        package var isProven = false
    }

    /// `endsOnRouter`: as ``endingOnRouter(_:table:router:)`` says; such a VPN reaches this host only through the home
    /// subnet.
    package static func judge(
        _ vpn: VPNEvidence, name: String, table: InterfaceTable, endsOnRouter: Bool
    ) -> Line {
        let isLinkUp = isUp(vpn, table)
        var line = Line(
            name: name, product: vpn.product, interface: vpn.interface,
            code: code(vpn, isLinkUp: isLinkUp), notes: [])
        line.isProven = vpn.tailscale != nil || vpn.daemonStatus != nil
        if vpn.isUnreadable { line.notes.append(.vpnDetailsUnreadable) }
        if vpn.isSilent { line.notes.append(.vpnDaemonSilent) }
        if vpn.product == .wireGuard && line.code == .vpnUp { line.notes.append(.vpnUnproven) }
        if endsOnRouter { line.notes.append(.subnetNeeded) }
        if let tailscale = vpn.tailscale, line.code.isListed {
            line.dnsName = dialable(tailscale, &line.notes)
            if line.code == .vpnUserspace { line.userspaceAddresses = tailscale.addresses }
        } else if line.code.isListed {
            line.dnsName = vpn.guessedName
        }
        return line
    }

    /// The link of the VPN whose server is the home router, nil when that cannot be told: a client leaves a route to its
    /// server in the LAN, and one that names `router`, the gateway or what the internet sees of it, is of the one VPN that
    /// can have left it.
    package static func endingOnRouter(
        _ vpns: [VPNEvidence], table: InterfaceTable, router: [IPAddress]
    ) -> String? {
        let servers = table.interfaces.filter { $0.kind == .lan }.flatMap(\.link.hostRoutes)
        guard servers.contains(where: { router.contains($0) }) else { return nil }
        // The others meet by way of servers of their own.
        let clients = vpns.filter { [.wireGuard, .openVPN, .other].contains($0.product) && isUp($0, table) }
        return clients.count == 1 ? clients.first?.interface : nil
    }

    /// Whether its link is up and has an address that devices can dial (05 A7); a link-local one comes by itself.
    private static func isUp(_ vpn: VPNEvidence, _ table: InterfaceTable) -> Bool {
        guard let link = vpn.interface.flatMap({ table.interface(named: $0) }) else { return false }
        return link.link.isUp && AddressList.isDialable(link)
    }

    /// First match wins (09.35); for products without a daemon's word the link decides.
    private static func code(_ vpn: VPNEvidence, isLinkUp: Bool) -> VPNCode {
        if let tailscale = vpn.tailscale {
            switch tailscale.backendState {
            case "NeedsLogin", "NeedsMachineAuth": return .vpnNeedsLogin
            case "Running": break
            default: return .vpnDown
            }
            if tailscale.hasShieldsUp == true { return .vpnShieldsUp }
            if !tailscale.hasTUN { return .vpnUserspace }
            if tailscale.isOnline == false { return .vpnOffline }
            return isLinkUp ? .vpnUp : .vpnDown
        }
        if vpn.product == .zeroTier, let status = vpn.daemonStatus, status != "OK" { return .vpnDown }
        if isLinkUp { return .vpnUp }
        return vpn.product == .tailscale && !vpn.hasSocket ? .vpnDaemonDown : .vpnDown
    }

    /// The tailnet's own name. A look-up that finds only other machines drops it; no answer keeps it (05 B5).
    private static func dialable(
        _ tailscale: TailscaleEvidence, _ notes: inout [ReachabilityNote]
    ) -> String? {
        guard tailscale.hasMagicDNS, let name = tailscale.dnsName, !name.isEmpty else { return nil }
        guard let resolved = tailscale.resolved, !resolved.isEmpty else {
            notes.append(.vpnNameUnchecked)
            return name
        }
        if resolved.contains(where: { tailscale.addresses.contains($0.unscoped) }) { return name }
        notes.append(.vpnNameMismatch)
        return nil
    }
}
