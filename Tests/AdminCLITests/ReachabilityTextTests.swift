// SPDX-License-Identifier: Apache-2.0

import APITypes
import Policy
import Testing
import Wire

@testable import AdminCLI
@testable import ReachabilityFacts

/// The report as a person reads it (05 A10, B11).
@Suite("Reachability text")
struct ReachabilityTextTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var evidence: ReachabilityEvidence
        var internet = true
        var change: @Sendable (inout ReachabilitySwitches) -> Void = { _ in }
        /// All of it, or only down to the evidence table.
        var want: String
    }

    static func report(_ row: Row) -> Reachability {
        var switches = ReachabilitySwitches()
        switches.remoteAccess = true
        switches.internet = row.internet
        switches.listener = .open(port: 7455)
        row.change(&switches)
        return Reachability(
            ReachabilityPolicy.compose(row.evidence, switches), at: Fixtures.now, now: .seconds(112),
            took: .milliseconds(64))
    }

    static let rows: [Row] = [
        Row(
            testDescription: "VPN ready",
            evidence: Evidence.make(Evidence.tailnet, vpns: [Evidence.tailscale()]),
            internet: false, want: ReachabilityGoldens.vpnReady),
        Row(
            testDescription: "carrier NAT",
            evidence: Evidence.make(router: Evidence.router(natpmp: "100.72.14.3", igd: Evidence.igd(nil))),
            want: ReachabilityGoldens.carrierNAT),
        Row(
            testDescription: "a tailnet and a carrier at once",
            evidence: Evidence.make(
                Evidence.tailnet, vpns: [Evidence.tailscale()], router: Evidence.router(natpmp: "100.72.14.3")
            ),
            want: ReachabilityGoldens.tailnetAndCarrier),
        Row(
            testDescription: "double NAT",
            evidence: Evidence.make(
                router: Evidence.router(natpmp: "192.168.0.2", igd: Evidence.igd("192.168.0.2"))),
            want: ReachabilityGoldens.doubleNAT),
        Row(
            testDescription: "forward ready, and a name that matches",
            evidence: Evidence.make(
                router: Evidence.router(
                    natpmp: "11.22.33.44",
                    igd: Evidence.igd(
                        "11.22.33.44", Evidence.entry("192.168.1.5", description: "Latchkey", lease: 3612))),
                name: NameEvidence(text: "home.example.net", addresses: [Evidence.ip("11.22.33.44")])),
            change: { $0.addressName = "home.example.net" }, want: ReachabilityGoldens.mapped),
        Row(
            testDescription: "forward elsewhere",
            evidence: Evidence.make(
                router: Evidence.router(
                    natpmp: "11.22.33.44",
                    igd: Evidence.igd("11.22.33.44", Evidence.entry("192.168.1.20")))),
            want: ReachabilityGoldens.elsewhere),
        Row(
            testDescription: "no forward",
            evidence: Evidence.make(
                router: Evidence.router(natpmp: "11.22.33.44", igd: Evidence.igd("11.22.33.44"))),
            want: ReachabilityGoldens.unmapped),
        Row(
            testDescription: "no router answers", evidence: Evidence.make(router: Evidence.router()),
            want: ReachabilityGoldens.silent),
        Row(
            testDescription: "remote off", evidence: Evidence.make(router: nil), internet: false,
            change: {
                $0.remoteAccess = false
                $0.listener = .closed
            }, want: ReachabilityGoldens.remoteOff),
        Row(
            testDescription: "settings unreadable, service down",
            evidence: Evidence.make(
                router: Evidence.router(natpmp: "11.22.33.44", igd: Evidence.igd("11.22.33.44")),
                firewall: .unread),
            internet: false,
            change: {
                $0.remoteAccess = false
                $0.listener = .closed
                $0.notes = [.serviceNotRunning, .settingsUnreadable]
            }, want: ReachabilityGoldens.unreadable),
        Row(
            testDescription: "firewall drops",
            evidence: Evidence.make(Evidence.tailnet, vpns: [Evidence.tailscale()], firewall: .drops),
            internet: false, want: ReachabilityGoldens.firewall),
        Row(
            testDescription: "name stale",
            evidence: Evidence.make(
                router: Evidence.router(natpmp: "11.22.33.44", igd: Evidence.igd("11.22.33.44")),
                name: NameEvidence(text: "home.example.net:17455", addresses: [Evidence.ip("11.22.33.99")])),
            change: { $0.addressName = "home.example.net:17455" }, want: ReachabilityGoldens.stale),
        Row(
            testDescription: "user-space Tailscale",
            evidence: Evidence.make(
                vpns: [
                    Evidence.tailscale { vpn, says in
                        vpn.interface = nil
                        says.hasTUN = false
                    }
                ]),
            internet: false, want: ReachabilityGoldens.userspace),
        Row(
            testDescription: "Tailscale logged out",
            evidence: Evidence.make(
                vpns: [
                    Evidence.tailscale { vpn, says in
                        vpn.interface = nil
                        says.backendState = "NeedsLogin"
                    }
                ]),
            internet: false, want: ReachabilityGoldens.loggedOut),
        Row(
            testDescription: "port in use", evidence: Evidence.make(), internet: false,
            change: { $0.listener = .portInUse(port: 7455) }, want: ReachabilityGoldens.portInUse),
    ]

    /// Asked, granted, refused, seen again, and when it ends.
    @Test(arguments: [
        (
            RouterRequests.Standing(code: "mappingPending"),
            "asked for; the router has not answered yet. (mappingPending)"
        ),
        (
            .init(code: "mappingActive", isSeen: true, expiresAt: Fixtures.now),
            "granted, and seen again on the router; ends 2026-11-30 08:00Z unless renewed. (mappingActive)"
        ),
        (
            .init(code: "mappingActive", expiresAt: Fixtures.now),
            "granted, not seen again on the router; ends 2026-11-30 08:00Z unless renewed. (mappingActive)"
        ),
        (
            .init(code: "mappingActive", isSeen: true),
            "granted, and seen again on the router; it has no end. (mappingActive)"
        ),
        (
            .init(code: "mappingRefused", detail: "The router refuses: no room (728)."),
            "refused. The router refuses: no room (728). (mappingRefused)"
        ),
        (
            .init(code: "mappingNotPossible", detail: "Use a VPN."),
            "not asked for. Use a VPN. (mappingNotPossible)"
        ),
        (
            .init(code: "toThisHost"),
            "not asked for: a rule of your own forwards the port already. (toThisHost)"
        ),
    ])
    func requests(_ standing: RouterRequests.Standing, _ want: String) {
        var made = ReachabilityPolicy.compose(
            Evidence.make(router: Evidence.router(natpmp: "11.22.33.44")), ReachabilitySwitches())
        func screen() -> String {
            ReachabilityText.screen(
                Reachability(made, at: Fixtures.now, now: .seconds(112), took: .zero), columns: nil,
                style: .plain)
        }
        #expect(!screen().contains("\nMapping ") && !screen().contains("\nPinhole "))
        made.requests.mapping = standing
        made.requests.pinhole = standing
        #expect(screen().contains("\nMapping   \(want)\nIPv6 ") && screen().contains("\nPinhole   \(want)\n"))
    }

    @Test(arguments: rows) func screen(_ row: Row) {
        let text = ReachabilityText.screen(Self.report(row), columns: nil, style: .plain)
        let shown: Substring =
            row.want.contains("EVIDENCE")
            ? text[...] : text.split(separator: "EVIDENCE", maxSplits: 1)[0].dropLast()
        #expect(String(shown) == row.want, "\n<<<\(row.testDescription)\n\(text)>>>")
    }
}

