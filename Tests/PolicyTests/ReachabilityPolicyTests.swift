// SPDX-License-Identifier: Apache-2.0

import Policy
import Testing
import Wire

/// 05 B4, B5 and B11: each VPN, the overall verdict, and what the list, the link and the report have in common.
struct ReachabilityPolicyTests {
    static let name = "lab.tail5678.ts.net"

    static func tailscale(_ state: String = "Running", _ change: (inout TailscaleEvidence) -> Void = { _ in })
        -> VPNEvidence
    {
        var vpn = VPNEvidence(product: .tailscale, interface: "tailscale0")
        vpn.hasSocket = true
        var evidence = TailscaleEvidence(backendState: state)
        evidence.addresses = [ip("100.88.123.45"), ip("fd7a:115c:a1e0::abcd:ef01")]
        evidence.dnsName = name
        evidence.hasMagicDNS = true
        evidence.isOnline = true
        evidence.resolved = [ip("100.88.123.45")]
        change(&evidence)
        vpn.tailscale = evidence
        return vpn
    }

    static func evidence(_ vpns: [VPNEvidence] = [], _ table: InterfaceTable = AddressListTests.base)
        -> ReachabilityEvidence
    {
        var evidence = ReachabilityEvidence()
        evidence.table = table
        evidence.vpns = vpns
        evidence.firewall = .passes
        return evidence
    }

    static func switches(internet: Bool = false) -> ReachabilitySwitches {
        var switches = ReachabilitySwitches()
        switches.remoteAccess = true
        switches.internet = internet
        switches.listener = .open(port: 7455)
        return switches
    }

