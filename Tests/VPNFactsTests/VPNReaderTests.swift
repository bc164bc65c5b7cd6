// SPDX-License-Identifier: Apache-2.0

import Foundation
import Policy
import Sockets
import Testing
import Wire

@testable import VPNFacts

@Suite("Asking the daemons")
struct VPNReaderTests {
    static func resolver(_ found: [String: [IPAddress]]) -> NameResolver { NameResolver { found[$0] } }
    /// For what answers, on a machine that may be busy.
    static let patient = Duration.seconds(30)
    static let name = "lab-host.tail5678.ts.net."

    /// What a reader says of Tailscale.
    static func read(
        _ scratch: Scratch, _ table: InterfaceTable = Links.table(Links.tailscale),
        resolver: NameResolver = resolver([name: [ip("100.88.123.45")]]), limit: Duration = patient
    ) -> VPNReading {
        VPNReader(scratch.places, resolver: resolver, limit: limit).read(table, hostName: "Lab-Host")
    }

    @Test("a daemon that is well")
    func well() throws {
        let scratch = try Scratch()
        let daemon = try StandIn(scratch.path + "/ts.sock", Answers.well)
        let reading = Self.read(scratch)
        let vpn = try #require(reading.vpns.first)
        #expect(VPNComposerTests.short(vpn) == "Tailscale @tailscale0 =Running socket")
        #expect(vpn.tailscale?.resolved == [ip("100.88.123.45")])
        #expect(vpn.tailscale?.hasShieldsUp == false)
        #expect(
            reading.sources.map { "\($0.fact) \($0.state)" } == [
                "vpn.tailscale answered", "vpn.magicDNS answered",
            ])
        // What is documented, and nothing else: the daemon refuses callers that do not name it so.
        let requests = daemon.requests.all
        #expect(requests.count == 2)
        for request in requests { #expect(request.contains("\r\nHost: local-tailscaled.sock\r\n")) }
    }

