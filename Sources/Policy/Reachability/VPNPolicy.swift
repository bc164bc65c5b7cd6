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
    }

    /// `router` is where the LAN's gateway is and what the internet sees of it: a VPN that ends there reaches this host
    /// only through the home subnet.
    package static func judge(
        _ vpn: VPNEvidence, name: String, table: InterfaceTable, router: [IPAddress]
    ) -> Line {
        let link = vpn.interface.flatMap { table.interface(named: $0) }
        let isLinkUp = link.map { $0.link.isUp && !$0.addresses.isEmpty } ?? false
        var line = Line(
            name: name, product: vpn.product, interface: vpn.interface,
            code: code(vpn, isLinkUp: isLinkUp), notes: [])
        if vpn.isUnreadable { line.notes.append(.vpnDetailsUnreadable) }
        if vpn.isSilent { line.notes.append(.vpnDaemonSilent) }
        if vpn.product == .wireGuard && line.code == .vpnUp { line.notes.append(.vpnUnproven) }
        if let end = vpn.endsAt, router.contains(end) { line.notes.append(.subnetNeeded) }
        if let tailscale = vpn.tailscale, line.code.isListed {
            line.dnsName = dialable(tailscale, &line.notes)
            if line.code == .vpnUserspace { line.userspaceAddresses = tailscale.addresses }
        } else if line.code.isListed {
            line.dnsName = vpn.guessedName
        }
        return line
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
