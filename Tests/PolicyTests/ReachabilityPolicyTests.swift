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
            testDescription: "a dropped name says nothing of one that is not listed",
            vpn: tailscale {
                $0.hasShieldsUp = true; $0.resolved = nil
            }, want: .vpnShieldsUp, listed: []),
        VPNRow(
            testDescription: "whether it is online is not said", vpn: tailscale { $0.isOnline = nil },
            want: .vpnUp, listed: [name] + both),
        VPNRow(
            testDescription: "user space wins over offline",
            vpn: tailscale {
                $0.hasTUN = false; $0.isOnline = false
            }, want: .vpnUserspace, listed: [name] + both),
        VPNRow(
            testDescription: "one of its addresses is enough",
            vpn: tailscale { $0.resolved = [ip("100.9.9.9"), ip("100.88.123.45")] }, want: .vpnUp,
            listed: [name] + both),
        VPNRow(
            testDescription: "a name without a letter", vpn: tailscale { $0.dnsName = "" }, want: .vpnUp,
            listed: both),
        VPNRow(
            testDescription: "MagicDNS off", vpn: tailscale { $0.hasMagicDNS = false }, want: .vpnUp,
            listed: both),
    ]

    @Test(arguments: vpnRows) func vpns(_ row: VPNRow) {
        let report = ReachabilityPolicy.compose(Self.evidence([row.vpn]), Self.switches())
        #expect(report.vpns.map(\.code) == [row.want])
        #expect(report.vpns.first?.notes == row.notes)
        #expect((report.vpns.first?.dnsName != nil) == row.listed.contains(Self.name))
        #expect((report.vpns.first?.userspaceAddresses.isEmpty ?? true) == (row.want != .vpnUserspace))
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

    struct LinkRow: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var product = VPNProduct.wireGuard
        var isUp = true
        var hasAddress = true
        var address = "10.9.0.2"
        /// What a host route over the LAN, or over the tunnel, leads to.
        var server: String?
        var inside: String?
        var change: @Sendable (inout VPNEvidence) -> Void = { _ in }
        var want: VPNCode
        var notes: [ReachabilityNote] = []
    }

    static let linkRows = [
        LinkRow(testDescription: "WireGuard", want: .vpnUp, notes: [.vpnUnproven]),
        LinkRow(testDescription: "down", isUp: false, want: .vpnDown),
        LinkRow(testDescription: "no address", hasAddress: false, want: .vpnDown),
        LinkRow(testDescription: "no link", change: { $0.interface = nil }, want: .vpnDown),
        LinkRow(testDescription: "ZeroTier, not asked", product: .zeroTier, want: .vpnUp),
        LinkRow(
            testDescription: "ZeroTier OK", product: .zeroTier, change: { $0.daemonStatus = "OK" },
            want: .vpnUp),
        LinkRow(
            testDescription: "ZeroTier denied", product: .zeroTier,
            change: { $0.daemonStatus = "ACCESS_DENIED" }, want: .vpnDown),
        LinkRow(
            testDescription: "another daemon's word", product: .netBird,
            change: { $0.daemonStatus = "Connected" }, want: .vpnUp),
        LinkRow(testDescription: "Tailscale by its link alone", product: .tailscale, want: .vpnUp),
        LinkRow(
            testDescription: "no tailscaled", product: .tailscale, isUp: false, want: .vpnDaemonDown),
        LinkRow(
            testDescription: "tailscaled is there", product: .tailscale, isUp: false,
            change: { $0.hasSocket = true }, want: .vpnDown),
        LinkRow(
            testDescription: "Tailscale runs without its link", product: .tailscale, isUp: false,
            change: { $0.tailscale = tailscale().tailscale }, want: .vpnDown),
        LinkRow(
            testDescription: "may not be asked", product: .zeroTier, change: { $0.isUnreadable = true },
            want: .vpnUp, notes: [.vpnDetailsUnreadable]),
        LinkRow(
            testDescription: "hangs", product: .zeroTier, change: { $0.isSilent = true }, want: .vpnUp,
            notes: [.vpnDaemonSilent]),
        LinkRow(testDescription: "a link-local address alone", address: "fe80::9", want: .vpnDown),
        LinkRow(
            testDescription: "its server is the router", product: .openVPN, server: "11.22.33.44",
            want: .vpnUp, notes: [.subnetNeeded]),
        LinkRow(
            testDescription: "its server is the gateway", product: .other,
            server: "192.168.1.1", change: { $0.label = "home" }, want: .vpnUp, notes: [.subnetNeeded]),
        LinkRow(
            testDescription: "WireGuard to the router", server: "11.22.33.44", want: .vpnUp,
            notes: [.vpnUnproven, .subnetNeeded]),
        LinkRow(
            testDescription: "its server is elsewhere", product: .openVPN, server: "11.22.33.45", want: .vpnUp
        ),
        LinkRow(
            testDescription: "a mesh has no server", product: .nebula, server: "11.22.33.44", want: .vpnUp),
        LinkRow(
            testDescription: "the route is inside the VPN", product: .openVPN, inside: "11.22.33.44",
            want: .vpnUp),
        LinkRow(
            testDescription: "down, whatever is left of its routes", product: .openVPN, isUp: false,
            server: "11.22.33.44", want: .vpnDown),
    ]

    @Test(arguments: linkRows) func vpnsByTheirLinks(_ row: LinkRow) {
        var tunnel = AddressListTests.link(3, "wg0", "wireguard")
        tunnel.isUp = row.isUp
        tunnel.hostRoutes = row.inside.map { [ip($0)] } ?? []
        var ethernet = AddressListTests.link(2, "eth0")
        ethernet.hostRoutes = row.server.map { [ip("9.9.9.9"), ip($0)] } ?? []
        let table = InterfaceTable.make(
            links: [ethernet, tunnel],
            addresses: [AddressListTests.own(2, "192.168.1.5")]
                + (row.hasAddress ? [AddressListTests.own(3, row.address)] : []), primary: 2)
        var vpn = VPNEvidence(product: row.product, interface: "wg0")
        row.change(&vpn)
        var evidence = Self.evidence([vpn], table)
        evidence.router = Self.asked(.none)
        evidence.router?.gateway = ip("192.168.1.1")
        let line = ReachabilityPolicy.compose(evidence, Self.switches()).vpns.first
        #expect(line?.code == row.want && line?.notes == row.notes)
        #expect(line?.product == row.product && line?.interface == vpn.interface)
    }

    /// Two that may have left the route: nobody can tell whose it is.
    @Test func whichOfTwoEndsOnTheRouterCannotBeTold() {
        var ethernet = AddressListTests.link(2, "eth0")
        ethernet.hostRoutes = [ip("11.22.33.44")]
        func noted(_ other: VPNProduct) -> [String?] {
            let table = InterfaceTable.make(
                links: [
                    ethernet, AddressListTests.link(3, "tun0", "tun"),
                    AddressListTests.link(4, "wg0", "wireguard"),
                ],
                addresses: [
                    AddressListTests.own(2, "192.168.1.5"), AddressListTests.own(3, "10.8.0.2"),
                    AddressListTests.own(4, "10.9.0.2"),
                ], primary: 2)
            var evidence = Self.evidence(
                [
                    VPNEvidence(product: .openVPN, interface: "tun0"),
                    VPNEvidence(product: other, interface: "wg0"),
                ],
                table)
            evidence.router = Self.asked(.none)
            return ReachabilityPolicy.compose(evidence, Self.switches()).vpns
                .filter { $0.notes.contains(.subnetNeeded) }.map(\.interface)
        }
        #expect(noted(.wireGuard) == [])
        #expect(noted(.netBird) == ["tun0"])
    }

    @Test func upOnesByNameThenTheOthers() {
        let table = InterfaceTable.make(
            links: [AddressListTests.link(3, "zt1", "tun"), AddressListTests.link(4, "wg0", "wireguard")],
            addresses: [AddressListTests.own(3, "10.8.0.2"), AddressListTests.own(4, "10.9.0.2")],
            primary: nil)
        var office = VPNEvidence(product: .openVPN)
        office.label = "office"
        let vpns = [
            office, VPNEvidence(product: .nebula), VPNEvidence(product: .zeroTier, interface: "zt1"),
            VPNEvidence(product: .wireGuard, interface: "wg0"), VPNEvidence(product: .other),
        ]
        let lines = ReachabilityPolicy.compose(Self.evidence(vpns, table), Self.switches()).vpns
        #expect(lines.map(\.name) == ["WireGuard", "ZeroTier", "Nebula", "OpenVPN (office)"])
        #expect(lines.map(\.code) == [.vpnUp, .vpnUp, .vpnDown, .vpnDown])
    }

    // MARK: - The report

    @Test func whatTheRouterWouldBe() {
        var evidence = Self.evidence([], Self.lanOnly)
        evidence.router = Self.asked(RouterPolicyTests.entry("192.168.1.5", 9000))
        evidence.router?.gateway = ip("192.168.1.1")
        var switches = Self.switches()
        switches.port = 9000
        switches.notes = [.serviceNotRunning]
        var report = ReachabilityPolicy.compose(evidence, switches)
        #expect(report.router.code == .off && report.router.ifOn == .publicMapped)
        #expect(report.router.address == ip("11.22.33.44") && report.gateway == ip("192.168.1.1"))
        #expect(report.router.mapping == RouterPolicyTests.entry("192.168.1.5", 9000))
        #expect(report.notes == [.serviceNotRunning, .hairpin])
        switches.internet = true
        report = ReachabilityPolicy.compose(evidence, switches)
        #expect(report.router.code == .publicMapped && report.router.ifOn == nil)
    }

    @Test func aCarriersNetworkIsSaid() {
        let table = InterfaceTable.make(
            links: [AddressListTests.link(2, "eth0")], addresses: [AddressListTests.own(2, "100.64.1.1")],
            primary: 2)
        let report = ReachabilityPolicy.compose(Self.evidence([], table), Self.switches())
        #expect(report.router.ifOn == .directCarrier && report.lanAddress == nil)
    }

    /// 05 B10: an old address is one beside the router's, and a private address of the router is no word about it.
    @Test(arguments: [("11.22.33.44", NameCode?.some(.nameStale)), ("192.168.0.2", nil)])
    func whereTheNameLeads(_ router: String, _ want: NameCode?) {
        var evidence = Self.evidence([], Self.lanOnly)
        evidence.router = Self.asked(.none, router)
        evidence.name = NameEvidence(text: "home.example.net", addresses: [ip("11.9.9.9")])
        #expect(ReachabilityPolicy.compose(evidence, Self.switches()).nameCode == want)
    }

    /// On the internet itself, the name should lead to this machine's own address.
    @Test(arguments: [("11.0.0.5", NameCode.nameMatches), ("11.9.9.9", .nameStale)])
    func whereTheNameLeadsWithoutARouter(_ found: String, _ want: NameCode) {
        let table = InterfaceTable.make(
            links: [AddressListTests.link(2, "eth0")], addresses: [AddressListTests.own(2, "11.0.0.5")],
            primary: 2)
        var evidence = Self.evidence([], table)
        evidence.router = RouterEvidence()
        evidence.router?.isFinished = true
        evidence.name = NameEvidence(text: "home.example.net", addresses: [ip(found)])
        #expect(ReachabilityPolicy.compose(evidence, Self.switches()).nameCode == want)
    }

    static let withIPv6 = InterfaceTable.make(
        links: [AddressListTests.link(2, "eth0")],
        addresses: [AddressListTests.own(2, "192.168.1.5"), AddressListTests.own(2, "2001:db8::20")],
        primary: 2)

    static func behind(_ firewall: IPv6Firewall, gateway: Bool = true) -> RouterEvidence {
        var router = asked(.none, "100.72.14.3")
        router.natpmp = gateway ? router.natpmp : .silent
        router.igd?.isGateway = gateway
        router.igd?.firewall = firewall
        return router
    }

    /// 05 B9: the firewall's word is the gateway's alone.
    @Test func anotherDevicesFirewallIsNotOurs() {
        for (isGateway, want) in [(true, IPv6Code.v6Open), (false, .v6Unknown)] {
            var evidence = Self.evidence([], Self.withIPv6)
            evidence.router = Self.behind(
                IPv6Firewall(isOn: false, allowsPinholes: false), gateway: isGateway)
            let report = ReachabilityPolicy.compose(evidence, Self.switches(internet: true))
            #expect(report.ipv6 == want && report.ipv6Address == ip("2001:db8::20"))
        }
    }

    @Test func temporaryIPv6Alone() {
        let table = InterfaceTable.make(
            links: [AddressListTests.link(2, "eth0")],
            addresses: [AddressListTests.own(2, "2001:db8::aa", temporary: true)], primary: 2)
        let report = ReachabilityPolicy.compose(Self.evidence([], table), Self.switches())
        #expect(report.ipv6 == .v6TemporaryOnly && report.ipv6Address == nil)
    }

    /// 05 B6: only a probe that nobody answered.
    @Test func anExitNodeThatCutsTheLANOff() {
        func notes(_ natpmp: NATPMPAnswer?, igd: Bool = false, blocks: Bool = true) -> [ReachabilityNote] {
            var evidence = Self.evidence(
                [Self.tailscale { $0.isExitNodeBlockingLAN = blocks }], Self.lanOnly)
            evidence.router = RouterEvidence()
            evidence.router?.natpmp = natpmp
            evidence.router?.igd = igd ? RouterPolicyTests.igd() : nil
            evidence.router?.isFinished = true
            return ReachabilityPolicy.compose(evidence, Self.switches()).notes
        }
        #expect(notes(.silent) == [.exitNodeBlocksLAN])
        #expect(notes(.silent, blocks: false) == [])
        #expect(notes(.silent, igd: true) == [])
        #expect(notes(.unsupported) == [] && notes(nil) == [])
    }

    @Test(arguments: [
        (HostFirewall.passes, false), (.drops, false), (.unclear, false), (.unread, true),
    ])
    func rulesThatMayNotBeRead(_ firewall: HostFirewall, _ isNoted: Bool) {
        var evidence = Self.evidence([], Self.lanOnly)
        evidence.firewall = firewall
        #expect(
            ReachabilityPolicy.compose(evidence, Self.switches()).notes == (isNoted ? [.firewallUnread] : []))
    }

    @Test func nothingIsListedBeforeTheFirstLook() {
        let table = InterfaceTable(
            Self.lanOnly.interfaces, primaryInterface: Self.lanOnly.primaryInterface, isComplete: false)
        #expect(ReachabilityPolicy.addresses(Self.evidence([], table), Self.switches()).isEmpty)
    }

    struct OverallRow: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var want: OverallCode
        var basis: ReachabilityBasis?
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
        OverallRow(testDescription: "no identity", want: .identityMissing, basis: .verified) {
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
        OverallRow(testDescription: "failed", want: .doorFailed, basis: .verified) { $1.listener = .failed },
        OverallRow(testDescription: "firewall wins over a VPN", want: .firewallDrops) { found, _ in
            found = evidence([tailscale()])
            found.firewall = .drops
        },
        OverallRow(testDescription: "VPN", want: .awayVPN, basis: .verified) { found, _ in
            found = evidence([tailscale()])
        },
        OverallRow(testDescription: "nothing", want: .awayNone, basis: .verified) { _, _ in },
        OverallRow(testDescription: "mapped", want: .awayInternet, basis: .verified) {
            $0.router = asked(RouterPolicyTests.entry("192.168.1.5"))
            $1.internet = true
        },
        OverallRow(testDescription: "mapped, but internet access off", want: .awayNone) { found, _ in
            found.router = asked(RouterPolicyTests.entry("192.168.1.5"))
        },
        OverallRow(testDescription: "unmapped", want: .awayMaybe, basis: .inferred) {
            $0.router = asked(.none)
            $1.internet = true
        },
        OverallRow(testDescription: "elsewhere", want: .awayBlocked, basis: .verified) {
            $0.router = asked(RouterPolicyTests.entry("192.168.1.9"))
            $1.internet = true
        },
        OverallRow(testDescription: "elsewhere, with an address name", want: .awayMaybe) {
            $0.router = asked(RouterPolicyTests.entry("192.168.1.9"))
            $1.internet = true
            $1.addressName = "home.example.net"
        },
        OverallRow(testDescription: "carrier NAT", want: .awayBlocked, basis: .verified) {
            $0.router = asked(.none, "100.72.14.3")
            $1.internet = true
        },
        OverallRow(testDescription: "not finished", want: .asking, basis: .inferred) { $1.internet = true },
        OverallRow(testDescription: "not finished, with an address name", want: .awayMaybe) {
            $1.internet = true
            $1.addressName = "home.example.net"
        },
        OverallRow(testDescription: "who knows whether it is mapped", want: .awayMaybe) {
            $0.router = asked(.unreadable)
            $1.internet = true
        },
        OverallRow(testDescription: "a rule that is off", want: .awayBlocked, basis: .verified) {
            $0.router = asked(RouterPolicyTests.entry("192.168.1.5", enabled: false))
            $1.internet = true
        },
        OverallRow(testDescription: "IPv6 that nobody filters", want: .awayInternet, basis: .verified) {
            $0.table = withIPv6
            $0.router = behind(IPv6Firewall(isOn: false, allowsPinholes: false))
            $1.internet = true
        },
        OverallRow(testDescription: "IPv6 with a pinhole", want: .awayInternet, basis: .verified) {
            $0.table = withIPv6
            $0.router = behind(IPv6Firewall(isOn: true, allowsPinholes: true, hasOurPinhole: true))
            $1.internet = true
        },
        OverallRow(testDescription: "IPv6 that a pinhole could let in", want: .awayMaybe) {
            $0.table = withIPv6
            $0.router = behind(IPv6Firewall(isOn: true, allowsPinholes: true))
            $1.internet = true
        },
        OverallRow(testDescription: "IPv6 that is filtered", want: .awayBlocked) {
            $0.table = withIPv6
            $0.router = behind(IPv6Firewall(isOn: true, allowsPinholes: false))
            $1.internet = true
        },
        OverallRow(testDescription: "on the internet itself, as far as is known yet", want: .asking) {
            $0.table = InterfaceTable.make(
                links: [AddressListTests.link(2, "eth0")], addresses: [AddressListTests.own(2, "11.0.0.5")],
                primary: 2)
            $1.internet = true
        },
        OverallRow(testDescription: "directly on the internet", want: .awayInternet, basis: .inferred) {
            $0.router = RouterEvidence()
            $0.router?.isFinished = true
            $0.table = InterfaceTable.make(
                links: [AddressListTests.link(2, "eth0")], addresses: [AddressListTests.own(2, "11.0.0.5")],
                primary: 2)
            $1.internet = true
        },
        OverallRow(testDescription: "off, as far as may be read", want: .remoteOff, basis: .inferred) {
            $1.remoteAccess = false
            $1.notes = [.settingsUnreadable]
        },
        OverallRow(testDescription: "nobody answers", want: .awayBlocked, basis: .inferred) {
            $0.router = RouterEvidence()
            $0.router?.natpmp = .silent
            $0.router?.isFinished = true
            $1.internet = true
        },
        OverallRow(testDescription: "a VPN by its link alone", want: .awayVPN, basis: .inferred) { found, _ in
            found = evidence([VPNEvidence(product: .tailscale, interface: "tailscale0")])
        },
        OverallRow(
            testDescription: "directly, and the internet says so", want: .awayInternet, basis: .verified
        ) {
            $0.table = InterfaceTable.make(
                links: [AddressListTests.link(2, "eth0")], addresses: [AddressListTests.own(2, "11.0.0.5")],
                primary: 2)
            $0.router = RouterEvidence()
            $0.router?.stun = ip("11.0.0.5")
            $0.router?.isFinished = true
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
        if let basis = row.basis { #expect(report.basis == basis) }
        #expect(!report.advice.isEmpty)
        #expect(!report.advice.contains("100.72.14.3"))
    }

    /// What may lead here is what the sentence is about.
    @Test func adviceWhereNoForwardCanHelp() {
        var evidence = Self.evidence([], Self.withIPv6)
        evidence.router = Self.asked(.none, "100.72.14.3")
        var switches = Self.switches(internet: true)
        #expect(
            ReachabilityPolicy.compose(evidence, switches).advice.hasPrefix(
                "IPv6 (2001:db8::20) may lead here where IPv4 does not. IPv6 works only if"))
        evidence.router = Self.asked(.none)
        #expect(ReachabilityPolicy.compose(evidence, switches).advice.contains("Forward TCP 7455"))
        evidence = Self.evidence([], Self.lanOnly)
        evidence.router = Self.asked(.none, "100.72.14.3")
        evidence.name = NameEvidence(text: "home.example.net", addresses: [ip("192.168.1.20")])
        switches.addressName = "home.example.net"
        #expect(
            ReachabilityPolicy.compose(evidence, switches).advice.hasPrefix(
                "home.example.net: It leads to a private"))
        evidence.name = nil
        #expect(ReachabilityPolicy.compose(evidence, switches).advice.contains("100.72.x.x"))
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
        #expect(report(0).saysTheSame(as: report(0)))
    }

    /// Each reading has its time; what it found is what counts.
    @Test func theSameReadAgainIsNoOtherReport() {
        func report(_ second: Double, _ name: String) -> ReachabilityReport {
            var evidence = Self.evidence([], Self.lanOnly)
            evidence.router = Self.asked(RouterPolicyTests.entry("192.168.1.9"))
            evidence.router?.igd?.name = name
            evidence.sources = [
                FactSource(
                    fact: "interfaces", source: "rtnetlink", state: "answered", at: at(second),
                    took: .milliseconds(3))
            ]
            return ReachabilityPolicy.compose(evidence, Self.switches(internet: true))
        }
        #expect(report(1, "box") != report(2, "box"))
        #expect(report(1, "box").saysTheSame(as: report(2, "box")))
        #expect(!report(1, "box").saysTheSame(as: report(1, "other box")))
    }
}
