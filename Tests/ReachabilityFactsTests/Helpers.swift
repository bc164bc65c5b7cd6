// SPDX-License-Identifier: Apache-2.0

import Policy
import RouterProbe
import Synchronization
import VPNFacts
import Wire

@testable import ReachabilityFacts

/// A parsed address; only for texts written in tests.
func ip(_ text: String) -> IPAddress {
    guard let ip = IPAddress(text) else { preconditionFailure("\(text) is no address") }
    return ip
}

func at(_ seconds: Double) -> MonotonicTime { .seconds(seconds) }

/// A machine with one Ethernet link behind a home router, and what else a test adds.
func machine(
    lan: String = "192.168.1.5", gateway: String? = "192.168.1.1", bits: Int = 24,
    more: [(LinkFacts, String)] = [], primary: UInt32 = 2
) -> InterfaceTable {
    let own = LinkFacts(
        index: 2, name: "enp3s0", isPhysical: true, isMainDefault: primary == 2,
        gateway: gateway.map { ip($0) })
    return InterfaceTable.make(
        links: [own] + more.map(\.0),
        addresses: [(2, InterfaceAddress(ip: ip(lan), prefixBits: bits))]
            + more.map { ($0.0.index, InterfaceAddress(ip: ip($0.1), prefixBits: 24)) },
        primary: primary)
}

func question(
    _ lan: String = "192.168.1.5", _ gateway: String? = "192.168.1.1", port: Int = 7455
) -> RouterQuestion {
    RouterQuestion(
        gateway: gateway.map { ip($0) }, lan: ip(lan), prefixBits: 24, interface: "enp3s0", interfaceIndex: 2,
        outsidePort: port)
}

/// A good router's facts.
func answer(_ address: String = "11.22.33.44", gateway: String = "192.168.1.1") -> RouterFacts {
    var evidence = RouterEvidence()
    evidence.gateway = ip(gateway)
    evidence.natpmp = .answered(ip(address))
    var igd = IGDEvidence(host: ip(gateway), isGateway: true)
    igd.status = .connected
    igd.address = .address(ip(address))
    igd.mapping = .none
    evidence.igd = igd
    evidence.isFinished = true
    return RouterFacts(
        evidence: evidence,
        sources: [
            FactSource(
                fact: "router.natpmp", source: "NAT-PMP at \(gateway)", state: "answered", at: at(1),
                took: .milliseconds(3)),
            FactSource(
                fact: "router.upnp", source: "UPnP at \(gateway)", state: "answered", at: at(1),
                took: .milliseconds(60)),
        ])
}

/// A silent one.
func silence(gateway: String = "192.168.1.1") -> RouterFacts {
    var evidence = RouterEvidence()
    evidence.gateway = ip(gateway)
    evidence.natpmp = .silent
    evidence.isFinished = true
    return RouterFacts(evidence: evidence, sources: [])
}

func wanted(router: Bool = true, name: String? = nil, port: Int = 7455) -> ReachabilityWanted {
    var wanted = ReachabilityWanted()
    wanted.watches = true
    wanted.asksRouter = router
    wanted.addressName = name
    wanted.port = port
    return wanted
}

func looked(_ vpns: [VPNEvidence] = [], name: NameEvidence? = nil) -> HostFacts {
    var facts = HostFacts()
    var reading = VPNReading()
    reading.vpns = vpns
    facts.vpns = reading
    facts.name = name
    facts.firewall = .passes
    return facts
}
