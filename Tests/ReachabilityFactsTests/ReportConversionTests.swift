// SPDX-License-Identifier: Apache-2.0

import APITypes
import Policy
import RouterProbe
import Testing
import VPNFacts
import Wire

@testable import ReachabilityFacts

/// 09.40: the shapes of the API, and that no carrier's address is in them.
struct ReportConversionTests {
    static let wall = WallTime(rfc3339: "2026-11-30T08:00:00.000Z") ?? WallTime(milliseconds: 0)

    static func api(
        _ table: InterfaceTable = machine(), router: RouterFacts? = answer(), internet: Bool = true,
        _ change: (inout ReachabilityEvidence) -> Void = { _ in }
    ) -> Reachability {
        var facts = ReachabilityFactSet(table: table, at: at(0.5), took: .milliseconds(2))
        facts.host = looked()
        facts.router = router
        var evidence = facts.evidence
        change(&evidence)
        var switches = ReachabilitySwitches()
        switches.remoteAccess = true
        switches.internet = internet
        switches.listener = .open(port: 7455)
        return Reachability(
            ReachabilityPolicy.compose(evidence, switches), at: wall, now: at(3), took: .milliseconds(123))
    }

    @Test func aGoodRouter() throws {
        let report = Self.api()
        #expect(
            report.basis == "inferred" && report.verdict == "awayMaybe" && report.severity == "maybe"
                && report.tookMs == 123)
        #expect(report.router.code == "publicUnmapped" && report.router.ifOn == nil)
        #expect(report.router.address == "11.22.33.44" && report.router.masked == nil)
        #expect(report.router.natpmp == .init(state: "answered", address: "11.22.33.44"))
        #expect(report.router.igd == .init(state: "connected", address: "11.22.33.44"))
        #expect(report.router.mapping == .init(state: "none"))
        #expect(report.listener == .init(state: "open", port: 7455))
        #expect(
            report.facts.first
                == .init(fact: "interfaces", source: "rtnetlink", state: "answered", ageMs: 2500, tookMs: 2))
        #expect(try Reachability(json: JSON.parse(report.jsonBytes)) == report, "it reads back")
    }

    struct MappingRow: Sendable {
        var entry: MappingEntry
        var want: Reachability.Mapping
    }

    static func entry(
        _ client: String = "192.168.1.5", port: Int = 7455, enabled: Bool = true, text: String = "",
        lease: Int = 0
    ) -> MappingEntry {
        MappingEntry(client: ip(client), port: port, isEnabled: enabled, description: text, lease: lease)
    }

    @Test(arguments: [
        MappingRow(entry: entry(), want: .init(state: "toThisHost", target: "192.168.1.5:7455")),
        MappingRow(
            entry: entry(text: "Latchkey", lease: 3600),
            want: .init(
                state: "ours", target: "192.168.1.5:7455",
                // Read 2 s before the report was made.
                expiresAt: WallTime(rfc3339: "2026-11-30T08:59:58.000Z"))),
        MappingRow(
            entry: entry("192.168.1.20", text: "Latchkey"),
            want: .init(state: "elsewhere", target: "192.168.1.20:7455")),
        MappingRow(entry: entry(port: 22), want: .init(state: "elsewhere", target: "192.168.1.5:22")),
        MappingRow(entry: entry(enabled: false), want: .init(state: "disabled", target: "192.168.1.5:7455")),
    ])
    func mapping(_ row: MappingRow) {
        var router = answer()
        router.evidence.igd?.mapping = .entry(row.entry)
        #expect(Self.api(router: router).router.mapping == row.want)
    }

    @Test func aCarriersAddressIsMaskedEverywhere() {
        var router = answer("100.72.14.3", gateway: "100.72.0.1")
        router.evidence.stun = ip("100.72.14.3")
        router.evidence.igd?.mapping = .entry(Self.entry("100.72.14.9"))
        router.sources[0].source = "NAT-PMP at 100.72.0.1, which says 100.72.14.3."
        let report = Self.api(machine(gateway: "100.72.0.1"), router: router)
        #expect(report.router.code == "carrierNAT")
        #expect(report.router.address == nil && report.router.masked == "100.72.x.x")
        #expect(report.gateway == "100.72.x.x")
        let text = String(decoding: report.jsonBytes, as: UTF8.self)
        #expect(!text.contains("100.72.14") && !text.contains("100.72.0.1"), "\(text)")
        #expect(text.contains("NAT-PMP at 100.72.x.x, which says 100.72.x.x."))
    }

    @Test func whatNobodyAskedIsLeftOut() {
        let unasked = Self.api(router: nil, internet: false)
        #expect(unasked.router.code == "off" && unasked.router.ifOn == nil)
        #expect(unasked.router.natpmp == nil && unasked.router.igd == nil)
        let nobody = Self.api(InterfaceTable([]), router: .notAsked(at: at(1)))
        #expect(nobody.router.code == "noLAN" && nobody.router.igd == nil && nobody.router.natpmp == nil)
        let onRequest = Self.api(internet: false)
        #expect(onRequest.router.code == "off" && onRequest.router.ifOn == "publicUnmapped")
        #expect(Self.api(router: silence()).router.igd == .init(state: "none"))
    }

    @Test func whatTheOwnerAskedTheRouterFor() throws {
        let ends = WallTime(rfc3339: "2026-11-30T09:00:00.000Z")
        var evidence = ReachabilityFactSet(table: machine(), at: at(0.5), took: .zero).evidence
        evidence.router = answer().evidence
        var made = ReachabilityPolicy.compose(evidence, ReachabilitySwitches())
        func shown() throws -> (Reachability, String) {
            let report = Reachability(made, at: Self.wall, now: at(3), took: .zero)
            #expect(try Reachability(json: JSON.parse(report.jsonBytes)) == report, "it reads back")
            return (report, String(decoding: report.jsonBytes, as: UTF8.self))
        }
        var (report, text) = try shown()
        #expect(report.router.request == nil && report.ipv6.request == nil && !text.contains("request"))
        made.requests.mapping = .init(code: "mappingActive", isSeen: true, expiresAt: ends)
        made.requests.pinhole = .init(code: "pinholeRefused", detail: "Not from 100.72.14.3.")
        (report, text) = try shown()
        #expect(report.router.request == .init(code: "mappingActive", isSeen: true, expiresAt: ends))
        #expect(report.ipv6.request == .init(code: "pinholeRefused", detail: "Not from 100.72.x.x."))
        #expect(
            text.contains(
                #""request":{"code":"mappingActive","seen":true,"expiresAt":"2026-11-30T09:00:00.000Z"}"#))
    }

    struct IGDRow: Sendable {
        var status: IGDEvidence.Status
        var address: IGDEvidence.Address
        var want: String
    }

    @Test(arguments: [
        IGDRow(status: .connected, address: .withheld, want: "withheld"),
        IGDRow(status: .disconnected, address: .withheld, want: "disconnected"),
        IGDRow(status: .unknown, address: .unknown, want: "error"),
        IGDRow(status: .connected, address: .unknown, want: "connected"),
        IGDRow(status: .unknown, address: .withheld, want: "withheld"),
    ])
    func igd(_ row: IGDRow) {
        var router = answer()
        router.evidence.igd?.status = row.status
        router.evidence.igd?.address = row.address
        #expect(Self.api(router: router).router.igd?.state == row.want)
    }
}
