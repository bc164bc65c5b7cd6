// SPDX-License-Identifier: Apache-2.0

import Bytes
import Core
import EventLoop
import Policy
import Sockets
import Synchronization
import Testing
import Wire

@testable import Doors

@Suite("Relay")
struct RelayTests {
    /// A host, a device with a session, and that session at the backend.
    struct Stage {
        let backend: TestBackend
        let host: TestHost
        let device: TestDevice
        let session: TestBackendSession

        init(workers: Int = 1, times: DoorTimes = DoorTimes()) throws {
            let identity = try Identity.device.get()
            backend = try TestBackend()
            host = try TestHost(
                backend: .unix(path: backend.path), devices: [identity], workers: workers, times: times)
            device = try host.dial(identity)
            session = try backend.accept()
        }

        var view: SessionView? { host.core.enter { core, _ in core.sessions() }.first }
    }

    static let windowList = message(2, 20)
    static let settings = message(16, 9)

    @Test("the header says who it is; bytes pass both ways, kind 18 after the first 16", arguments: [1, 3])
    func both(workers: Int) throws {
        let stage = try Stage(workers: workers)
        let json = try stage.session.json
        #expect(json["door"]?.string == "home" && json["origin"]?.string == "loopback")
        #expect(json["paired"]?.bool == true && json["name"]?.string == "iPad")
        #expect(json["session"]?.string == stage.view?.id.text)

        try stage.device.send(.hello, Array("{\"device\":\"iPad\"}".utf8))
        try stage.device.send(.pairingWanted)
        try stage.device.send(.ping, [UInt8](repeating: 7, count: 8))
        #expect(try stage.session.next()?.header.kind == .hello)
        #expect(try stage.session.next()?.header.kind == .ping)
        #expect(stage.view?.hello?.device == "iPad")

        let frame = message(1, 300_000)
        try stage.session.send(Self.windowList + Self.settings + frame)
        let kinds = try (0..<4).map { _ in try stage.device.next()?.header.kind }
        #expect(kinds == [.windowList, .hostSettings, .hostInfo, .frame])
        let view = try #require(stage.view)
        try stage.host.until("bytes are counted") {
            view.counters.bytesOut.load(ordering: .relaxed)
                >= UInt64(Self.windowList.count + Self.settings.count + frame.count)
        }
        #expect(view.counters.bytesIn.load(ordering: .relaxed) == UInt64(14 + 17 + 14 + 22))
    }

    @Test("kind 18 comes without a 16 after a while, the backend's own never, and again on a change")
    func hostInfo() throws {
        var times = DoorTimes()
        times.hostInfo = .milliseconds(20)
        let stage = try Stage(times: times)
        try stage.session.send(Self.windowList + message(18, 30))
        #expect(try stage.device.next()?.header.kind == .windowList)
        let first = try #require(try stage.device.next())
        #expect(first.header.kind == .hostInfo && String(decoding: first.payload, as: UTF8.self) == "info 1")
        stage.host.doors.broadcastHostInfo()
        let second = try #require(try stage.device.next())
        #expect(String(decoding: second.payload, as: UTF8.self) == "info 2")
    }

    @Test("a removal says goodbye between messages, or cuts the one in progress")
    func goodbye() throws {
        let stage = try Stage()
        try stage.session.send(Self.windowList)
        #expect(try stage.device.next() != nil)
        let view = try #require(stage.view)
        stage.host.doors.endSession(view.id, view.connection, .removed)
        let last = try #require(try stage.device.next())
        #expect(last.header.kind == .goodbye && last.payload == Array("{\"reason\":\"removed\"}".utf8))
        #expect(try stage.device.next() == nil && stage.device.end == .closed)
        #expect(try stage.session.waitForEnd())

        let other = try Stage()
        try other.session.send(Self.windowList + message(1, 1000).prefix(500))
        #expect(try other.device.next() != nil)
        let cut = try #require(other.view)
        other.host.doors.endSession(cut.id, cut.connection, .removed)
        #expect(try other.device.next() == nil)
        try other.host.until("it is over") { other.host.ended == [.goodbye] }
    }

    @Test("a device that reads nothing is closed all the same")
    func deafDevice() throws {
        let stage = try Stage()
        let view = try #require(stage.view)
        try stage.session.send(Self.windowList)
        // Until nothing more is taken: the device's window, the door's hold and the backend's socket are full.
        var idle = 0
        while idle < 20 { idle = try stage.session.sendSome(100_000) == 0 ? idle + 1 : 0 }
        stage.host.doors.endSession(view.id, view.connection, .removed)
        try stage.host.until("it is over") { stage.host.ended == [.goodbye] }
        try stage.host.until("it is gone") { stage.host.doors.connectionCount == 0 }
    }

    @Test("a message above 1 MiB closes the session, its header does not pass")
    func tooLong() throws {
        let stage = try Stage()
        try stage.device.send(.ping, [UInt8](repeating: 7, count: 8))
        try stage.device.send(MessageHeader(kind: .input, timestamp: 0, length: 1_048_577).encode())
        #expect(try stage.session.next()?.header.kind == .ping)
        #expect(try stage.session.next() == nil)
        try stage.host.until("it is over") { stage.host.ended == [.tooLong] }
    }

