// SPDX-License-Identifier: Apache-2.0

import Bytes
import Core
import Policy
import Sockets
import Synchronization
import Testing
import Wire

@testable import Doors

@Suite("Listeners")
struct ListenerTests {
    @Test("port 0 is one number in both families; closing frees it at once")
    func bothFamilies() throws {
        let listener = try DoorListener.open(.home, port: 0, address: nil)
        #expect(listener.sockets.count == 2)
        let ports = listener.sockets.map { $0.socket.localAddress()?.port }
        #expect(ports == [listener.port, listener.port])
        #expect(throws: DoorListener.Failure.self) {
            _ = try DoorListener.open(.remote, port: listener.port, address: nil)
        }
        // Ended but still held, as by a worker that has not heard of it yet.
        listener.end()
        let again = try DoorListener.open(.remote, port: listener.port, address: nil)
        #expect(again.port == listener.port && listener.sockets.count == 2)
    }

    @Test("a number that is taken in one family alone is taken: never half open")
    func halfTaken() throws {
        let ip = try #require(IPAddress("0.0.0.0"))
        let other = try Socket.tcpListener(SocketAddress(ip: ip, port: 0), v6Only: true)
        let port = other.localAddress()?.port ?? 0
        var failure: DoorListener.Failure?
        do { _ = try DoorListener.open(.remote, port: port, address: nil) } catch { failure = error }
        guard case .inUse? = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
    }

    @Test("a replaced listener leaves its sessions alone; a taken port is reported and nothing listens")
    func replaced() throws {
        let identity = try Identity.device.get()
        let backend = try TestBackend()
        let host = try TestHost(backend: .unix(path: backend.path), devices: [identity])
        let first = try host.address()
        let device = try host.dial(identity)
        let session = try backend.accept()
        let ip = IPAddress("127.0.0.1")

        // The same again keeps the socket.
        host.doors.open(.home, port: 0, listenOn: ip)
        let holder = try Socket.tcpListener(
            SocketAddress(ip: try #require(ip), port: 0), v6Only: true)
        let taken = Int(holder.localAddress()?.port ?? 0)
        host.doors.open(.home, port: taken, listenOn: ip)
        try host.until("it is reported") {
            host.core.enter { core, moment in core.status(moment) }.homeDoor
                == .portInUse(port: UInt16(taken))
        }
        #expect(host.doors.port(of: .home) == nil)
        #expect(throws: SocketError.self) { _ = try Socket.tcpConnect(first, timeout: .seconds(10)) }

        host.doors.open(.home, port: 0, listenOn: ip)
        _ = try host.address()
        try session.send(message(2, 3))
        #expect(try device.next()?.header.kind == .windowList)
        let other = try host.dial(identity)
        _ = try backend.accept().send(message(2, 3))
        #expect(try other.next()?.header.kind == .windowList)
    }

    @Test("sockets of the service manager serve the door, are not shut down by it, and serve again")
    func adopted() throws {
        let identity = try Identity.device.get()
        let host = try TestHost(devices: [identity])
        _ = try host.address()
        let passed = try Socket.tcpListener(
            SocketAddress(ip: try #require(IPAddress("127.0.0.1")), port: 0), v6Only: true)
        let port = Int(passed.localAddress()?.port ?? 0)
        host.doors.adopt(.home, descriptors: [passed.release()])
        try host.until("it serves") { host.doors.port(of: .home) == port }
        #expect(try host.dial(identity).next()?.header.kind == .goodbye)
        host.doors.close(.home)
        try host.until("it is closed") { host.doors.port(of: .home) == nil }
        host.doors.open(.home, port: 1, listenOn: nil)
        try host.until("it serves again") { host.doors.port(of: .home) == port }
        #expect(try host.dial(identity).next()?.header.kind == .goodbye)
    }
}
