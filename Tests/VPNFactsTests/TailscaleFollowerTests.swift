// SPDX-License-Identifier: Apache-2.0

import Foundation
import Sockets
import SystemBus
import Testing
import Wire

@testable import VPNFacts

@Suite("Following tailscaled")
struct TailscaleFollowerTests {
    static let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    static func chunk(_ text: String) -> String { String(text.utf8.count, radix: 16) + "\r\n\(text)\r\n" }

    static func follow(_ scratch: Scratch, _ changes: Seen<Int>) throws -> TailscaleFollower {
        let follower = try TailscaleFollower(scratch.places, pauses: ReconnectPauses([.milliseconds(10)])) {
            changes.add(0)
        }
        try follower.start()
        return follower
    }

    @Test("changes are told, other events are not")
    func changes() throws {
        let scratch = try Scratch()
        let daemon = try StandIn(scratch.path + "/ts.sock") { _ in .hang(Self.head) }
        let changes = try Seen<Int>()
        let follower = try Self.follow(scratch, changes)
        // It is there: whoever asked before asks again.
        #expect(changes.wait(for: 1).count == 1)
        #expect(daemon.requests.all.first?.hasPrefix("GET /localapi/v0/watch-ipn-bus?mask=16 ") == true)
        #expect(daemon.requests.all.first?.contains("\r\nHost: local-tailscaled.sock\r\n") == true)
        daemon.tell(Self.chunk("{\"Version\":\"1\"}\n") + Self.chunk("{\"Engine\":{}}\n"))
        daemon.tell(Self.chunk("{\"State\":2}") + Self.chunk("\n"))
        #expect(changes.wait(for: 2).count == 2)
        follower.stop()
        daemon.tell(Self.chunk("{\"State\":3}\n"))
        #expect(changes.all.count == 2)
        follower.stop()
    }

    @Test("a stream that ends is begun again")
    func again() throws {
        let scratch = try Scratch()
        let daemon = try StandIn(scratch.path + "/ts.sock") { _ in .raw(Self.head + "0\r\n\r\n") }
        let changes = try Seen<Int>()
        let follower = try Self.follow(scratch, changes)
        #expect(daemon.requests.wait(for: 5).count >= 5)
        // Its coming and its going.
        #expect(changes.wait(for: 8).count >= 8)
        follower.stop()
    }

    @Test(
        "one that is no stream tells nothing",
        arguments: ["", "garbage\r\n\r\n", "HTTP/1.1 403 no\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 200"])
    func bad(_ text: String) throws {
        let scratch = try Scratch()
        let daemon = try StandIn(scratch.path + "/ts.sock") { _ in .raw(text) }
        let changes = try Seen<Int>()
        let follower = try Self.follow(scratch, changes)
        #expect(daemon.requests.wait(for: 3).count >= 3)
        follower.stop()
        #expect(changes.all.isEmpty)
    }

    @Test("a daemon that comes later is found, and one that never comes is no hindrance to a stop")
    func later() throws {
        let scratch = try Scratch()
        let changes = try Seen<Int>()
        let follower = try Self.follow(scratch, changes)
        let daemon = try StandIn(scratch.path + "/ts.sock") { _ in .hang(Self.head) }
        #expect(!changes.wait(for: 1).isEmpty)
        follower.stop()
        daemon.stop()
        let other = try Self.follow(try Scratch(), changes)
        other.stop()
    }
}
