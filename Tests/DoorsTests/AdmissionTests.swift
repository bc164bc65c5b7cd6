// SPDX-License-Identifier: Apache-2.0

import Bytes
import Core
import CryptoEngine
import EventLoop
import Policy
import Sockets
import Synchronization
import Testing
import Wire

@testable import Doors

@Suite("Admission at a real door")
struct AdmissionTests {
    @Test("an unpaired key is turned away with alert 42")
    func unpaired() throws {
        let host = try TestHost()
        let device = try host.dial(try Identity.stranger.get())
        #expect(try device.next() == nil)
        #expect(device.end == .failed(.alertBadCertificate))
        try host.until("the connection is gone") { host.doors.connectionCount == 0 }
    }

    @Test("a paired device without a backend hears noHost, and may come back")
    func noBackend() throws {
        let device = try Identity.device.get()
        let host = try TestHost(devices: [device])
        let client = try host.dial(device)
        let message = try #require(try client.next())
        #expect(message.header.kind == .goodbye)
        let goodbye = try Goodbye(payload: message.payload)
        #expect(goodbye.reason == "noHost" && goodbye.reconnect == true && goodbye.message != nil)
        #expect(try client.next() == nil)
        #expect(client.end == .closed)
        try host.until("the session is over") { host.ended == [.backendFailed] }
        #expect(host.lines.lines.withLock { $0 }.count == 1)
        #expect(host.goodbyes == ["noHost": 1])
    }

    @Test("the remote door tells a paired device why, when remote access is off")
    func remoteOff() throws {
        let device = try Identity.device.get()
        let host = try TestHost(devices: [device])
        host.doors.open(.remote, port: 0, listenOn: IPAddress("127.0.0.1"))
        let client = try host.dial(device, door: .remote)
        let message = try #require(try client.next())
        #expect(message.payload == Array("{\"reason\":\"remoteOff\"}".utf8))
        #expect(try client.next() == nil && client.end == .closed)
        #expect(host.ended == [])
    }

    @Test("nothing is sent to a silent connection, which is closed when its time is over")
    func silent() throws {
        var times = DoorTimes()
        times.pending = .milliseconds(50)
        let host = try TestHost(times: times)
        let socket = try Socket.tcpConnect(host.address(), timeout: .seconds(10))
        let isReadable = try socket.wait(for: .readable, until: monotonicNow() + .seconds(10))
        #expect(isReadable)
        let buffer = ByteBuffer()
        let count = try socket.read(into: buffer, max: 100)
        #expect(count == 0)
        try host.until("the connection is gone") { host.doors.connectionCount == 0 }
    }

    @Test("a user-space VPN's peer is no device at home: closed before any byte", arguments: [true, false])
    func vpnPeer(_ isKnown: Bool) throws {
        let host = try TestHost(loopback: { _, answer in
            if !isKnown { answer(true) }
            return isKnown ? true : nil
        })
        let socket = try Socket.tcpConnect(host.address(), timeout: .seconds(10))
        let isReadable = try socket.wait(for: .readable, until: monotonicNow() + .seconds(10))
        #expect(isReadable)
        let buffer = ByteBuffer()
        let count = (try? socket.read(into: buffer, max: 100)) ?? 0
        #expect(count == 0 && host.doors.connectionCount == 0)
        #expect(host.core.enter { core, _ in core.counters.refusals(.home, .vpn) } == 1)
    }

    @Test("a connection waits, unread, until it is known whose it is; one that left meanwhile is nobody's")
    func loopbackWaits() throws {
        let device = try Identity.device.get()
        let asked = Mutex<[@Sendable (Bool) -> Void]>([])
        let host = try TestHost(
            devices: [device],
            loopback: { _, answer in
                asked.withLock { $0.append(answer) }
                return nil
            })
        let address = try host.address()
        let gone = try Socket.tcpConnect(address, timeout: .seconds(10))
        try host.until("it is looked up") { asked.withLock { $0.count } == 1 }
        #expect(host.doors.connectionCount == 0)
        gone.resetOnClose()
        _ = consume gone
        asked.withLock { $0.removeFirst() }(false)
        try host.until("it is gone") { host.doors.connectionCount == 0 }
        let judge = try runInBackground {
            while asked.withLock({ $0.isEmpty }) {
                _ = try? WakeUp().wait(until: monotonicNow() + .milliseconds(2))
            }
            let answer = asked.withLock { $0.removeFirst() }
            answer(false)
            // An answer counts once.
            answer(true)
        }
        let message = try #require(try host.dial(device).next())
        judge.join()
        #expect(message.header.kind == .goodbye)
    }