    struct Bad: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var reply: @Sendable (String) -> Reply
        var want: String
    }

    static let bad: [Bad] = [
        Bad(testDescription: "hangs", reply: { _ in .hang("") }, want: "silent socket"),
        Bad(
            testDescription: "hangs in the middle",
            reply: { _ in .hang("HTTP/1.1 200 OK\r\n\r\n{\"Backend") }, want: "silent socket"),
        Bad(testDescription: "says nothing and ends", reply: { _ in .raw("") }, want: "silent socket"),
        Bad(
            testDescription: "speaks something else", reply: { _ in .raw("SSH-2.0-OpenSSH_9\r\n") },
            want: "silent socket"),
        Bad(testDescription: "says garbage", reply: { _ in .status(200, "<html>") }, want: "silent socket"),
        Bad(
            testDescription: "says other types", reply: { _ in .status(200, #"{"BackendState":{}}"#) },
            want: "silent socket"),
        Bad(testDescription: "does not end", reply: { _ in .endless }, want: "silent socket"),
        Bad(
            testDescription: "says more than it may",
            reply: { _ in .status(200, Answers.running + String(repeating: " ", count: 70_000)) },
            want: "silent socket"),
        Bad(testDescription: "fails", reply: { _ in .status(500, "no") }, want: "silent socket"),
        Bad(
            testDescription: "refuses", reply: { _ in .status(403, "access denied") },
            want: "unreadable socket"),
        Bad(
            testDescription: "answers one question only",
            reply: { $0.contains("status") ? .status(200, Answers.running) : .status(200, "[") },
            want: "=Running silent socket"),
        Bad(
            testDescription: "keeps its preferences to itself",
            reply: { $0.contains("status") ? .status(200, Answers.running) : .status(403, "") },
            want: "=Running unreadable socket"),
    ]

    @Test("a daemon that", arguments: bad)
    func badDaemon(_ row: Bad) throws {
        let scratch = try Scratch()
        let daemon = try StandIn(scratch.path + "/ts.sock", row.reply)
        let limit = row.testDescription.hasPrefix("hangs") ? VPNReader.limit : Self.patient
        let vpn = try #require(Self.read(scratch, limit: limit).vpns.first)
        #expect(VPNComposerTests.short(vpn) == "Tailscale @tailscale0 \(row.want)")
        #expect(vpn.tailscale?.hasShieldsUp == nil)
        daemon.stop()
    }

    @Test("a socket that a crash left")
    func left() throws {
        let scratch = try Scratch()
        try StandIn(scratch.path + "/ts.sock") { _ in .hang("") }.stop()
        let reading = Self.read(scratch, Links.table())
        #expect(reading.vpns.map(VPNComposerTests.short) == ["Tailscale"])
        #expect(reading.sources.map(\.state) == ["refused"])
    }

    @Test("no Tailscale at all")
    func absent() throws {
        let reading = Self.read(try Scratch(), Links.table())
        #expect(reading == VPNReading())
    }

    @Test("a socket this user may not open", .enabled(if: geteuid() != 0))
    func notAllowed() throws {
        let scratch = try Scratch()
        let daemon = try StandIn(scratch.path + "/ts.sock", Answers.well)
        scratch.setMode("ts.sock", 0)
        #expect(Self.read(scratch).vpns.first?.isUnreadable == true)
        daemon.stop()
    }

    @Test("the name: no answer, none of it, and another machine's")
    func names() throws {
        let scratch = try Scratch()
        let daemon = try StandIn(scratch.path + "/ts.sock", Answers.well)
        let noAnswer = Self.read(scratch, resolver: Self.resolver([:]))
        #expect(noAnswer.vpns.first?.tailscale?.resolved == nil)
        let none = Self.read(scratch, resolver: Self.resolver([Self.name: []]))
        #expect(none.vpns.first?.tailscale?.resolved == [])
        #expect(none.sources.last.map { "\($0.fact) \($0.state)" } == "vpn.magicDNS silent")
        let other = Self.read(scratch, resolver: Self.resolver([Self.name: [ip("100.9.9.9")]]))
        #expect(other.vpns.first?.tailscale?.resolved == [ip("100.9.9.9")])
        daemon.stop()
    }

    @Test("the guess needs proof")
    func guess() throws {
        let scratch = try Scratch()
        try scratch.write("resolv.conf", "search example.org tail5678.ts.net\n")
        let proven = Self.read(scratch)
        #expect(proven.vpns.map(VPNComposerTests.short) == ["Tailscale @tailscale0 unreadable"])
        #expect(proven.vpns.first?.guessedName == "lab-host.tail5678.ts.net")
        let foreign = Self.read(scratch, resolver: Self.resolver([Self.name: [ip("100.9.9.9")]]))
        #expect(foreign.vpns.first?.guessedName == nil)
        let silent = Self.read(scratch, resolver: Self.resolver([:]))
        #expect(silent.vpns.first?.guessedName == nil)
    }

    @Test("a resolver that hangs holds two threads and no more, and is not waited for")
    func hangingResolver() throws {
        let asked = try Seen<String>()
        let gate = try WakeUp()
        let resolver = NameResolver { name in
            asked.add(name)
            _ = gate.wait(until: nil)
            return [ip("192.0.2.1")]
        }
        let now = monotonicNow()
        for _ in 0..<5 { #expect(resolver.addresses(of: "a", by: now) == nil) }
        #expect(asked.wait(for: 2).count == 2)
        #expect(resolver.addresses(of: "b", by: now) == nil)
        #expect(asked.all.count == 2)
        gate.signal()
        // They end, and there is room again.
        let deadline = monotonicNow() + .seconds(30)
        while resolver.addresses(of: "c", by: deadline) == nil, monotonicNow() < deadline {}
        #expect(asked.all.contains("c"))
    }

    @Test(
        "a name",
        arguments: [
            ("home.example.net", ["203.0.113.9"]), ("gone.example.net", []), ("silent.example.net", nil),
        ] as [(String, [String]?)])
    func name(_ text: String, _ want: [String]?) {
        let resolver = Self.resolver(["home.example.net": [ip("203.0.113.9")], "gone.example.net": []])
        #expect(resolver.addresses(of: text) == want?.map(ip))
    }

    // MARK: ZeroTier

    /// A stand-in's port, in a process table that says who listens there.
    static func zeroTier(
        _ scratch: Scratch, user: uid_t = geteuid(), _ reply: @escaping @Sendable (String) -> Reply
    ) throws -> (StandIn, Places) {
        let daemon = try StandIn(tcp: reply)
        var places = scratch.places
        places.zeroTier = SocketAddress(ip: ip("127.0.0.1"), port: daemon.port)
        try scratch.write("zerotier/token", "s3cretTOKEN\n")
        let port = String(daemon.port, radix: 16, uppercase: true)
        let hex = String(repeating: "0", count: 4 - port.count) + port
        try scratch.write(
            "proc/net/tcp", "sl\n 0: 0100007F:\(hex) 00000000:0000 0A 0:0 0:0 0 \(user) 0 1 1 x\n")
        return (daemon, places)
    }

    static let zt = Links.link("zt1", 5, kind: "tun", ["10.147.17.2"])

    @Test("ZeroTier is asked with its token")
    func zeroTierAnswers() throws {
        let scratch = try Scratch()
        let (daemon, places) = try Self.zeroTier(scratch) { _ in
            .status(200, #"[{"name":"home","status":"OK","portDeviceName":"zt1"}]"#)
        }
        let reading = VPNReader(places, limit: Self.patient).read(Links.table(Self.zt), hostName: "h")
        #expect(reading.vpns.map(VPNComposerTests.short) == ["ZeroTier @zt1 =OK socket"])
        #expect(daemon.requests.all.first?.contains("\r\nX-ZT1-Auth: s3cretTOKEN\r\n") == true)
        #expect(daemon.requests.all.first?.hasPrefix("GET /network HTTP/1.1\r\n") == true)
        #expect(!"\(reading)".contains("s3cretTOKEN"))
    }

    @Test("another user's listener never sees the token")
    func foreignListener() throws {
        let scratch = try Scratch()
        let (daemon, places) = try Self.zeroTier(scratch, user: 4_000_000) { _ in .status(200, "[]") }
        let reading = VPNReader(places, limit: Self.patient).read(Links.table(Self.zt), hostName: "h")
        #expect(reading.vpns.map(VPNComposerTests.short) == ["ZeroTier @zt1 unreadable"])
        #expect(daemon.requests.all.isEmpty)
    }

    @Test("a ZeroTier that is not well", arguments: [(401, "unreadable"), (500, "silent"), (200, "silent")])
    func badZeroTier(_ status: Int, _ want: String) throws {
        let scratch = try Scratch()
        let (_, places) = try Self.zeroTier(scratch) { _ in .status(status, "{}") }
        let reading = VPNReader(places, limit: Self.patient).read(Links.table(Self.zt), hostName: "h")
        #expect(reading.vpns.map(VPNComposerTests.short) == ["ZeroTier @zt1 \(want)"])
    }

    @Test("a token that is a pipe holds nobody")
    func pipe() throws {
        let scratch = try Scratch()
        try makeDirectory(scratch.path + "/zerotier", mode: 0o700)
        scratch.makePipe("zerotier/token")
        scratch.makePipe("resolv.conf")
        let reading = VPNReader(scratch.places, limit: Self.patient).read(
            Links.table(Self.zt, Links.tailscale), hostName: "h")
        #expect(
            reading.vpns.map(VPNComposerTests.short) == [
                "Tailscale @tailscale0 unreadable", "ZeroTier @zt1 unreadable",
            ])
    }
}
