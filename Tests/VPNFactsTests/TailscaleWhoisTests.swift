// SPDX-License-Identifier: Apache-2.0

import Foundation
import Sockets
import Synchronization
import Testing
import Wire

@testable import VPNFacts

@Suite("Whose loopback connection it is")
struct TailscaleWhoisTests {
    static let peer = "127.0.0.1:50001"
    static let own = "127.0.0.1:50002"

    /// Knows one peer.
    static func daemon(_ status: String, _ target: String) -> Reply {
        switch target {
        case "/localapi/v0/status?peers=false": .status(200, status)
        case "/localapi/v0/whois?addr=127.0.0.1%3A50001":
            .status(
                200,
                #"{"Node":{"Name":"phone.tail5678.ts.net."},"UserProfile":{"LoginName":"a@example.com"}}"#)
        default: .status(404, "no match for IP:port")
        }
    }

    /// A clock that a test moves.
    final class Clock: Sendable {
        private let time = Mutex(MonotonicTime(nanoseconds: 0))
        var now: MonotonicTime { time.withLock { $0 } }
        func advance(_ by: Duration) { time.withLock { $0 = $0 + by } }
    }

    static func ask(_ whois: TailscaleWhois, _ source: String) throws -> Bool {
        let answers = try Seen<Bool>()
        if let known = whois.isPeer(try #require(SocketAddress(source)), { answers.add($0) }) { return known }
        return try #require(answers.wait(for: 1).first as Bool?)
    }

    @Test("in user space, the daemon says")
    func userspace() throws {
        let scratch = try Scratch()
        let daemon = try StandIn(scratch.path + "/ts.sock") { Self.daemon(Answers.userspace, $0) }
        let whois = try TailscaleWhois(scratch.places, hasLink: { false }, limit: .seconds(30))
        #expect(try Self.ask(whois, Self.peer))
        #expect(try !Self.ask(whois, Self.own))
        #expect(daemon.requests.all.filter { $0.contains("/status") }.count == 1)
        #expect(daemon.requests.all.allSatisfy { $0.contains("\r\nHost: local-tailscaled.sock\r\n") })
        whois.stop()
    }

    @Test("with a link of its own nobody is looked up, and its mode is kept 10 s")
    func tun() throws {
        let scratch = try Scratch()
        let daemon = try StandIn(scratch.path + "/ts.sock") { Self.daemon(Answers.running, $0) }
        let clock = Clock()
        let whois = try TailscaleWhois(
            scratch.places, hasLink: { true }, limit: .seconds(30), clock: { clock.now })
        #expect(try !Self.ask(whois, Self.peer))
        let source = try #require(SocketAddress(Self.peer))
        // At once, and nothing is asked.
        for _ in 0..<50 { #expect(whois.isPeer(source) { _ in } == false) }
        #expect(daemon.requests.all.count == 1)
        clock.advance(.seconds(10))
        #expect(try !Self.ask(whois, Self.peer))
        #expect(daemon.requests.all.count == 2)
        whois.forget()
        #expect(try !Self.ask(whois, Self.peer))
        #expect(daemon.requests.all.count == 3)
    }

    @Test("without a socket it costs nothing")
    func absent() throws {
        let whois = try TailscaleWhois(try Scratch().places, hasLink: { false })
        #expect(whois.isPeer(try #require(SocketAddress(Self.peer))) { _ in } == false)
    }

    @Test("nobody listens at the socket")
    func left() throws {
        let scratch = try Scratch()
        try StandIn(scratch.path + "/ts.sock") { _ in .hang("") }.stop()
        let whois = try TailscaleWhois(scratch.places, hasLink: { false }, limit: .seconds(30))
        #expect(try !Self.ask(whois, Self.peer))
    }

    @Test(
        "no answer makes it a peer",
        arguments: [
            Reply.hang(""), .raw(""), .status(500, ""), .status(403, ""), .status(200, "[]"),
            .status(200, "{}"),
            .status(200, #"{"Node":null}"#), .endless,
        ])
    func noAnswer(_ reply: Reply) throws {
        let scratch = try Scratch()
        let daemon = try StandIn(scratch.path + "/ts.sock") {
            $0.contains("whois") ? reply : .status(200, Answers.userspace)
        }
        let whois = try TailscaleWhois(scratch.places, hasLink: { false })
        #expect(try Self.ask(whois, Self.own))
        daemon.stop()
    }

    @Test("a daemon that does not say its mode: a link of its own tells", arguments: [true, false])
    func noMode(_ hasLink: Bool) throws {
        let scratch = try Scratch()
        let daemon = try StandIn(scratch.path + "/ts.sock") { _ in .hang("") }
        let whois = try TailscaleWhois(scratch.places, hasLink: { hasLink })
        #expect(try Self.ask(whois, Self.own) != hasLink)
        daemon.stop()
    }

    @Test("a crowd is answered, each once, and a stop answers whoever waits")
    func crowd() throws {
        let scratch = try Scratch()
        let daemon = try StandIn(scratch.path + "/ts.sock") {
            $0.contains("whois") ? .hang("") : .status(200, Answers.userspace)
        }
        let whois = try TailscaleWhois(scratch.places, hasLink: { false })
        let source = try #require(SocketAddress(Self.peer))
        let answers = try Seen<Bool>()
        for _ in 0..<400 {
            if let known = whois.isPeer(source, { answers.add($0) }) { answers.add(known) }
        }
        whois.stop()
        #expect(answers.all.count == 400)
        #expect(answers.all.allSatisfy { $0 })
        #expect(whois.isPeer(source) { _ in } == true)
        daemon.stop()
    }
}