    @Test("doors that stop let go of those that wait")
    func stopWhileHeld() throws {
        let asked = Mutex<[@Sendable (Bool) -> Void]>([])
        let host = try TestHost(loopback: { _, answer in
            asked.withLock { $0.append(answer) }
            return nil
        })
        let socket = try Socket.tcpConnect(host.address(), timeout: .seconds(10))
        try host.until("it is looked up") { asked.withLock { $0.count } == 1 }
        host.doors.stop(within: .zero)
        let isReadable = try socket.wait(for: .readable, until: monotonicNow() + .seconds(10))
        #expect(isReadable)
        asked.withLock { $0.removeFirst() }(false)
    }

    @Test("bytes that are no TLS end the connection", arguments: ["GET / HTTP/1.1\r\n\r\n", "hello there\n"])
    func noTLS(_ text: String) throws {
        let host = try TestHost()
        let socket = try Socket.tcpConnect(host.address(), timeout: .seconds(10))
        let out = ByteBuffer()
        out.append(Array(text.utf8))
        _ = try socket.write(from: out)
        let buffer = ByteBuffer()
        while true {
            let isReadable = try socket.wait(for: .readable, until: monotonicNow() + .seconds(10))
            #expect(isReadable)
            guard let count = try? socket.read(into: buffer, max: 100), count > 0 else { break }
        }
        #expect(buffer.count < 16)
        _ = consume socket
        try host.until("the connection is gone") { host.doors.connectionCount == 0 }
    }

    @Test("the third pending connection of one source is closed at once")
    func pendingLimit() throws {
        let host = try TestHost()
        let address = try host.address()
        let first = try Socket.tcpConnect(address, timeout: .seconds(10))
        let second = try Socket.tcpConnect(address, timeout: .seconds(10))
        try host.until("two wait") { host.doors.connectionCount == 2 }
        let third = try Socket.tcpConnect(address, timeout: .seconds(10))
        let isReadable = try third.wait(for: .readable, until: monotonicNow() + .seconds(10))
        #expect(isReadable)
        let buffer = ByteBuffer()
        let count = (try? third.read(into: buffer, max: 10)) ?? 0
        #expect(count == 0)
        #expect(host.doors.connectionCount == 2)
        #expect(first.descriptor != second.descriptor)
    }

    @Test("a gate lets a new enough device in, its hello goes on; an older one hears update")
    func gate() throws {
        let device = try Identity.device.get()
        let backend = try TestBackend()
        var settings = Settings()
        settings.minimumDeviceVersion = "1.2"
        let host = try TestHost(backend: .unix(path: backend.path), settings: settings, devices: [device])

        let old = try host.dial(device)
        try old.send(.hello, Hello(appVersion: "1.1", device: "iPad (x)").encode())
        let refused = try Goodbye(payload: try #require(try old.next()).payload)
        #expect(refused.reason == "update" && refused.minimumVersion == "1.2" && refused.reconnect == false)
        #expect(refused.message?.contains("iPad") == true)
        #expect(try old.next() == nil && old.end == .closed)

        let new = try host.dial(device)
        let hello = Hello(appVersion: "1.2").encode()
        try new.send(.hello, hello)
        try new.send(.ping, [UInt8](repeating: 1, count: 8))
        let session = try backend.accept()
        #expect(try session.next()?.payload == hello)
        #expect(try session.next()?.header.kind == .ping)
        let view = try #require(host.core.enter { core, _ in core.sessions() }.first)
        #expect(view.hello?.appVersion == "1.2")
        #expect(host.core.enter { core, _ in core.sessions() }.count == 1)
    }

    @Test("a gate that hears nothing refuses too")
    func gateSilent() throws {
        let device = try Identity.device.get()
        var settings = Settings()
        settings.minimumDeviceVersion = "1.2"
        var times = DoorTimes()
        times.gate = .milliseconds(30)
        let host = try TestHost(settings: settings, devices: [device], times: times)
        let client = try host.dial(device)
        #expect(try client.next()?.header.kind == .goodbye)
        #expect(host.core.enter { core, _ in core.sessions() }.isEmpty)
    }
}
