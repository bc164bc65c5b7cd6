// SPDX-License-Identifier: Apache-2.0

import Policy
import Testing
import Wire

/// 05 B7 to B10: rows, worked cases, and the notes beside them.
struct RouterPolicyTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var lan: String? = "192.168.1.5"
        var carrierLAN = false
        var natpmp: NATPMPAnswer? = .silent
        var igd: IGDEvidence?
        var stun: String?
        var isFinished = true
        var port = 7455
        var want: RouterCode
    }

    static func igd(
        _ status: IGDEvidence.Status = .connected, _ address: IGDEvidence.Address = .unknown,
        _ mapping: MappingAnswer = .unreadable, gateway: Bool = true
    ) -> IGDEvidence {
        var igd = IGDEvidence(host: ip("192.168.1.1"), isGateway: gateway)
        igd.status = status
        igd.address = address
        igd.mapping = mapping
        return igd
    }

    static func entry(_ client: String, _ port: Int = 7455, enabled: Bool = true) -> MappingAnswer {
        .entry(
            MappingEntry(
                client: ip(client), port: port, isEnabled: enabled, description: "x", lease: 3600))
    }

    static let wan = IGDEvidence.Address.address(ip("11.22.33.44"))

    static let rows = [
        // The worked cases.
        Row(testDescription: "NAT-PMP and UPnP silent", want: .noAnswer),
        Row(
            testDescription: "connected, address empty, code 3", natpmp: .withheld,
            igd: igd(.connected, .withheld), want: .wanHidden),
        Row(
            testDescription: "disconnected, address empty, code 3", natpmp: .withheld,
            igd: igd(.disconnected, .withheld), want: .noWAN),
        Row(testDescription: "NAT-PMP 100.72.14.3", natpmp: .answered(ip("100.72.14.3")), want: .carrierNAT),
        Row(testDescription: "NAT-PMP 192.168.0.2", natpmp: .answered(ip("192.168.0.2")), want: .doubleNAT),
        Row(
            testDescription: "UPnP address, 714, NAT-PMP silent", igd: igd(.connected, wan, .none),
            want: .publicUnmapped),
        Row(
            testDescription: "mapped to this host", natpmp: .answered(ip("11.22.33.44")),
            igd: igd(.connected, wan, entry("192.168.1.5")), want: .publicMapped),
        Row(
            testDescription: "mapped to another", natpmp: .answered(ip("11.22.33.44")),
            igd: igd(.connected, wan, entry("192.168.1.20")), want: .publicMappedElsewhere),
        // Each other row.
        Row(testDescription: "row 2", isFinished: false, want: .asking),
        Row(testDescription: "row 3", lan: nil, carrierLAN: true, want: .directCarrier),
        Row(testDescription: "row 4", lan: nil, want: .noLAN),
        Row(testDescription: "row 4, before asking", lan: nil, isFinished: false, want: .noLAN),
        Row(testDescription: "a carrier's address is behind something", lan: "100.64.0.9", want: .noAnswer),
        Row(testDescription: "row 5", lan: "11.0.0.1", stun: "11.0.0.2", want: .natAboveRouter),
        Row(testDescription: "row 6, STUN the same", lan: "11.0.0.1", stun: "11.0.0.1", want: .directPublic),
        Row(testDescription: "row 2 wins over row 6", lan: "11.0.0.1", isFinished: false, want: .asking),
        Row(
            testDescription: "row 8 by NAT-PMP alone", natpmp: .withheld, want: .wanHidden),
        Row(testDescription: "row 8 by UPnP alone", igd: igd(.connected, .withheld), want: .wanHidden),
        Row(testDescription: "connected, no answer for the address", igd: igd(.connected), want: .noAnswer),
        Row(testDescription: "row 9", natpmp: .refused, want: .routerMappingOff),
        Row(
            testDescription: "refused, but an IGD is there", natpmp: .refused, igd: igd(.unknown),
            want: .noAnswer),
        Row(testDescription: "unsupported", natpmp: .unsupported, want: .noAnswer),
        Row(testDescription: "row 11, 0/8", natpmp: .answered(ip("0.1.2.3")), want: .noWAN),
        Row(testDescription: "after 0/8", natpmp: .answered(ip("1.0.0.0")), want: .publicMappingUnknown),
        Row(
            testDescription: "before 224/3", natpmp: .answered(ip("223.255.255.255")),
            want: .publicMappingUnknown),
        Row(testDescription: "row 11, loopback", natpmp: .answered(ip("127.0.0.1")), want: .noWAN),
        Row(testDescription: "row 11, link-local", natpmp: .answered(ip("169.254.1.1")), want: .noWAN),
        Row(testDescription: "row 11, 224/3", natpmp: .answered(ip("240.0.0.1")), want: .noWAN),
        Row(
            testDescription: "row 12, last of the /29", natpmp: .answered(ip("192.0.0.7")),
            want: .carrierNATDSLite),
        Row(
            testDescription: "after the /29", natpmp: .answered(ip("192.0.0.8")), want: .publicMappingUnknown),
        Row(
            testDescription: "before 100.64/10", natpmp: .answered(ip("100.63.255.255")),
            want: .publicMappingUnknown),
        Row(
            testDescription: "after 100.64/10", natpmp: .answered(ip("100.128.0.0")),
            want: .publicMappingUnknown),
        Row(
            testDescription: "row 13 wins over row 15", natpmp: .answered(ip("100.72.14.3")),
            stun: "11.9.9.9", want: .carrierNAT),
        Row(
            testDescription: "row 14 wins over row 15", natpmp: .answered(ip("192.168.0.2")),
            stun: "11.9.9.9", want: .doubleNAT),
        Row(testDescription: "row 14, 10/8", natpmp: .answered(ip("10.0.0.1")), want: .doubleNAT),
        Row(testDescription: "row 14, 172.16/12", natpmp: .answered(ip("172.31.0.1")), want: .doubleNAT),
        Row(
            testDescription: "a documentation range is public", natpmp: .answered(ip("203.0.113.9")),
            want: .publicMappingUnknown),
        Row(
            testDescription: "row 15", natpmp: .answered(ip("11.22.33.44")), stun: "11.9.9.9",
            want: .natAboveRouter),
        Row(
            testDescription: "row 17, another inside port",
            igd: igd(.connected, wan, entry("192.168.1.5", 22)), want: .publicMappedElsewhere),
        Row(
            testDescription: "row 16, the port that is set",
            igd: igd(.connected, wan, entry("192.168.1.5", 9000)), port: 9000, want: .publicMapped),
        Row(
            testDescription: "row 17 wins over row 18",
            igd: igd(.connected, wan, entry("192.168.1.20", enabled: false)), want: .publicMappedElsewhere),
        Row(
            testDescription: "row 18", igd: igd(.connected, wan, entry("192.168.1.5", enabled: false)),
            want: .publicMappingDisabled),
        Row(
            testDescription: "row 20, unreadable", igd: igd(.connected, wan), want: .publicMappingUnknown),
        // An answer that carries an address counts whatever its status says.
        Row(
            testDescription: "disconnected, but with a private address",
            igd: igd(.disconnected, .address(ip("10.1.1.1"))), want: .doubleNAT),
        Row(
            testDescription: "disconnected, but with a carrier address", natpmp: .refused,
            igd: igd(.disconnected, .address(ip("100.70.1.1"))), want: .carrierNAT),
        // One that is not the gateway: its address while NAT-PMP says nothing, never its status.
        Row(
            testDescription: "another device's address", igd: igd(.connected, wan, .none, gateway: false),
            want: .publicUnmapped),
        Row(
            testDescription: "another device's address, NAT-PMP not asked", natpmp: nil,
            igd: igd(.connected, wan, .none, gateway: false), want: .publicUnmapped),
        Row(
            testDescription: "another device's address, NAT-PMP unsupported", natpmp: .unsupported,
            igd: igd(.connected, wan, .none, gateway: false), want: .noAnswer),
        Row(
            testDescription: "another device's address, NAT-PMP withheld", natpmp: .withheld,
            igd: igd(.connected, wan, .none, gateway: false), want: .wanHidden),
        Row(
            testDescription: "another device's status", igd: igd(.disconnected, .withheld, gateway: false),
            want: .noAnswer),
    ]

    static func facts(_ row: Row) -> RouterPolicy.Facts {
        var facts = RouterPolicy.Facts()
        facts.internet = true
        facts.lanIPv4 = row.lan.map { ip($0) }
        facts.hasCarrierLAN = row.carrierLAN
        var evidence = RouterEvidence()
        evidence.natpmp = row.natpmp
        evidence.igd = row.igd
        evidence.stun = row.stun.map { ip($0) }
        evidence.isFinished = row.isFinished
        facts.evidence = evidence
        facts.port = row.port
        return facts
    }

    @Test(arguments: rows) func code(_ row: Row) {
        #expect(RouterPolicy.judge(Self.facts(row)).code == row.want)
    }

    @Test(arguments: rows) func offWhileInternetAccessIs(_ row: Row) {
        var facts = Self.facts(row)
        facts.internet = false
        #expect(RouterPolicy.judge(facts).code == .off)
        #expect(RouterPolicy.judgeIfOn(facts).code == row.want)
    }

    /// While internet access is off and nobody asked, what this machine knows by itself counts.
    @Test func aPublicAddressThatNobodyAskedAbout() {
        var facts = RouterPolicy.Facts()
        facts.lanIPv4 = ip("11.0.0.1")
        #expect(RouterPolicy.judgeIfOn(facts).code == .directPublic)
        facts.internet = true
        #expect(RouterPolicy.judge(facts).code == .asking)
    }

    @Test func notes() {
        func notes(
            lan: String = "192.168.1.5", _ change: (inout RouterEvidence) -> Void
        ) -> [ReachabilityNote] {
            var facts = RouterPolicy.Facts()
            facts.lanIPv4 = ip(lan)
            var evidence = RouterEvidence()
            evidence.isFinished = true
            evidence.natpmp = .silent
            change(&evidence)
            facts.evidence = evidence
            return RouterPolicy.judgeIfOn(facts).notes
        }
        #expect(notes { _ in } == [])
        #expect(
            notes {
                $0.natpmp = .answered(ip("11.1.1.1"))
                $0.igd = Self.igd(.connected, Self.wan)
            } == [.wanWitnessesDiffer, .hairpin])
        #expect(notes { $0.stun = ip("11.1.1.1") } == [.wanFromSTUN])
        #expect(notes(lan: "11.1.1.1") { $0.stun = ip("11.1.1.1") } == [])
        #expect(notes(lan: "11.1.1.1") { $0.stun = ip("11.1.1.2") } == [])
        #expect(
            notes {
                $0.natpmp = .answered(ip("10.1.1.1"))
                $0.igd = Self.igd(.disconnected)
            } == [.igdDisconnected])
        #expect(
            notes {
                $0.natpmp = .withheld
                $0.igd = Self.igd(.connected, Self.wan)
            } == [.hairpin])
        #expect(notes { $0.igd = Self.igd(gateway: false) } == [.igdNotGateway])
        #expect(
            notes {
                $0.igd = Self.igd(); $0.igd?.connectionType = "IP_Bridged"
            } == [.igdNotRouting])
        #expect(
            notes {
                $0.igd = Self.igd(); $0.igd?.connectionType = "IP_Routed"
            } == [])
        #expect(notes { $0.speaksPCP = true } == [.pcpPresent])
        #expect(
            notes {
                $0.natpmp = .answered(ip("11.22.33.44"))
                $0.igd = Self.igd(.connected, Self.wan)
                $0.stun = ip("11.22.33.44")
            } == [.hairpin])
        // Its address counts, so nobody contradicts it.
        #expect(notes { $0.igd = Self.igd(.disconnected, Self.wan) } == [.hairpin])
        // It is there, also where it does not count.
        #expect(
            notes {
                $0.natpmp = .withheld
                $0.igd = Self.igd(.disconnected, Self.wan, gateway: false)
                $0.igd?.connectionType = "IP_Bridged"
            } == [.igdNotGateway])
    }

    @Test func natPMPIsBelievedFirst() {
        var facts = Self.facts(Self.rows[3])
        facts.evidence?.igd = Self.igd(.connected, Self.wan)
        let verdict = RouterPolicy.judge(facts)
        #expect(verdict.wan == ip("100.72.14.3"))
        #expect(verdict.code == .carrierNAT)
    }

    // MARK: - IPv6 and names

    @Test func ipv6() {
        let stable = ip("2001:db8::20")
        func judge(
            _ stable: IPAddress?, _ hasGlobal: Bool, _ firewall: IPv6Firewall?
        ) -> IPv6Code { IPv6Policy.judge(stable: stable, hasGlobal: hasGlobal, firewall: firewall) }
        #expect(judge(nil, true, nil) == .v6TemporaryOnly)
        #expect(judge(nil, false, nil) == .v6None)
        #expect(judge(stable, true, nil) == .v6Unknown)
        #expect(judge(stable, true, IPv6Firewall(isOn: false, allowsPinholes: true)) == .v6Open)
        #expect(judge(stable, true, IPv6Firewall(isOn: true, allowsPinholes: true)) == .v6PinholePossible)
        #expect(judge(stable, true, IPv6Firewall(isOn: true, allowsPinholes: false)) == .v6Blocked)
        #expect(
            judge(stable, true, IPv6Firewall(isOn: true, allowsPinholes: true, hasOurPinhole: true))
                == .v6PinholeActive)
        #expect(
            judge(stable, true, IPv6Firewall(isOn: true, allowsPinholes: false, hasOurPinhole: true))
                == .v6PinholeActive)
        #expect(
            judge(stable, true, IPv6Firewall(isOn: false, allowsPinholes: true, hasOurPinhole: true))
                == .v6Open)
    }

    @Test func addressNames() {
        let (wan, stable) = (ip("11.22.33.44"), ip("2001:db8::20"))
        func judge(_ found: [String]?, wan: IPAddress? = wan) -> NameCode? {
            NamePolicy.judge(
                NameEvidence(text: "home.example.net", addresses: found.map { $0.map { ip($0) } }), wan: wan,
                stable: stable)
        }
        #expect(judge(nil) == .nameUnresolved)
        #expect(judge([]) == .nameUnresolved)
        #expect(judge(["11.22.33.44"]) == .nameMatches)
        #expect(judge(["11.9.9.9", "2001:db8::20"]) == .nameMatches)
        #expect(judge(["11.9.9.9"]) == .nameStale)
        #expect(judge(["11.9.9.9"], wan: nil) == nil)
        #expect(judge(["192.168.1.20", "100.64.1.1"]) == .namePrivate)
        #expect(judge(["192.168.1.20"], wan: nil) == .namePrivate)
        for inside in ["127.0.0.1", "::1", "169.254.1.1", "fe80::1", "fd00::1", "100.127.255.255"] {
            #expect(judge([inside]) == .namePrivate, "\(inside)")
        }
        #expect(judge(["192.168.1.20", "11.9.9.9"]) == .nameStale)
    }
}
