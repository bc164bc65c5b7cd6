// SPDX-License-Identifier: Apache-2.0

import Bytes
import CryptoEngine
import Testing
import Wire

/// Whatever a peer sends, a connection ends or waits; it never traps and never opens.
@Suite struct TLSHostileTests {
    /// A generator with a fixed seed, so that a failure comes back (xorshift64*).
    struct Noise: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state ^= state >> 12
            state ^= state << 25
            state ^= state >> 27
            return state &* 2_685_821_657_736_338_717
        }
    }

    @Test(arguments: 1...200)
    func noise(seed: UInt64) throws {
        var noise = Noise(state: seed)
        let server = try Self.host.server { _ in true }
        for _ in 0..<20 {
            server.feed(
                (0..<Int.random(in: 1...200, using: &noise)).map { _ in .random(in: 0...255, using: &noise) })
        }
        #expect(server.state != .ready)
        _ = server.takeOutgoing()
    }

    /// A real handshake with one byte changed somewhere in what the client sends.
    @Test(arguments: 1...300)
    func oneByteChanged(seed: UInt64) throws {
        var noise = Noise(state: seed)
        let server = try Self.host.server { _ in true }
        let client = try Self.device.client()
        var hello = client.takeOutgoing()
        let inHello = Bool.random(using: &noise)
        if inHello { Self.spoil(&hello, &noise) }
        server.feed(hello)
        client.feed(server.takeOutgoing())
        var finish = client.takeOutgoing()
        if !inHello, !finish.isEmpty { Self.spoil(&finish, &noise) }
        server.feed(finish)
        // A changed hello breaks the transcript or is refused; a changed second flight breaks a record's tag, or is the
        // one message that means nothing (change_cipher_spec has no content that counts for the transcript).
        if inHello { #expect(server.state != .ready) }
        if server.state == .ready { #expect(server.peerFingerprint == Self.device.key.fingerprint) }
    }

    private static func spoil(_ bytes: inout [UInt8], _ noise: inout Noise) {
        // Not the first record's header: its version is for show (RFC 8446 section 5.1), and nothing covers it.
        let index = Int.random(in: 5..<bytes.count, using: &noise)
        bytes[index] ^= UInt8.random(in: 1...255, using: &noise)
    }

    /// Connections that die in every state give back what they took; the address sanitizer sees the rest.
    @Test func connectionsThatAreDropped() throws {
        for bytes in stride(from: 0, to: 400, by: 13) {
            let server = try Self.host.server { _ in true }
            server.feed(Array(try Self.device.client().takeOutgoing().prefix(bytes)))
        }
    }

    private static let host = Identities.host
    private static let device = Identities.device
}

/// Made once: 500 connections share them.
private enum Identities {
    static let host = make()
    static let device = make()

    private static func make() -> Identity {
        do { return try Identity() } catch { preconditionFailure("no identity: \(error)") }
    }
}
