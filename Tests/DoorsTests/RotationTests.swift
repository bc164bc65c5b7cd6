// SPDX-License-Identifier: Apache-2.0

import Bytes
import Core
import CryptoEngine
import Policy
import Sockets
import Testing
import Wire

@testable import Doors

@Suite("Another host key at a real door")
struct RotationTests {
    static let next = Result { try Identity() }

    @Test("what began with the old key ends without an answer; what comes then meets the new one")
    func swap() throws {
        let device = try Identity.device.get()
        var settings = Settings()
        settings.requirePairing = false
        let host = try TestHost(settings: settings, devices: [device])
        let old = try Identity.host.get().key.fingerprint
        let silent = try Socket.tcpConnect(host.address(), timeout: .seconds(10))
        let pairing = try host.dial(device, .pairing)
        #expect(pairing.tls.peerFingerprint == old)
        try host.until("both are held") { host.doors.connectionCount == 2 }

        let next = try Self.next.get()
        try host.rotate(to: next)
        // It may have sent its proof before it hears that it is closed.
        try? pairing.send(.pairRequest, PairRequest(method: "ask", name: "iPad").encode())
        #expect(try pairing.next() == nil)
        try host.until("both are gone") { host.doors.connectionCount == 0 }
        let buffer = ByteBuffer()
        #expect(try silent.wait(for: .readable, until: monotonicNow() + .seconds(10)))
        #expect((try? silent.read(into: buffer, max: 16)) ?? 0 == 0)

        // The same key, not paired any more; pairing is not required here, so it is served.
        let again = try host.dial(device)
        #expect(try again.next()?.header.kind == .goodbye)
        #expect(again.tls.peerFingerprint == next.key.fingerprint)
    }

    @Test("a connection that the gate held hears removed, on the old key, and is no session")
    func gate() throws {
        let device = try Identity.device.get()
        var settings = Settings()
        settings.minimumDeviceVersion = "1"
        let host = try TestHost(settings: settings, devices: [device])
        let held = try host.dial(device)
        // Its handshake is over here before the host has judged it.
        try host.until("it waits in the gate") {
            host.core.enter { core, _ in core.counters.admissions(.home, .session) } == 1
        }
        try host.rotate(to: Self.next.get())
        try held.send(.hello, Hello(appVersion: "2").encode())
        let message = try #require(try held.next())
        #expect(message.header.kind == .goodbye)
        #expect(try Goodbye(payload: message.payload).reason == "removed")
        #expect(try held.next() == nil && host.ended == [])
    }
}
