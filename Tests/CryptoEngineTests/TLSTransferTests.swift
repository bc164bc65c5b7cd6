// SPDX-License-Identifier: Apache-2.0

import Bytes
import CryptoEngine
import Testing
import Wire

@Suite struct TLSTransferTests {
    private static func pair() throws -> (client: TLSConnection, server: TLSConnection) {
        let server = try Identity().server()
        let client = try Identity().client()
        pump(client, server)
        return (client, server)
    }

    /// Bytes that show when they are swapped, lost or doubled.
    private static func pattern(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
    }

    @Test(arguments: [1, 16_383, 16_384, 16_385, 1_000_000], [1000, 16_389, Int.max])
    func bothDirections(size: Int, split: Int) throws {
        let (client, server) = try Self.pair()
        let bytes = Self.pattern(size)
        for (from, to) in [(client, server), (server, client)] {
            #expect(from.writeAll(bytes) == size)
            var rest = from.takeOutgoing()[...]
            // Full records: 22 bytes of overhead each.
            #expect(rest.count == size + (size + 16_383) / 16_384 * 22)
            let received = ByteBuffer()
            while !rest.isEmpty {
                to.feed(Array(rest.prefix(split)))
                rest = rest.dropFirst(split)
                while to.read(into: received, limit: 5000) > 0 {}
            }
            #expect(received.bytes == bytes)
            #expect(to.state == .ready)
        }
    }

    @Test func oneByteAtATime() throws {
        let (client, server) = try Self.pair()
        let bytes = Self.pattern(300)
        #expect(server.writeAll(bytes) == 300)
        var received: [UInt8] = []
        for byte in server.takeOutgoing() {
            client.feed([byte])
            received += client.readAll()
        }
        #expect(received == bytes)
    }

    @Test func limitsHold() throws {
        let (client, server) = try Self.pair()
        let plaintext = ByteBuffer()
        plaintext.append(Self.pattern(50_000))
        #expect(client.write(plaintext, limit: 20_000) == 20_000)
        #expect(plaintext.count == 30_000)
        server.feed(client.takeOutgoing())
        let received = ByteBuffer()
        #expect(server.read(into: received, limit: 7) == 7)
        #expect(server.read(into: received, limit: 16_378) == 16_378)
        #expect(server.hasSomethingToRead)
        #expect(server.read(into: received, limit: 100_000) == 20_000 - 16_385)
        #expect(!server.hasSomethingToRead)
        #expect(received.bytes == Array(Self.pattern(50_000).prefix(20_000)))
    }

    @Test func halfCloseLeavesTheOtherDirectionOpen() throws {
        let (client, server) = try Self.pair()
        #expect(client.writeAll([1, 2, 3]) == 3)
        client.shutdown()
        client.shutdown()
        #expect(client.writeAll([4]) == 0)
        pump(client, server)
        #expect(server.readAll() == [1, 2, 3])
        #expect(server.state == .closedByPeer)

        #expect(server.writeAll([5, 6]) == 2)
        server.shutdown()
        pump(client, server)
        #expect(client.state == .ready)
        #expect(client.readAll() == [5, 6])
        #expect(client.state == .closedByPeer)
    }

    @Test func transportThatEndsWithoutGoodbye() throws {
        let (client, server) = try Self.pair()
        #expect(client.writeAll([9]) == 1)
        pump(client, server)
        server.receiveEnd()
        #expect(server.readAll() == [9])
        #expect(server.state == .failed(.peerLeft, detail: "unexpected eof while reading"))
    }

    @Test func tamperedRecordEndsTheConnection() throws {
        let (client, server) = try Self.pair()
        #expect(client.writeAll([1, 2, 3]) == 3)
        var bytes = client.takeOutgoing()
        bytes[bytes.count - 1] ^= 1
        server.feed(bytes)
        #expect(server.readAll() == [])
        guard case .failed(.peerLeft, _) = server.state else {
            Issue.record("a record that was changed got through: \(server.state)")
            return
        }
        // bad_record_mac goes out.
        #expect(server.pendingCiphertext > 0)
    }

    @Test func quietConnectionHoldsNoBuffers() throws {
        let (client, server) = try Self.pair()
        #expect(client.writeAll(Self.pattern(100_000)) == 100_000)
        pump(client, server)
        #expect(server.readAll().count == 100_000)
        server.releaseIdleMemory()
        #expect(server.inbound.capacity == 0)
        #expect(server.outbound.capacity == 0)
        #expect(client.writeAll([7]) == 1)
        pump(client, server)
        #expect(server.readAll() == [7])
    }
}