    struct VPNRow: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var vpn: VPNEvidence
        var want: VPNCode
        var notes: [ReachabilityNote] = []
        /// The hosts listed as `vpn`.
        var listed: [String]
    }

    static let both = ["100.88.123.45", "fd7a:115c:a1e0::abcd:ef01"]

    static let vpnRows = [
        VPNRow(testDescription: "running", vpn: tailscale(), want: .vpnUp, listed: [name] + both),
        VPNRow(testDescription: "stopped", vpn: tailscale("Stopped"), want: .vpnDown, listed: []),
        VPNRow(testDescription: "starting", vpn: tailscale("Starting"), want: .vpnDown, listed: []),
        VPNRow(testDescription: "logged out", vpn: tailscale("NeedsLogin"), want: .vpnNeedsLogin, listed: []),
        VPNRow(
            testDescription: "machine not approved", vpn: tailscale("NeedsMachineAuth"), want: .vpnNeedsLogin,
            listed: []),
        VPNRow(
            testDescription: "Shields Up", vpn: tailscale { $0.hasShieldsUp = true }, want: .vpnShieldsUp,
            listed: []),
        VPNRow(
            testDescription: "logged out wins over Shields Up",
            vpn: tailscale("NeedsLogin") { $0.hasShieldsUp = true }, want: .vpnNeedsLogin, listed: []),
        VPNRow(
            testDescription: "Shields Up wins over user space",
            vpn: tailscale {
                $0.hasShieldsUp = true; $0.hasTUN = false
            }, want: .vpnShieldsUp, listed: []),
        VPNRow(
            testDescription: "offline", vpn: tailscale { $0.isOnline = false }, want: .vpnOffline,
            listed: [name] + both),
        VPNRow(
            testDescription: "the name leads elsewhere", vpn: tailscale { $0.resolved = [ip("100.9.9.9")] },
            want: .vpnUp, notes: [.vpnNameMismatch], listed: both),
        VPNRow(
            testDescription: "no answer for the name", vpn: tailscale { $0.resolved = nil }, want: .vpnUp,
            notes: [.vpnNameUnchecked], listed: [name] + both),
        VPNRow(
            testDescription: "no such name counts as no answer", vpn: tailscale { $0.resolved = [] },
            want: .vpnUp, notes: [.vpnNameUnchecked], listed: [name] + both),
        VPNRow(
            testDescription: "MagicDNS off", vpn: tailscale { $0.hasMagicDNS = false }, want: .vpnUp,
            listed: both),
    ]

    @Test(arguments: vpnRows) func vpns(_ row: VPNRow) {
        let report = ReachabilityPolicy.compose(Self.evidence([row.vpn]), Self.switches())
        #expect(report.vpns.map(\.code) == [row.want])
        #expect(report.vpns.first?.notes == row.notes)
        #expect(report.addresses.filter { $0.kind == "vpn" }.map(\.host) == row.listed)
    }

    @Test func userSpaceTailscaleIsListedWithoutALink() {
        var vpn = Self.tailscale { $0.hasTUN = false }
        vpn.interface = nil
        let table = InterfaceTable.make(
            links: [AddressListTests.link(2, "eth0")], addresses: [AddressListTests.own(2, "192.168.1.5")],
            primary: 2)
        let report = ReachabilityPolicy.compose(Self.evidence([vpn], table), Self.switches())
        #expect(report.vpns.map(\.code) == [.vpnUserspace])
        #expect(report.addresses.map(\.host) == [Self.name] + Self.both + ["192.168.1.5"])
        #expect(report.verdict == .awayVPN)
    }

    struct OverallRow: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var want: OverallCode
        var change: @Sendable (inout ReachabilityEvidence, inout ReachabilitySwitches) -> Void
    }

    static let lanOnly = InterfaceTable.make(
        links: [AddressListTests.link(2, "eth0")], addresses: [AddressListTests.own(2, "192.168.1.5")],
        primary: 2)

    static func asked(_ mapping: MappingAnswer, _ address: String = "11.22.33.44") -> RouterEvidence {
        var evidence = RouterEvidence()
        evidence.isFinished = true
        evidence.natpmp = .answered(ip(address))
        evidence.igd = RouterPolicyTests.igd(.connected, .address(ip(address)), mapping)
        return evidence
    }

    static let overallRows = [
        OverallRow(testDescription: "no identity", want: .identityMissing) {
            $1.hasIdentity = false
            $1.remoteAccess = false
        },
        OverallRow(testDescription: "remote off wins over the port", want: .remoteOff) {
            $1.remoteAccess = false
            $1.listener = .portInUse(port: 7455)
        },
        OverallRow(testDescription: "port in use", want: .doorPortInUse) {
            $0.firewall = .drops
            $1.listener = .portInUse(port: 7455)
        },
        OverallRow(testDescription: "failed", want: .doorFailed) { $1.listener = .failed },
        OverallRow(testDescription: "firewall wins over a VPN", want: .firewallDrops) { found, _ in
            found = evidence([tailscale()])
            found.firewall = .drops
        },
        OverallRow(testDescription: "VPN", want: .awayVPN) { found, _ in
            found = evidence([tailscale()])
        },
        OverallRow(testDescription: "nothing", want: .awayNone) { _, _ in },
        OverallRow(testDescription: "mapped", want: .awayInternet) {
            $0.router = asked(RouterPolicyTests.entry("192.168.1.5"))
            $1.internet = true
        },
        OverallRow(testDescription: "mapped, but internet access off", want: .awayNone) { found, _ in
            found.router = asked(RouterPolicyTests.entry("192.168.1.5"))
        },
        OverallRow(testDescription: "unmapped", want: .awayMaybe) {
            $0.router = asked(.none)
            $1.internet = true
        },
        OverallRow(testDescription: "elsewhere", want: .awayBlocked) {
            $0.router = asked(RouterPolicyTests.entry("192.168.1.9"))
            $1.internet = true
        },
        OverallRow(testDescription: "elsewhere, with an address name", want: .awayMaybe) {
            $0.router = asked(RouterPolicyTests.entry("192.168.1.9"))
            $1.internet = true
            $1.addressName = "home.example.net"
        },
        OverallRow(testDescription: "carrier NAT", want: .awayBlocked) {
            $0.router = asked(.none, "100.72.14.3")
            $1.internet = true
        },
        OverallRow(testDescription: "not finished", want: .asking) { $1.internet = true },
        OverallRow(testDescription: "directly on the internet", want: .awayInternet) {
            $0.table = InterfaceTable.make(
                links: [AddressListTests.link(2, "eth0")], addresses: [AddressListTests.own(2, "11.0.0.5")],
                primary: 2)
            $1.internet = true
        },
        OverallRow(testDescription: "IPv6 that may pass", want: .awayMaybe) {
            $0.table = InterfaceTable.make(
                links: [AddressListTests.link(2, "eth0")],
                addresses: [
                    AddressListTests.own(2, "192.168.1.5"), AddressListTests.own(2, "2001:db8::20"),
                ], primary: 2)
            $0.router = asked(.none, "100.72.14.3")
            $1.internet = true
        },
    ]

    @Test(arguments: overallRows) func overall(_ row: OverallRow) {
        var evidence = Self.evidence([], Self.lanOnly)
        var switches = Self.switches()
        row.change(&evidence, &switches)
        let report = ReachabilityPolicy.compose(evidence, switches)
        #expect(report.verdict == row.want)
        #expect(!report.advice.isEmpty)
        #expect(!report.advice.contains("100.72.14.3"))
    }

    @Test func theRoutersAddressIsListedOnlyWhenItIsPublic() {
        for (address, isListed) in [("11.22.33.44", true), ("100.72.14.3", false), ("192.168.0.2", false)] {
            var evidence = Self.evidence([], Self.lanOnly)
            evidence.router = Self.asked(.none, address)
            let report = ReachabilityPolicy.compose(evidence, Self.switches(internet: true))
            #expect(report.addresses.contains { $0.via == "Router" } == isListed)
        }
    }

    @Test func whatKindEighteenCarriesIsTheReportsList() {
        var evidence = Self.evidence([Self.tailscale()])
        evidence.router = Self.asked(.none)
        var switches = Self.switches(internet: true)
        switches.addressName = "home.example.net:17455"
        let report = ReachabilityPolicy.compose(evidence, switches)
        #expect(ReachabilityPolicy.addresses(evidence, switches) == report.addresses)
        switches.listsAddresses = false
        #expect(ReachabilityPolicy.addresses(evidence, switches).isEmpty)
    }

    @Test func summaries() {
        func summary(_ evidence: ReachabilityEvidence, _ switches: ReachabilitySwitches) -> String {
            ReachabilityPolicy.compose(evidence, switches).summary
        }
        let lan = Self.evidence([], Self.lanOnly)
        var off = Self.switches()
        off.remoteAccess = false
        #expect(summary(lan, off) == "off")
        #expect(summary(lan, Self.switches()) == "on, no VPN")
        #expect(summary(Self.evidence([Self.tailscale()]), Self.switches()) == "on: Tailscale")
        #expect(
            summary(Self.evidence([Self.tailscale()]), Self.switches(internet: true))
                == "on: Tailscale and the internet")
        var taken = Self.switches()
        taken.listener = .portInUse(port: 7455)
        #expect(summary(lan, taken) == "port 7455 is in use")
    }

    @Test func aRenewedLeaseIsNoOtherReport() {
        func report(_ lease: Int) -> ReachabilityReport {
            var evidence = Self.evidence([], Self.lanOnly)
            evidence.router = Self.asked(
                .entry(
                    MappingEntry(
                        client: ip("192.168.1.5"), port: 7455, isEnabled: true, description: "x", lease: lease
                    )
                ))
            return ReachabilityPolicy.compose(evidence, Self.switches(internet: true))
        }
        #expect(report(3600).saysTheSame(as: report(1800)))
        #expect(!report(3600).saysTheSame(as: report(0)))
    }
}
