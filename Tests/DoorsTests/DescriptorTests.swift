// SPDX-License-Identifier: Apache-2.0

import Bytes
import Core
import Glibc
import Sockets
import Testing
import Wire

@testable import Doors

/// Every descriptor of the process but the ones that are given back.
private final class AllDescriptors {
    private var held: [SharedSocket] = []

    /// Takes all that there are below a limit that is soon reached.
    init(copying descriptor: Int32) {
        var limit = rlimit()
        _ = unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = 256
        _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        while true {
            let copy = dup(descriptor)
            guard copy >= 0 else { break }
            held.append(SharedSocket(Socket(adopting: copy)))
        }
    }

    var count: Int { held.count }

    /// Keeps this one too.
    func take(_ socket: consuming Socket) { held.append(SharedSocket(socket)) }

    func giveBackOne() { held.removeLast() }
    func giveBackAll() { held.removeAll() }
}

@Suite("Descriptors")
struct DescriptorTests {
    @Test("when they run out the newest are shed, sessions go on, and accepting recovers")
    func exhausted() async {
        // In a process of its own, because the limit is the whole process's.
        await #expect(processExitsWith: .success) {
            let identity = try Identity.device.get()
            let backend = try TestBackend()
            let host = try TestHost(backend: .unix(path: backend.path), devices: [identity])
            let device = try host.dial(identity)
            let session = try backend.accept()
            let address = try host.address()

            let all = AllDescriptors(copying: device.socket.descriptor)
            try #require(all.count > 8)
            for number in 1...3 {
                // One for the dialler, so that none is left for the door.
                all.giveBackOne()
                let dialler = try Socket.tcpConnect(address, timeout: .seconds(10))
                try host.until("it is shed") { host.doors.shedCount == number }
                let isOver = try dialler.wait(for: .readable, until: monotonicNow() + .seconds(10))
                #expect(isOver)
                let buffer = ByteBuffer()
                let count = (try? dialler.read(into: buffer, max: 1)) ?? 0
                #expect(count == 0)
                // Its descriptor is taken again when it ends, by the next.
                all.take(dialler)
            }
            try session.send(message(2, 20))
            #expect(try device.next()?.header.kind == .windowList)
            try device.send(.ping)
            #expect(try session.next()?.header.kind == .ping)

            all.giveBackAll()
            let later = try host.dial(identity)
            try backend.accept().send(message(2, 20))
            #expect(try later.next()?.header.kind == .windowList)
            #expect(host.doors.shedCount == 3 && host.doors.connectionCount == 2)
        }
    }
}
