// SPDX-License-Identifier: Apache-2.0

import Bytes
import Core
import CryptoEngine
import EventLoop
import Policy
import Sockets
import Testing
import Wire

@testable import Doors

/// A backend that is there and does not accept (08).
@Suite("Backend that does not accept")
struct BackendLimitTests {
    /// A session of a device at a door with this backend, its connect limit a few milliseconds.
    func refusal(_ target: Doors.Backend) throws -> (messages: [Message], ended: [SessionEnd], log: [String])
    {
        var times = DoorTimes()
        times.backend = .milliseconds(30)
        let identity = try Identity.device.get()
        let door = try SteppedDoor(backend: target, devices: [identity], times: times)
        let device = UncheckedDevice(try door.dial(identity).device)
        let messages = try door.serving { try device.value.rest() }
        return (messages, door.ended, door.problems)
    }

    @Test("a Unix socket whose queue is full: noHost when the limit is over")
    func unix() throws {
        let backend = try TestBackend()
        try backend.fillQueue()
        let (messages, ended, log) = try refusal(.unix(path: backend.path))
        #expect(messages.map(\.header.kind) == [.goodbye] && ended == [.backendFailed])
        #expect(try Goodbye(payload: messages[0].payload).reason == "noHost")
        #expect(log == ["it did not accept within 5 s"])
    }

    @Test("a TCP port whose queue is full: the same")
    func tcp() throws {
        let ip = try #require(IPAddress("127.0.0.1"))
        let listener = try Socket.tcpListener(SocketAddress(ip: ip, port: 0), v6Only: true, backlog: 1)
        let bound = listener.localAddress()
        let address = try #require(bound)
        let first = try Socket.tcpConnect(address, timeout: .seconds(10))
        let second = try Socket.tcpConnect(address, timeout: .seconds(10))
        let (messages, ended, log) = try refusal(.tcp(address))
        #expect(messages.map(\.header.kind) == [.goodbye] && ended == [.backendFailed])
        #expect(log == ["it did not accept within 5 s"])
        #expect(first.descriptor != second.descriptor)
    }

    @Test("a queue that gets room in time: the session goes on, with what the device has said meanwhile")
    func inTime() throws {
        let backend = try TestBackend()
        try backend.fillQueue()
        let identity = try Identity.device.get()
        let door = try SteppedDoor(backend: .unix(path: backend.path), devices: [identity])
        let (device, connection, _) = try door.dial(identity)
        // More than is held: some of it waits in TLS and in the socket.
        let sent = message(8, 200_000)
        let sender = UncheckedDevice(device)
        let thread = try runInBackground { try? sender.value.send(sent) }
        try door.serve("the hold is full") { connection.tls?.inbound.isEmpty == false }
        try backend.emptyQueue()
        try door.serve("the relay dials again") { backend.isDialled }
        let session = UncheckedSession(try backend.accept())
        let got = try door.serving { try session.value.read(sent.count) }
        thread.join()
        #expect(got == sent && door.ended == [])
    }
}
