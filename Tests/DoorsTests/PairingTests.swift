// SPDX-License-Identifier: Apache-2.0

import Bytes
import Core
import CryptoEngine
import Policy
import Sockets
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

    @Test(
        "a wrong proof hears so, also from a device that has ended its half, with TLS's own word for it or without",
        arguments: [true, false])
    func wrong(endsTLS: Bool) throws {
        let device = try Identity.stranger.get()
        let host = try TestHost()
        open(host)
        let client = try host.dial(device, .pairing)
        try client.send(.pairRequest, try request(device, secret: [1]))
        if endsTLS { try client.finish() } else { client.socket.shutdownWrite() }
        let answer = try PairResult(payload: try #require(try client.next()).payload)
        #expect(!answer.ok && answer.reason == "code")
        #expect(try client.next() == nil && client.end == .closed)
        try host.until("the connection is gone") { host.doors.connectionCount == 0 }
    }

    @Test(
        "an answer reaches a device whose handshake, kind 19 and FIN come together, however long the kind 19 is",
        arguments: [0, 3_000])
    func allAtOnce(padding: Int) throws {
        let device = try Identity.stranger.get()
        let door = try SteppedDoor(backend: nil, devices: [])
        let name = String(repeating: "x", count: padding)
        let payload = PairRequest(version: 1, method: "qr", proof: "AAAA", name: "iPad", model: name).encode()
        let message = encodeMessage(kind: .pairRequest, timestamp: 1, payload: payload)

        let client = try TestDevice(device, .pairing, at: door.address, handshake: false)
        while client.tls.state == .handshaking {
            try client.flush()
            try door.serve("the door's part of the handshake") {
                (try? client.socket.wait(for: .readable, until: monotonicNow())) == true
            }
            try client.step()
        }
        // Its last part of the handshake waits still.
        let plain = ByteBuffer()
        plain.append(message)
        #expect(client.tls.write(plain, limit: plain.count) == message.count)
        try client.flush()
        client.socket.shutdownWrite()
        try door.serve("it is answered and closed") { door.worker.connections.isEmpty }
        let answer = try PairResult(payload: try #require(try client.next()).payload)
        #expect(!answer.ok && answer.reason == "closed")
        #expect(try client.next() == nil && client.end == .closed)
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
