// SPDX-License-Identifier: Apache-2.0

import Policy
import Testing
import Wire

@testable import VPNFacts

@Suite("What tailscaled answers")
struct TailscaleAnswersTests {
    static func status(_ text: String) throws -> TailscaleEvidence {
        try TailscaleAnswers.status(Array(text.utf8)).found
    }

    @Test("a running daemon")
    func running() throws {
        let found = try TailscaleAnswers.status(Array(Answers.running.utf8))
        var want = TailscaleEvidence(backendState: "Running")
        want.addresses = [ip("100.88.123.45"), ip("fd7a:115c:a1e0::abcd:ef01")]
        want.dnsName = "lab-host.tail5678.ts.net"
        want.isOnline = true
        want.hasMagicDNS = true
        #expect(found.found == want)
        #expect(!found.usesExitNode)
    }

    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var text: String
        var want: TailscaleEvidence
    }

    static func evidence(_ state: String, _ change: (inout TailscaleEvidence) -> Void = { _ in })
        -> TailscaleEvidence
    {
        var evidence = TailscaleEvidence(backendState: state)
        change(&evidence)
        return evidence
    }

    static let rows = [
        Row(
            testDescription: "logged out",
            text:
                #"{"BackendState":"NeedsLogin","TUN":true,"TailscaleIPs":null,"Self":null,"CurrentTailnet":null}"#,
            want: evidence("NeedsLogin")),
        Row(
            testDescription: "nothing but the state", text: #"{"BackendState":"Stopped"}"#,
            want: evidence("Stopped")),
        Row(
            testDescription: "addresses only under Self",
            text: #"{"BackendState":"Running","Self":{"TailscaleIPs":["100.1.2.3"]}}"#,
            want: evidence("Running") { $0.addresses = [ip("100.1.2.3")] }),
        Row(
            testDescription: "a suffix at the top, from before there were tailnets",
            text: #"{"BackendState":"Running","MagicDNSSuffix":"a.ts.net"}"#,
            want: evidence("Running") { $0.hasMagicDNS = true }),
        Row(
            testDescription: "MagicDNS off in the tailnet, whatever stands at the top",
            text:
                #"{"BackendState":"Running","MagicDNSSuffix":"a.ts.net","CurrentTailnet":{"MagicDNSEnabled":false}}"#,
            want: evidence("Running")),
        Row(
            testDescription: "user space", text: #"{"BackendState":"Running","TUN":false}"#,
            want: evidence("Running") { $0.hasTUN = false }),
        Row(
            testDescription: "Headscale's name",
            text: #"{"BackendState":"Running","Self":{"DNSName":"Host.home.example.","Online":false}}"#,
            want: evidence("Running") {
                $0.dnsName = "host.home.example"; $0.isOnline = false
            }),
        Row(
            testDescription: "a name that is none",
            text: #"{"BackendState":"Running","Self":{"DNSName":"a b\u0007.ts.net."}}"#,
            want: evidence("Running")),
        Row(
            testDescription: "an address for a name",
            text: #"{"BackendState":"Running","Self":{"DNSName":"100.1.2.3"}}"#, want: evidence("Running")),
        Row(
            testDescription: "a state with an escape in it",
            text: #"{"BackendState":"Run\u001b[2Jning\u202e"}"#, want: evidence("Run[2Jning")),
    ]

    @Test(arguments: rows) func statuses(_ row: Row) throws {
        #expect(try Self.status(row.text) == row.want)
    }

    @Test(
        "what is none",
        arguments: [
            "", "{", "[]", "null", "{}", #"{"BackendState":5}"#, #"{"BackendState":null}"#,
            #"{"BackendState":"Running","TailscaleIPs":"100.1.2.3"}"#,
            #"{"BackendState":"Running","TailscaleIPs":[1]}"#,
            #"{"BackendState":"Running","TailscaleIPs":["100.1.2"]}"#,
            #"{"BackendState":"Running","Self":"x"}"#, #"{"BackendState":"Running","Self":{"Online":1}}"#,
            #"{"BackendState":"Running","TUN":"no"}"#, #"{"BackendState":"Running","CurrentTailnet":[]}"#,
            #"{"BackendState":"Running","Health":"# + String(repeating: "[", count: 5000),
        ])
    func garbage(_ text: String) {
        #expect(throws: JSONError.self) { try Self.status(text) }
    }

    @Test(
        "preferences",
        arguments: [
            (#"{"ShieldsUp":true}"#, false, true, false),
            (#"{}"#, false, false, false),
            (#"{"ExitNodeID":"n5","ExitNodeAllowLANAccess":false}"#, false, false, true),
            (#"{"ExitNodeID":"n5","ExitNodeAllowLANAccess":true}"#, false, false, false),
            (#"{"ExitNodeIP":"100.1.1.1"}"#, false, false, true),
            (#"{"ExitNodeID":""}"#, true, false, true),
            (#"{"ExitNodeAllowLANAccess":true}"#, true, false, false),
        ])
    func preferences(_ text: String, uses: Bool, shields: Bool, blocks: Bool) throws {
        let status = TailscaleEvidence(backendState: "Running")
        let found = try TailscaleAnswers.preferences(Array(text.utf8), status, usesExitNode: uses)
        #expect(found.hasShieldsUp == shields)
        #expect(found.isExitNodeBlockingLAN == blocks)
        let stopped = try TailscaleAnswers.preferences(
            Array(text.utf8), TailscaleEvidence(backendState: "Stopped"), usesExitNode: uses)
        #expect(!stopped.isExitNodeBlockingLAN)
    }

    @Test(
        "the guess",
        arguments: [
            ("Lab-MacBook-Pro", ["", "tail5678.ts.net."], "lab-macbook-pro.tail5678.ts.net"),
            ("lab.example.org", ["example.org", "Tail5678.TS.net", "other.ts.net"], "lab.tail5678.ts.net"),
            ("lab", ["example.org"], nil), ("", ["a.ts.net"], nil), ("lab", [".ts.net"], nil),
            ("lab", ["evilts.net"], nil), ("la b", ["a.ts.net"], nil),
        ] as [(String, [String], String?)])
    func guess(_ host: String, _ domains: [String], _ want: String?) {
        #expect(MagicDNSGuess.name(host, domains: domains) == want)
    }

    @Test("search domains")
    func resolver() {
        let text =
            "# search a.ts.net\nnameserver 1.1.1.1\nsearch one.example\nsearch\ttwo.example  b.ts.net\noptions x\n"
        #expect(ResolverFile.searchDomains(text) == ["two.example", "b.ts.net"])
    }

    @Test(
        "a query for whois",
        arguments: [
            ("127.0.0.1:50122", "127.0.0.1%3A50122"), ("[::1]:1", "%5B%3A%3A1%5D%3A1"),
        ])
    func query(_ text: String, _ want: String) throws {
        #expect(TailscaleDaemon.query(try #require(SocketAddress(text))) == want)
    }

    @Test(
        "which events say that something changed",
        arguments: [
            (#"{"Version":"1"}"#, false), (#"{"State":6}"#, true), (#"{"Prefs":{}}"#, true),
            (#"{"NetMap":{}}"#, true),
            (#"{"State":null}"#, false), (#"{"Engine":{}}"#, false), ("garbage", false), ("", false),
            ("[1]", false),
        ])
    func events(_ line: String, _ isChange: Bool) {
        var events = TailscaleEvents()
        let atOnce = events.feed(Array((line + "\n").utf8))
        #expect(atOnce == isChange)
        // In any pieces.
        var whole = false
        for byte in (line + "\n").utf8 where events.feed([byte]) { whole = true }
        #expect(whole == isChange)
    }

    @Test("a line without an end is bounded, and counts as a change once it ends")
    func longLine() {
        var events = TailscaleEvents()
        var told = (0..<100).map { _ in events.feed([UInt8](repeating: 65, count: 64 * 1024)) }
        told.append(events.feed([10]))
        told.append(events.feed(Array("{}\n".utf8)))
        #expect(told == [Bool](repeating: false, count: 100) + [true, false])
    }
}
