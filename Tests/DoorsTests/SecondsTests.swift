// SPDX-License-Identifier: Apache-2.0

import Bytes
import Core
import CryptoEngine
import EventLoop
import Policy
import Testing
import Wire

@testable import Doors
@testable import Sockets

/// The seconds of a session over real TLS and real sockets, by a clock that only the test moves (06 A6, C2, C3).
@Suite("Seconds")
struct SecondsTests {
    func second(_ stage: SteppedStage, after step: Duration = .seconds(1)) throws -> SessionSecond {
        stage.door.clock.move(step)
        return try #require(stage.relay.closeSecond(at: stage.door.clock.now))
    }

    /// The backend sends `bytes` as fast as it can; the device reads nothing until the hold has been full for `stop`, and
    /// then everything.
    func pass(_ bytes: [UInt8], stop: Duration, _ stage: SteppedStage) throws {
        let (device, session) = (UncheckedDevice(stage.device), UncheckedSession(stage.session))
        let sender = try runInBackground { try? session.value.send(bytes) }
        try stage.door.serve("the hold is full") { stage.relay.isHolding }
        stage.door.clock.move(stop)
        let got = try stage.door.serving { try device.value.raw(bytes.count) }
        sender.join()
        #expect(got.count == bytes.count && !stage.relay.isHolding)
    }

