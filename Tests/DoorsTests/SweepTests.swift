// SPDX-License-Identifier: Apache-2.0

import Bytes
import Core
import CryptoEngine
import Policy
import Sockets
import Testing
import Wire

@testable import Doors

/// The rules of 03 §14 on a session of a real relay, whose time only the test moves.
@Suite("Sweep")
struct SweepTests {
    /// The look at this session that is due every second.
    func sweep(_ stage: SteppedStage, after step: Duration) {
        stage.door.clock.move(step)
        stage.connection.sweep(at: stage.door.clock.now)
    }

    @Test(
        "a remote device is cut when nothing was heard for more than 8 s; any byte counts, silence at home never"
    )
    func silent() throws {
        let stage = try SteppedStage(door: .remote)
        sweep(stage, after: .seconds(7))
        try stage.device.send(.ping, [UInt8](repeating: 1, count: 8))
        try stage.door.serve("it is heard") { stage.connection.lastHeard == stage.door.clock.now }
        sweep(stage, after: .seconds(8))
        #expect(stage.door.ended == [])
        sweep(stage, after: .milliseconds(1))
        #expect(stage.door.ended == [.silent])
        #expect(stage.door.worker.connections.isEmpty)

        let home = try SteppedStage()
        sweep(home, after: .seconds(3_600))
        #expect(home.door.ended == [])
    }

    @Test("the look comes by itself, and is for every session of the worker")
    func comesByItself() throws {
        var times = DoorTimes()
        times.sweep = .milliseconds(1)
        let stage = try SteppedStage(door: .remote, times: times)
        let other = try stage.door.dial(try Identity.device.get())
        stage.door.clock.move(.seconds(5))
        try other.device.send(.ping)
        try stage.door.serve("it is heard") { other.connection.lastHeard == stage.door.clock.now }
        stage.door.clock.move(.seconds(3.1))
        try stage.door.serve("one is cut") { stage.door.ended == [.silent] }
        stage.door.clock.move(.seconds(5))
        try stage.door.serve("the other is cut at a later look") { stage.door.ended == [.silent, .silent] }
        // None is left to look at; the next one is looked at again.
        let later = try stage.door.dial(try Identity.device.get())
        stage.door.clock.move(.seconds(8.1))
        try stage.door.serve("it is cut") { stage.door.ended.count == 3 }
        #expect(later.device.end == nil && stage.door.worker.connections.isEmpty)
    }

    @Test(
        "a home device whose oldest byte waits more than 4 s is cut, not in its first 8 s",
        arguments: [false, true])
    func homeUnsent(isNew: Bool) throws {
        let stage = try SteppedStage()
        stage.door.clock.move(.seconds(isNew ? 1 : 10))
        try stage.beginFrame()
        try stage.fillDevice()
        sweep(stage, after: .seconds(isNew ? 7 : 4))
        #expect(stage.door.ended == [])
        sweep(stage, after: .milliseconds(1))
        #expect(stage.door.ended == [.notDraining])
    }

    @Test(
        "a remote device that is heard but takes nothing is cut after 15 s; taking something begins them anew"
    )
    func remoteTakesNothing() throws {
        let stage = try SteppedStage(door: .remote)
        try stage.beginFrame()
        /// Pings until nothing was taken for 14 s; since when. The kernel may take a little more meanwhile.
        func stopped() throws -> MonotonicTime {
            while true {
                try stage.fillDevice()
                if let since = stage.relay.unsent.waitingSince, stage.door.clock.now - since >= .seconds(14) {
                    return since
                }
                stage.door.clock.move(.seconds(7))
                try stage.device.send(.ping)
                try stage.door.serve("it is heard") { stage.connection.lastHeard == stage.door.clock.now }
            }
        }
        let first = try stopped()
        stage.connection.sweep(at: first + .seconds(14.999))
        #expect(stage.door.ended == [])

        let sent = stage.connection.sent
        let device = UncheckedDevice(stage.device)
        while stage.connection.sent == sent { _ = try stage.door.serving { try device.value.raw(50_000) } }
        stage.connection.sweep(at: first + .seconds(15))
        #expect(stage.door.ended == [])

        let second = try stopped()
        #expect(second > first)
        stage.connection.sweep(at: second + .seconds(14.999))
        #expect(stage.door.ended == [])
        stage.connection.sweep(at: second + .seconds(15))
        #expect(stage.door.ended == [.notDraining])
    }

    @Test("a device that is not read, because the backend takes nothing, is not silent; its reset is seen")
    func unreadDevice() throws {
        var stage = try SteppedStage(door: .remote)
        let tls = try #require(stage.connection.tls)
        while tls.inbound.isEmpty { try stage.say(message(8, 16_000)) }
        sweep(stage, after: .seconds(60))
        #expect(stage.door.ended == [])
        // Another device in its place: the first is gone, with a reset.
        stage.device.socket.resetOnClose()
        stage.device = try TestDevice(
            try Identity.device.get(), .session, at: stage.door.address, handshake: false)
        try stage.door.serve("the reset is seen") {
            stage.connection.sweep(at: stage.door.clock.now)
            return stage.door.ended == [.peerReset]
        }
    }

    @Test(
        "a backend that closes within 1 s without a word took nothing; later it has ended",
        arguments: [0.999, 1.0])
    func earlyEnd(after seconds: Double) throws {
        let stage = try SteppedStage()
        stage.door.clock.move(.seconds(seconds))
        stage.session.finish()
        let device = UncheckedDevice(stage.device)
        let last = try stage.door.serving { try device.value.rest() }
        #expect(last.map(\.header.kind) == [.goodbye])
        #expect(stage.door.ended == [seconds < 1 ? .backendFailed : .backendEnded])
    }
}
