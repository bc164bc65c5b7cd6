// SPDX-License-Identifier: Apache-2.0

import Policy
import Wire

@testable import AdminCLI
@testable import ReachabilityFacts

/// Evidence that reports are made of in these tests.
enum Evidence {
    static func ip(_ text: String) -> IPAddress { IPAddress(text) ?? IPAddress(v4: 0) }

    static let ethernet = LinkFacts(
        index: 2, name: "enp3s0", isPhysical: true, isMainDefault: true, gateway: ip("192.168.1.1"))
    static let tailscaleLink = LinkFacts(index: 4, name: "tailscale0", hardwareType: 65534, infoKind: "tun")

    static func own(_ index: UInt32, _ text: String, temporary: Bool = false) -> (UInt32, InterfaceAddress) {
        (
            index,
            InterfaceAddress(ip: ip(text), prefixBits: text.contains(":") ? 64 : 24, isTemporary: temporary)
        )
    }

    static let home = InterfaceTable.make(
        links: [ethernet], addresses: [own(2, "192.168.1.5")], primary: 2)

    static let tailnet = InterfaceTable.make(
        links: [ethernet, tailscaleLink],
        addresses: [own(2, "192.168.1.5"), own(4, "100.88.123.45")], primary: 2)

    static func tailscale(_ change: (inout VPNEvidence, inout TailscaleEvidence) -> Void = { _, _ in })
        -> VPNEvidence
    {
        var vpn = VPNEvidence(product: .tailscale, interface: "tailscale0")
        vpn.hasSocket = true
        var says = TailscaleEvidence(backendState: "Running")
        says.addresses = [ip("100.88.123.45")]
        says.dnsName = "lab.tail5678.ts.net"
        says.hasMagicDNS = true
        says.isOnline = true
        says.resolved = [ip("100.88.123.45")]
        change(&vpn, &says)
        vpn.tailscale = says
        return vpn
    }

    static func row(_ fact: String, _ source: String, _ state: String = "answered", _ took: Int = 3)
        -> FactSource
    {
        FactSource(fact: fact, source: source, state: state, at: .seconds(100), took: .milliseconds(took))
    }

    /// What a router said; nil for NAT-PMP: silent.
    static func router(
        natpmp: String? = nil, igd: IGDEvidence? = nil, gateway: String = "192.168.1.1"
    ) -> RouterEvidence {
        var evidence = RouterEvidence()
        evidence.gateway = ip(gateway)
        evidence.natpmp = natpmp.map { .answered(ip($0)) } ?? .silent
        evidence.igd = igd
        evidence.isFinished = true
        return evidence
    }

    static func igd(
        _ address: String?, _ mapping: MappingAnswer = .none, status: IGDEvidence.Status = .connected
    ) -> IGDEvidence {
        var igd = IGDEvidence(host: ip("192.168.1.1"), isGateway: true)
        igd.status = status
        igd.address = address.map { .address(ip($0)) } ?? .withheld
        igd.mapping = mapping
        igd.connectionType = "IP_Routed"
        return igd
    }

    static func entry(
        _ client: String, enabled: Bool = true, description: String = "rule", lease: Int = 0
    ) -> MappingAnswer {
        .entry(
            MappingEntry(
                client: ip(client), port: 7455, isEnabled: enabled, description: description, lease: lease))
    }

    static func make(
        _ table: InterfaceTable = home, vpns: [VPNEvidence] = [], router: RouterEvidence? = nil,
        name: NameEvidence? = nil, firewall: HostFirewall = .passes
    ) -> ReachabilityEvidence {
        var evidence = ReachabilityEvidence()
        evidence.table = table
        evidence.vpns = vpns
        evidence.router = router
        evidence.name = name
        evidence.firewall = firewall
        evidence.sources = [row("interfaces", "rtnetlink", "answered", 1)]
        if !vpns.isEmpty { evidence.sources.append(row("vpn.tailscale", "/run/tailscale/tailscaled.sock")) }
        if let router {
            let who = router.gateway?.description ?? "?"
            evidence.sources.append(
                row("router.natpmp", "NAT-PMP at \(who)", router.natpmp == .silent ? "silent" : "answered"))
            evidence.sources.append(
                row("router.upnp", "UPnP at \(who)", router.igd == nil ? "silent" : "answered", 60))
        }
        if let name { evidence.sources.append(row("name", "resolver, \(name.text)", "answered", 20)) }
        evidence.sources.append(row("firewall", "nftables", firewall == .unread ? "unreadable" : "answered"))
        return evidence
    }
}
