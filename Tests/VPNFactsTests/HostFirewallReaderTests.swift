// SPDX-License-Identifier: Apache-2.0

import Foundation
import Policy
import Sockets
import Synchronization
import Testing
import Wire

@testable import VPNFacts

/// With the real nft(8), in network namespaces of the test's own.
@Suite("Reading the packet rules", .serialized)
struct HostFirewallReaderTests {
    static let table = Links.table()

    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var rules: String
        var want: HostFirewall
    }

    static func input(_ rules: String, policy: String = "drop") -> String {
        "table inet f {\n chain input {\n type filter hook input priority 0; policy \(policy);\n \(rules)\n }\n}\n"
    }

    /// As people and their tools write them; protocols by number, for a machine without /etc/protocols.
    static let rows = [
        Row(testDescription: "no rules", rules: "", want: .passes),
        Row(
            testDescription: "a workstation's, the port not opened",
            rules: input(
                """
                ct state vmap { established : accept, related : accept, invalid : drop }
                iif lo accept
                meta l4proto { 1, 58 } accept
                tcp dport { 22, 80-90 } accept
                udp dport 5353 accept
                counter reject with icmpx type admin-prohibited
                """), want: .drops),
        Row(
            testDescription: "the same with it opened",
            rules: input("ct state established,related accept\niif lo accept\ntcp dport { 22, 7455 } accept"),
            want: .passes),
        Row(
            testDescription: "opened to one network",
            rules: input("iif lo accept\nip saddr 192.168.0.0/16 tcp dport 7455 accept"), want: .unclear),
        Row(
            testDescription: "opened to one interface",
            rules: input("iifname \"tailscale0\" accept"), want: .unclear),
        Row(
            testDescription: "dropped by a rule",
            rules: input("tcp dport 7455 log prefix \"x\" drop", policy: "accept"),
            want: .drops),
        Row(
            testDescription: "limited", rules: input("tcp dport 7455 limit rate 1/minute accept"),
            want: .unclear),
        Row(
            testDescription: "IPv4 alone",
            rules: "table ip f {\n chain i {\n type filter hook input priority 0; policy drop;\n }\n}",
            want: .drops),
    ]

    /// The test's host has no IPv6 address, so that IPv4 alone counts.
    @Test(.enabled(if: Namespace.isPossible), arguments: rows) func read(_ row: Row) throws {
        let scratch = try Scratch()
        try scratch.write("rules", row.rules + "\n")
        let result = Mutex<HostFirewallReading?>(nil)
        try Namespace.run {
            guard unsafe system("/usr/sbin/nft -f \(scratch.path)/rules") == 0 else {
                throw Namespace.NotAllowed()
            }
            // A busy machine may need more than the second there is.
            for _ in 0..<10 {
                let reading = HostFirewallReader(scratch.places).read(port: 7455, Self.table)
                result.withLock { $0 = reading }
                if reading.source.state != "silent" { break }
            }
        }
        let reading = try #require(result.withLock { $0 })
        #expect(reading.state == row.want)
        #expect(reading.source.state == "answered")
    }

    @Test("the kernel's older rules make it unclear")
    func older() throws {
        let scratch = try Scratch()
        try scratch.write("nft", "#!/bin/sh\necho '{\"nftables\":[]}'\n")
        scratch.setMode("nft", 0o700)
        var places = scratch.places
        places.nft = scratch.path + "/nft"
        #expect(Self.reading(places, unless: ["silent", "notAsked"]).state == .passes)
        try scratch.write("proc/net/ip_tables_names", "nat\nfilter\n")
        #expect(Self.reading(places, unless: ["silent", "notAsked"]).state == .unclear)
    }

    /// Asks the test's own program, again where that ended in one of these by the machine's doing: a busy one may need more
    /// than the second there is, and a script just written cannot be run while a child that another test is starting still
    /// holds it open.
    private static func reading(_ places: Places, unless passing: Set<String>) -> HostFirewallReading {
        let reader = HostFirewallReader(places, isAllowed: true)
        for _ in 0..<10 {
            let reading = reader.read(port: 7455, table)
            if !passing.contains(reading.source.state) { return reading }
        }
        return reader.read(port: 7455, table)
    }

    @Test(
        "a program that is not well",
        arguments: [
            ("exit 1", HostFirewall.unread, "unreadable"), ("exec sleep 60", .unread, "silent"),
            ("exec >&-; exec sleep 60", .unread, "silent"),
            (
                "while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done",
                .unclear, "answered"
            ),
            ("echo garbage", .unclear, "answered"), ("kill -9 $$", .unread, "unreadable"),
        ])
    func bad(_ script: String, _ want: HostFirewall, _ state: String) throws {
        let scratch = try Scratch()
        try scratch.write("nft", "#!/bin/sh\n\(script)\n")
        scratch.setMode("nft", 0o700)
        var places = scratch.places
        places.nft = scratch.path + "/nft"
        let reading = Self.reading(places, unless: Set(["silent", "notAsked"]).subtracting([state]))
        #expect(reading.state == want)
        #expect(reading.source.state == state)
    }

    @Test("without privilege nothing is run")
    func notAllowed() throws {
        let scratch = try Scratch()
        try scratch.write("nft", "#!/bin/sh\ntouch \(scratch.path)/ran\n")
        scratch.setMode("nft", 0o700)
        var places = scratch.places
        places.nft = scratch.path + "/nft"
        let reading = HostFirewallReader(places, isAllowed: false).read(port: 7455, Self.table)
        #expect(reading.state == .unread && reading.source.state == "unreadable")
        #expect(fileFacts(scratch.path + "/ran") == nil)
    }

    @Test("no program")
    func absent() throws {
        var places = try Scratch().places
        places.nft = "/nowhere/nft"
        let reading = HostFirewallReader(places, isAllowed: true).read(port: 7455, Self.table)
        #expect(reading.state == .unread)
        #expect(reading.source.state == "notAsked")
    }
}

/// A network namespace for one thread; it goes when the thread ends.
enum Namespace {
    static let isPossible: Bool = {
        guard geteuid() == 0, fileFacts("/usr/sbin/nft") != nil else { return false }
        return (try? run {}) != nil
    }()

    struct NotAllowed: Error {}

    static func run(_ body: @escaping @Sendable () throws -> Void) throws {
        let box = Box()
        let thread = Thread {
            do {
                guard unshareNetwork() else { throw NotAllowed() }
                try body()
            } catch {
                box.failure.withLock { $0 = error }
            }
            box.done.signal()
        }
        thread.start()
        box.done.wait()
        if let error = box.failure.withLock({ $0 }) { throw error }
    }

    private final class Box: Sendable {
        let failure = Mutex<(any Error)?>(nil)
        let done = DispatchSemaphore(value: 0)
    }

    /// unshare(CLONE_NEWNET), which Glibc's module does not declare.
    private static func unshareNetwork() -> Bool {
        guard let symbol = unsafe dlsym(nil, "unshare") else { return false }
        typealias Unshare = @convention(c) (Int32) -> Int32
        let unshare = unsafe unsafeBitCast(symbol, to: Unshare.self)
        return unshare(0x4000_0000) == 0
    }
}