    @Test(
        "a backend that ends: noHost between messages, only the close inside one, nothing after its own goodbye"
    )
    func backendEnds() throws {
        let between = try Stage()
        try between.session.send(Self.windowList)
        #expect(try between.device.next() != nil)
        between.session.finish()
        let goodbye = try Goodbye(payload: try #require(try between.device.next()).payload)
        #expect(goodbye.reason == "noHost" && goodbye.reconnect == true)
        #expect(try between.device.next() == nil)
        try between.host.until("it is over") { between.host.ended == [.backendEnded] }
        #expect(between.host.goodbyes == ["noHost": 1])

        let inside = try Stage()
        try inside.session.send(Self.windowList + message(1, 100).prefix(50))
        inside.session.finish()
        #expect(try inside.device.rest().map(\.header.kind) == [.windowList])
        try inside.host.until("it is over") { inside.host.ended == [.backendEnded] }
        #expect(inside.host.goodbyes.isEmpty)

        let own = try Stage()
        try own.session.send(Self.windowList + message(22, 5))
        own.session.finish()
        #expect(try own.device.rest().map(\.header.kind) == [.windowList, .goodbye])
        try own.host.until("it is over") { own.host.ended == [.backendEnded] }
        #expect(own.host.goodbyes.isEmpty)

        let tooLong = try Stage()
        try tooLong.session.send(
            Self.windowList + MessageHeader(kind: .windowList, timestamp: 0, length: 4_194_305).encode())
        #expect(try tooLong.device.rest().map(\.header.kind) == [.windowList, .goodbye])
        try tooLong.host.until("it is over") { tooLong.host.ended == [.backendFailed] }
        #expect(tooLong.host.goodbyes == ["noHost": 1])
    }

    @Test("a backend that is not there, at either kind of address")
    func backendMissing() throws {
        let device = try Identity.device.get()
        let ip = try #require(IPAddress("127.0.0.1"))
        var port: UInt16 = 0
        do {
            let listener = try Socket.tcpListener(SocketAddress(ip: ip, port: 0), v6Only: true)
            port = listener.localAddress()?.port ?? 0
        }
        let targets: [Doors.Backend] = [
            .unix(path: "/nonexistent/socket"), .tcp(SocketAddress(ip: ip, port: port)),
        ]
        for target in targets {
            let host = try TestHost(backend: target, devices: [device])
            let messages = try host.dial(device).rest()
            #expect(messages.map(\.header.kind) == [.goodbye])
            #expect(try Goodbye(payload: messages[0].payload).reason == "noHost")
        }
    }

    @Test("after the device's half-close the backend may go on until it ends")
    func halfClose() throws {
        let stage = try Stage()
        try stage.device.send(.ping, [1])
        try stage.device.finish()
        #expect(try stage.session.next()?.payload == [1])
        #expect(try stage.session.next() == nil)
        try stage.session.send(Self.windowList + message(1, 70_000))
        stage.session.finish()
        #expect(try stage.device.rest().map(\.header.kind) == [.windowList, .frame])
        try stage.host.until("it is over") { stage.host.ended == [.peerClosed] }
    }

    @Test("a device that vanishes ends the session, and what it said before arrives")
    func deviceGone() throws {
        let stage = try Stage()
        try stage.device.send(.ping, [1])
        stage.device.socket.shutdownWrite()
        #expect(try stage.session.next()?.payload == [1])
        #expect(try stage.session.next() == nil)
        try stage.host.until("it is over") { stage.host.ended == [.peerClosed] }
    }

    @Test("a slow backend gets everything, in order, while the door holds little")
    func slowBackend() throws {
        let stage = try Stage()
        let one = message(8, 1000)
        let thread = try runInBackground { [device = UncheckedDevice(stage.device)] in
            for _ in 0..<2000 { try? device.value.send(one) }
        }
        for _ in 0..<2000 {
            guard let message = try stage.session.next(), message.payload.count == 1000 else {
                Issue.record("a message is missing")
                break
            }
        }
        thread.join()
    }

    @Test("a slow device gets everything, byte for byte")
    func slowDevice() throws {
        let stage = try Stage()
        var all: [UInt8] = []
        for index in 0..<60 { all += message(1, index * 1777 % 90_000, fill: UInt8(index)) }
        let sent = all
        let session = UncheckedSession(stage.session)
        let thread = try runInBackground { try? session.value.send(sent) }
        var got: [UInt8] = []
        while got.count < all.count {
            let part = try stage.device.raw(1)
            guard !part.isEmpty else { break }
            got += part
        }
        thread.join()
        // The 18 that is due 500 ms after the first message may stand between two of them on a slow machine.
        if got.count == all.count { #expect(got == all) } else { #expect(got.count > all.count) }
    }

    @Test("quit: every session is told, then the threads end")
    func quit() throws {
        let stage = try Stage()
        try stage.session.send(Self.windowList)
        #expect(try stage.device.next() != nil)
        stage.host.doors.stop(within: .seconds(2))
        #expect(try stage.device.rest().map(\.payload) == [Array("{\"reason\":\"quit\"}".utf8)])
        #expect(stage.host.doors.connectionCount == 0)
    }
}
