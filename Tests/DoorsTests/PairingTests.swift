// SPDX-License-Identifier: Apache-2.0

import Core
import CryptoEngine
import Policy
import Testing
import Wire

@testable import Doors

@Suite("Pairing at a real door")
struct PairingTests {
    static let secret = [UInt8](repeating: 9, count: 16)

    func open(_ host: TestHost) {
        let entropy = WindowEntropy(id: "w", secret: Self.secret, code: "000000000000")
        _ = host.core.enter {
            $0.openWindow(OpenWindow(actor: .service, entropy: entropy), $1)
        }
    }

    func request(_ device: Identity, secret: [UInt8]) throws -> [UInt8] {
        let host = try Identity.host.get().key.fingerprint
        let text = ProofText.device(fpDevice: device.key.fingerprint, fpMac: host)
        let proof = Digest.hmacSHA256(key: secret, message: text)
        return PairRequest(version: 1, method: "qr", proof: Base64URL.encode(proof), name: "iPad").encode()
    }

    @Test("the right proof pairs, is answered once and closed; then the key has a session")
    func pairs() throws {
        let device = try Identity.stranger.get()
        let host = try TestHost()
        open(host)
        let client = try host.dial(device, .pairing)
        try client.send(.pairRequest, try request(device, secret: Self.secret))
        let answer = try #require(try client.next())
        #expect(answer.header.kind == .pairResult)
        #expect(try PairResult(payload: answer.payload).ok)
        #expect(try client.next() == nil && client.end == .closed)
        let session = try host.dial(device)
        #expect(try session.next()?.header.kind == .goodbye)
    }

    @Test("a wrong proof hears so, also from a device that has ended its half")
    func wrong() throws {
        let device = try Identity.stranger.get()
        let host = try TestHost()
        open(host)
        let client = try host.dial(device, .pairing)
        try client.send(.pairRequest, try request(device, secret: [1]))
        try client.finish()
        let answer = try PairResult(payload: try #require(try client.next()).payload)
        #expect(!answer.ok && answer.reason == "code")
        #expect(try client.next() == nil)
        try host.until("the connection is gone") { host.doors.connectionCount == 0 }
    }

    @Test(
        "anything but one kind 19 is closed without an answer",
        arguments: [message(23), message(19), message(19, 4097), message(19, 5)])
    func bad(_ bytes: [UInt8]) throws {
        let host = try TestHost()
        let client = try host.dial(try Identity.stranger.get(), .pairing)
        try client.send(bytes)
        #expect(try client.next() == nil)
        #expect(client.end == .closed || client.end == .broken)
    }
}