    @Test("a device that reads slowly: the time its hold was full is frames withheld")
    func slowDevice() throws {
        let stage = try SteppedStage(door: .remote)
        let frames = frame(100, flag: 1) + (1..<60).flatMap { _ in frame(100_000) }
        try pass(frames, stop: .milliseconds(400), stage)
        let second = try second(stage, after: .milliseconds(600))
        #expect(second.session == stage.relay.id)
        #expect(
            second.second
                == LinkSecond(sent: 60, withheld: 40, taken: frames.count, waiting: 0, heard: false))
        #expect(
            try self.second(stage).second
                == LinkSecond(sent: 0, withheld: 0, taken: 0, waiting: 0, heard: false))
    }

    @Test("the catalog and the first picture are a burst that counts nothing")
    func burst() throws {
        let stage = try SteppedStage(door: .remote)
        let catalog = message(2, 2_000_000)
        try pass(catalog, stop: .milliseconds(700), stage)
        #expect(
            try second(stage, after: .milliseconds(300)).second
                == LinkSecond(sent: 0, withheld: 0, taken: catalog.count, waiting: 0, heard: false))
        let picture = frame(2_000_000) + frame(2_000_000, flag: 1)
        try pass(picture, stop: .milliseconds(700), stage)
        #expect(
            try second(stage, after: .milliseconds(300)).second
                == LinkSecond(sent: 1, withheld: 0, taken: picture.count, waiting: 0, heard: false))
    }

    @Test("a hold that is full while the backend has nothing withholds nothing")
    func idleBackend() throws {
        let stage = try SteppedStage(door: .remote)
        try stage.session.send(frame(100, flag: 1))
        try stage.beginFrame()
        var sent = frame(100).count + MessageHeader.size
        // In pieces that are read at once, so that none is left when the hold is full.
        try stage.door.serve("the hold is full") {
            if !stage.relay.isHolding { sent += (try? stage.session.sendSome(4_000)) ?? 0 }
            return stage.relay.isHolding && stage.relay.backend?.hasBytesReady == false
        }
        let first = try second(stage, after: .milliseconds(500)).second
        #expect(first.sent == 1 && first.withheld == 0 && first.waiting > RelayMeter.resumeAt)
        stage.door.clock.move(.milliseconds(300))
        let (device, count) = (UncheckedDevice(stage.device), sent)
        #expect(try stage.door.serving { try device.value.raw(count) }.count == count)
        #expect(!stage.relay.isHolding)
        #expect(
            try second(stage, after: .milliseconds(700)).second
                == LinkSecond(sent: 0, withheld: 0, taken: first.waiting, waiting: 0, heard: false))
    }

    @Test("a dead device takes nothing while something waits, and is not heard; a ping is heard")
    func deadDevice() throws {
        let stage = try SteppedStage(door: .remote)
        try stage.session.send(frame(100, flag: 1))
        try stage.beginFrame()
        // The kernel may take a little more for a while.
        var dead = try second(stage)
        for _ in 0..<30 where dead.second.waiting == 0 || dead.second.taken > 0 {
            try stage.fillDevice()
            dead = try second(stage)
        }
        #expect(dead.second.isDead && dead.second.taken == 0 && dead.second.isMeasured)
        #expect(dead.second.sent == 0 && dead.second.withheld == 60)
        #expect(dead.second.waiting <= RelayMeter.hold && dead.unsentInKernel > 0)

        try stage.device.send(.ping, [UInt8](repeating: 1, count: 8))
        try stage.door.serve("it is heard") { stage.connection.lastHeard == stage.door.clock.now }
        let heard = try second(stage).second
        #expect(heard.heard && !heard.isDead)
    }

    @Test(
        "a device that is not read, because the backend takes nothing, is heard by what waits in its socket")
    func unreadDevice() throws {
        let stage = try SteppedStage(door: .remote)
        let tls = try #require(stage.connection.tls)
        while tls.inbound.isEmpty { try stage.say(message(8, 16_000)) }
        #expect(try !second(stage).second.heard)
        try stage.device.send(.ping, [UInt8](repeating: 1, count: 8))
        try stage.door.serve("it has arrived") { stage.connection.socket.bytesReady() > 0 }
        #expect(try second(stage).second.heard)
        #expect(try !second(stage).second.heard)
    }

    @Test("the relay's own kind 18 is bytes of the session; the backend's is none")
    func ownMessages() throws {
        let info = [UInt8](repeating: 7, count: 300)
        let stage = try SteppedStage(hostInfo: info)
        try stage.session.send(message(2, 10) + message(16, 20) + message(18, 999) + frame(50, flag: 1))
        let want =
            message(2, 10).count + message(16, 20).count + message(18, info.count).count + frame(50).count
        let device = UncheckedDevice(stage.device)
        #expect(try stage.door.serving { try device.value.raw(want) }.count == want)
        #expect(
            try second(stage).second
                == LinkSecond(sent: 1, withheld: 0, taken: want, waiting: 0, heard: false))
    }

    @Test("the tick tells the core of all sessions in one entry; one that ends is told of no more")
    func oneEntry() throws {
        var times = DoorTimes()
        times.sweep = .milliseconds(1)
        let stage = try SteppedStage(door: .remote, times: times)
        let other = try stage.door.dial(try Identity.device.get())
        let ids: Set<SessionID> = [stage.relay.id, other.relay.id]
        let before = stage.door.seconds.count
        try stage.door.serve("some ticks") { stage.door.seconds.count > before + 3 }
        #expect(
            stage.door.seconds.dropFirst(before).allSatisfy { Set($0.map(\.session)) == ids && $0.count == 2 }
        )
        stage.relay.requestGoodbye(.quit, .stopped)
        #expect(stage.relay.closeSecond(at: stage.door.clock.now) == nil)
        let later = stage.door.seconds.count
        try stage.door.serve("more ticks") { stage.door.seconds.count > later + 1 }
        #expect(stage.door.seconds.last?.map(\.session) == [other.relay.id])
    }

    @Test(
        "another stream is judged afresh: frames of the second in progress are forgotten, its bytes are not")
    func afresh() throws {
        let stage = try SteppedStage()
        let frames = frame(10, flag: 1) + frame(20)
        try stage.session.send(frames)
        let device = UncheckedDevice(stage.device)
        #expect(try stage.door.serving { try device.value.raw(frames.count) }.count == frames.count)
        stage.door.command(.judgeAfresh)
        stage.door.worker.loop.serveReady()
        #expect(
            try second(stage).second
                == LinkSecond(sent: 0, withheld: 0, taken: frames.count, waiting: 0, heard: false))
    }

    @Test(
        "a remote door's sockets keep 128 KiB unsent, so that a slow link shows",
        arguments: [Door.remote, .home])
    func unsentLimit(door: Door) throws {
        let stage = try SteppedStage(door: door)
        // TCP_NOTSENT_LOWAT of IPPROTO_TCP, from <linux/tcp.h>.
        let limit = getOption(stage.connection.socket.descriptor, 6, 25)
        #expect(limit != nil && (limit == 131_072) == (door == .remote))
    }
}
