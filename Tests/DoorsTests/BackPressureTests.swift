// SPDX-License-Identifier: Apache-2.0

import Bytes
import Core
import CryptoEngine
import EventLoop
import Sockets
import Testing
import Wire

@testable import Doors

/// What waits inside the relay moves as soon as there is room, without another event to remind of it.
@Suite("Back-pressure")
struct BackPressureTests {
    @Test("what the device said last does not stay inside TLS when a flush makes room for it")
    func nothingStaysInTLS() throws {
        let stage = try SteppedStage()
        let tls = try #require(stage.connection.tls)
        // More than is held for a backend, and less than its socket takes: the hold is full until the flush empties it.
        let sent = message(8, 80_000)
        try stage.say(sent)
        #expect(tls.inbound.isEmpty)
        #expect(try stage.session.read(sent.count) == sent)
    }

    @Test("what the device said before it vanished goes on too, however much that is")
    func nothingStaysBehindTheEnd() throws {
        let stage = try SteppedStage()
        let sent = message(8, 80_000)
        try stage.arrive(sent)
        stage.relay.deviceEnded(wasReset: false)
        #expect(stage.door.ended == [.peerClosed])
        #expect(try stage.session.read(sent.count) == sent)
        #expect(try stage.session.waitForEnd())
    }

    @Test("a device that reads nothing is still heard")
    func upstreamAlone() throws {
        let stage = try SteppedStage()
        try stage.beginFrame()
        try stage.fillDevice()
        #expect(stage.relay.isHolding)
        let sent = message(8, 60_000)
        try stage.say(sent)
        #expect(try stage.session.read(sent.count) == sent)
    }

    @Test("a backend that reads nothing still reaches the device")
    func downstreamAlone() throws {
        let stage = try SteppedStage()
        // Until the door decrypts no more: the backend's socket and the hold for it are full.
        let tls = try #require(stage.connection.tls)
        while tls.inbound.isEmpty { try stage.say(message(8, 16_000)) }
        let frame = message(1, 300_000)
        let (device, session) = (UncheckedDevice(stage.device), UncheckedSession(stage.session))
        let sender = try runInBackground { try? session.value.send(frame) }
        let got = try stage.door.serving { try device.value.raw(frame.count) }
        sender.join()
        #expect(got == frame && !tls.inbound.isEmpty)
    }
}