/// The screen in other sizes, and what a name from outside can do.
@Suite("Reachability screen")
struct ReachabilityScreenTests {
    static let blocked = ReachabilityTextTests.report(
        .init(
            testDescription: "", evidence: Evidence.make(router: Evidence.router(natpmp: "100.72.14.3")),
            want: ""))

    @Test("sentences are broken between words, and hang under their label")
    func wraps() {
        let lines = ReachabilityText.screen(Self.blocked, columns: 60, style: .plain).split(
            separator: "\n", omittingEmptySubsequences: false)
        let sentences = lines.prefix { !$0.hasPrefix("EVIDENCE") }.filter { !$0.contains("Ethernet") }
        // The verdict is one line, however long: it is looked for, and read first.
        #expect(sentences.dropFirst().allSatisfy { $0.count <= 72 })
        #expect(sentences.contains { $0.hasPrefix("          ") })
    }

    @Test("colour on a terminal alone")
    func colour() {
        #expect(!ReachabilityText.screen(Self.blocked, columns: nil, style: .plain).contains("\u{1B}"))
        let coloured = ReachabilityText.screen(Self.blocked, columns: nil, style: Style(isColoured: true))
        #expect(coloured.hasPrefix("\u{1B}[31mBLOCKED\u{1B}[0m: "))
    }

    @Test("text from outside cannot steer a terminal")
    func hostile() {
        var report = Self.blocked
        report.vpns = [
            .init(
                name: "x\u{1B}[2Jy", product: "VPN", interface: "tun\u{7}0", code: "vpnDown",
                notes: ["\u{1B}c"])
        ]
        report.facts[0].source = "a\u{9B}31m"
        report.addresses.append(HostAddress(host: "h\u{1B}", kind: "k\r", via: "v\n"))
        report.verdict = "\u{1B}"
        let text = ReachabilityText.screen(report, columns: 80, style: .plain)
        #expect(text.unicodeScalars.allSatisfy { $0 == "\n" || $0.properties.generalCategory != .control })
    }

    @Test("a later service's codes are shown as they are")
    func later() {
        var report = Self.blocked
        report.verdict = "somethingNew"
        report.severity = "odd"
        report.router.code = "newRouter"
        report.ipv6.code = "v7"
        report.notes = ["newNote"]
        let text = ReachabilityText.screen(report, columns: nil, style: .plain)
        for word in ["ODD: see below (somethingNew, verified)", "(newRouter)", "(v7)", "newNote (newNote)"] {
            #expect(text.contains(word), "\(word)")
        }
    }

    @Test("every code of the spec says what to do")
    func advice() {
        for code in RouterCode.allCases {
            let text = ReachabilityAdvice.router(
                code, port: 7455, lan: "192.168.1.5", wan: "11.22.33.44", gateway: "192.168.1.1", target: nil)
            #expect(text.count > 20 && text.hasSuffix("."), "\(code)")
        }
        for code in VPNCode.allCases where code != .vpnUp {
            #expect(ReachabilityAdvice.vpn(code, name: "X")?.hasSuffix(".") == true, "\(code)")
        }
        for code in IPv6Code.allCases where code != .v6None {
            #expect(ReachabilityAdvice.ipv6(code)?.hasSuffix(".") == true, "\(code)")
        }
        for code in NameCode.allCases where code != .nameMatches {
            #expect(ReachabilityAdvice.name(code)?.hasSuffix(".") == true, "\(code)")
        }
        for note in ReachabilityNote.allCases {
            #expect(ReachabilityAdvice.note(note).hasSuffix("."), "\(note)")
        }
    }
}
