// SPDX-License-Identifier: Apache-2.0

import Bytes
import CryptoEngine
import Testing
import Wire

@testable import Doors

@Suite("Taken plaintext")
struct TakenPlaintextTests {
    /// Writes of plaintext with what TLS adds, then how much ciphertext was taken in all and what plaintext that is.
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var before: UInt64 = 0
        let writes: [(plain: Int, added: UInt64)]
        let steps: [(cipher: UInt64, taken: UInt64)]
    }

    static let rows: [Row] = [
        Row(
            testDescription: "one record: its overhead first, its last byte with the last of all",
            writes: [(100, 22)], steps: [(0, 0), (22, 0), (23, 1), (121, 99), (122, 100), (122, 100)]),
        Row(
            testDescription: "behind a handshake", before: 500, writes: [(100, 22)],
            steps: [(400, 0), (500, 0), (522, 0), (523, 1), (622, 100)]),
        Row(
            testDescription: "two chunks of four records: at most a chunk's overhead too late",
            writes: [(65_536, 88), (65_536, 88)],
            steps: [
                (88, 0), (16_406, 16_318), (65_623, 65_535), (65_624, 65_536), (65_712, 65_536),
                (65_713, 65_537), (131_248, 131_072),
            ]),
        Row(
            testDescription: "tiny messages are one stretch", writes: [(10, 22), (10, 22), (10, 22)],
            steps: [(32, 0), (66, 0), (67, 1), (95, 29), (96, 30)]),
        Row(
            testDescription: "4,096 bytes together are one stretch", writes: [(4_000, 22), (96, 22)],
            steps: [(4_022, 3_978), (4_140, 4_096)]),
        Row(
            testDescription: "one byte more makes two", writes: [(4_000, 22), (97, 22)],
            steps: [(4_022, 4_000), (4_044, 4_000), (4_045, 4_001), (4_141, 4_097)]),
        Row(
            testDescription: "a large stretch does not take a small one in", writes: [(9_000, 22), (10, 22)],
            steps: [(9_022, 9_000), (9_054, 9_010)]),
        Row(
            testDescription: "everything at once", writes: [(5_000, 22), (5_000, 22), (5_000, 22)],
            steps: [(15_066, 15_000)]),
        Row(
            testDescription: "nothing written is no stretch", writes: [(0, 40), (10, 22)],
            steps: [(62, 0), (63, 1), (72, 10)]),
    ]

    @Test("ciphertext taken is so much plaintext taken", arguments: rows)
    func mapping(_ row: Row) {
        var plain = TakenPlaintext()
        var end = row.before
        for write in row.writes {
            end += UInt64(write.plain) + write.added
            plain.wrote(write.plain, cipherEnd: end)
        }
        let total = row.writes.reduce(0) { $0 + $1.plain }
        #expect(plain.waiting == total)
        var before: UInt64 = 0
        for step in row.steps {
            #expect(plain.took(cipher: step.cipher) == Int(step.taken - before), "\(step.cipher)")
            #expect(plain.taken == step.taken && plain.waiting == total - Int(step.taken))
            before = step.taken
        }
        #expect(plain.waiting == 0 && plain.markCount == 0)
    }

    @Test("a stretch that grows while it is being taken does not give bytes back")
    func growing() {
        var plain = TakenPlaintext()
        plain.wrote(100, cipherEnd: 122)
        #expect(plain.took(cipher: 110) == 88)
        plain.wrote(1_000, cipherEnd: 1_144)
        #expect(plain.took(cipher: 110) == 0 && plain.taken == 88)
        #expect(plain.took(cipher: 144) == 12)
        #expect(plain.took(cipher: 1_144) == 1_000 && plain.waiting == 0)
    }

    @Test(
        "taken never runs ahead of the ciphertext, grows only, and has few marks",
        arguments: [1, 7, 900, 5_000])
    func bounds(size: Int) {
        var plain = TakenPlaintext()
        var end: UInt64 = 0
        var flushed: UInt64 = 0
        // What is held grows to 256 KiB and stays there, as a hold full of such messages would.
        for _ in 0..<20_000 {
            end += UInt64(size) + 22
            plain.wrote(size, cipherEnd: end)
            if end - flushed > 262_144 { flushed = end - 262_144 + UInt64(size) / 3 }
            let before = plain.taken
            let count = plain.took(cipher: flushed)
            #expect(count >= 0 && plain.taken == before + UInt64(count))
            #expect(
                plain.taken <= flushed
                    && UInt64(plain.waiting) >= (end - flushed) * UInt64(size) / UInt64(size + 22))
            #expect(plain.markCount <= 130 + 64)
        }
        _ = plain.took(cipher: end)
        #expect(plain.waiting == 0)
    }

    @Test(
        "over real TLS: what a device can decrypt was taken, but for what TLS adds, and no record early",
        arguments: 1...8)
    func realTLS(seed: Int) throws {
        var random = StreamOracleTests.Random(state: UInt64(seed) &* 7_919)
        let identity = try Identity.device.get()
        let host = try TLSConnection(server: try TestHost.makeTLS()) { _ in true }
        let device = try TLSConnection(
            client: TLSClientContext(key: identity.key, certificateDER: identity.certificate),
            alpn: ALPN.session.rawValue
        ) { _ in true }
        for _ in 0..<4 {
            device.outbound.moveAll(to: host.inbound)
            host.advance()
            host.outbound.moveAll(to: device.inbound)
            device.advance()
        }
        #expect(host.state == .ready && device.state == .ready)
        var plain = TakenPlaintext()
        var (sent, decrypted) = (UInt64(1_000), UInt64(0))
        let (out, into) = (ByteBuffer(), ByteBuffer())
        func deliver(_ count: Int) {
            host.outbound.move(count, to: device.inbound)
            sent += UInt64(count)
            _ = plain.took(cipher: sent)
            while true {
                let count = device.read(into: into, limit: 65_536)
                into.removeAll()
                if count == 0 { break }
                decrypted += UInt64(count)
            }
            // A chunk has five records at most, and a stretch of small messages 14.
            #expect(plain.taken + 14 * 22 >= decrypted && plain.taken < decrypted + 16_384)
        }
        for _ in 0..<200 {
            let isLarge = Bool.random(using: &random)
            let size = Int.random(in: isLarge ? 1_000...65_536 : 300...400, using: &random)
            out.append([UInt8](repeating: 7, count: size))
            #expect(host.write(out, limit: size) == size)
            plain.wrote(size, cipherEnd: sent + UInt64(host.outbound.count))
            deliver(Int.random(in: 0...min(host.outbound.count, 70_000), using: &random))
        }
        deliver(host.outbound.count)
        #expect(plain.waiting == 0 && plain.taken == decrypted)
    }
}
