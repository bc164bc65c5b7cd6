// SPDX-License-Identifier: Apache-2.0

import Bytes
import Foundation
import Sockets
import Testing
import Wire

/// Loopback of a family, port 0.
private func loopback(_ text: String) throws -> SocketAddress {
    SocketAddress(ip: try #require(IPAddress(text)), port: 0)
}

/// Where a socket is bound. (`#require` cannot hold a socket that is not copyable.)
private func boundAddress(of socket: borrowing Socket) throws -> SocketAddress {
    guard let address = socket.localAddress() else { throw SocketError(errno: 0, call: "no address") }
    return address
}

/// A directory of this test alone, removed when it ends.
final class ScratchDirectory {
    let path: String
    init() throws {
        path = "\(NSTemporaryDirectory())/lk-\(UUID().uuidString.prefix(8))"
        try makeDirectory(path, mode: 0o700)
    }
    deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// The next connection, waiting for it at most 10 s.
private func take(_ listener: borrowing Socket) throws -> Accepted {
    #expect(try listener.wait(for: .readable, until: monotonicNow() + .seconds(10)))
    let found = try accept(on: listener)
    guard let found else { throw SocketError(errno: 0, call: "nothing waits") }
    return found
}

@Suite("Sockets")
struct SocketTests {
    @Test("bytes that were not read, and bytes that were not sent, are counted")
    func countedBytes() throws {
        let listener = try Socket.tcpListener(try loopback("127.0.0.1"), v6Only: true)
        let near = try Socket.tcpConnect(try boundAddress(of: listener), timeout: .seconds(10))
        let far = try take(listener).intoSocket()
        var counts = [far.bytesReady(), near.unsentBytes()]
        #expect(counts == [0, 0])
        let out = ByteBuffer()
        out.append([UInt8](repeating: 1, count: 300))
        #expect(try near.write(from: out) == 300)
        #expect(try far.wait(for: .readable, until: monotonicNow() + .seconds(10)))
        counts = [far.bytesReady(), near.unsentBytes()]
        #expect(counts == [300, 0])
        let into = ByteBuffer()
        #expect(try far.read(into: into, max: 100) == 100)
        let left = far.bytesReady()
        #expect(left == 200)
        // Until its buffers and the other's are full: the rest has not left.
        repeat { out.append([UInt8](repeating: 1, count: 65_536)) } while try near.write(from: out) != nil
        let unsent = near.unsentBytes()
        #expect(unsent > 0)
    }

    @Test("an accepted connection knows both ends, and bytes go both ways", arguments: ["127.0.0.1", "::1"])
    func exchange(_ address: String) throws {
        let listener = try Socket.tcpListener(loopback(address), v6Only: true)
        let bound = try boundAddress(of: listener)
        #expect(try accept(on: listener) == nil)
        let client = try Socket.tcpConnect(bound, timeout: .seconds(10))
        let accepted = try take(listener)
        #expect(accepted.local == bound)
        #expect(client.peerAddress() == bound)
        let clientAddress = client.localAddress()
        #expect(accepted.peer == clientAddress)
        // Loopback's own index: what the kernel received it on.
        #expect(accepted.arrivalIndex != nil)
        applyDoorOptions(accepted.socket, userTimeout: .seconds(15))

        let server = accepted.intoSocket()
        let buffer = ByteBuffer()
        #expect(try server.read(into: buffer, max: 100) == nil)
        let out = ByteBuffer()
        out.append([1, 2, 3])
        #expect(try client.write(from: out) == 3)
        #expect(out.isEmpty)
        #expect(try server.wait(for: .readable, until: monotonicNow() + .seconds(10)))
        #expect(try server.read(into: buffer, max: 2) == 2)
        #expect(try server.read(into: buffer, max: 2) == 1)
        #expect(buffer.bytes == [1, 2, 3])
        client.shutdownWrite()
        #expect(try server.wait(for: .readable, until: monotonicNow() + .seconds(10)))
        #expect(try server.read(into: buffer, max: 2) == 0)
    }

    @Test("a full socket buffer takes a part and then nothing")
    func backPressure() throws {
        let listener = try Socket.tcpListener(loopback("127.0.0.1"), v6Only: true)
        let client = try Socket.tcpConnect(boundAddress(of: listener), nonblocking: true)
        let out = ByteBuffer()
        out.append([UInt8](repeating: 9, count: 64 << 20))
        #expect(try client.wait(for: .writable, until: monotonicNow() + .seconds(10)))
        var written = 0
        while let part = try client.write(from: out), part > 0 { written += part }
        #expect(written > 0)
        #expect(out.count == (64 << 20) - written)
    }

    @Test("one port number is held once, and the error says so")
    func portInUse() throws {
        let listener = try Socket.tcpListener(loopback("127.0.0.1"), v6Only: true)
        let bound = try boundAddress(of: listener)
        var caught: SocketError?
        do { _ = try Socket.tcpListener(bound, v6Only: true) } catch { caught = error }
        let error = try #require(caught)
        #expect(error.isAddressInUse && !error.isExhausted)
        #expect(error.message.hasPrefix("bind "))
        #expect(error.message.hasSuffix(": Address already in use"))
    }

    @Test("an IPv6 and an IPv4 listener share a number")
    func twoFamilies() throws {
        let six = try Socket.tcpListener(
            SocketAddress(ip: try #require(IPAddress("::")), port: 0), v6Only: true)
        let port = try boundAddress(of: six).port
        let four = try Socket.tcpListener(
            SocketAddress(ip: try #require(IPAddress("0.0.0.0")), port: port), v6Only: true)
        #expect(four.localAddress()?.port == port)
    }

    @Test("connecting where nobody listens is refused")
    func refused() throws {
        var gone: SocketAddress?
        do {
            let listener = try Socket.tcpListener(loopback("127.0.0.1"), v6Only: true)
            gone = listener.localAddress()
        }
        let address = try #require(gone)
        #expect { _ = try Socket.tcpConnect(address, timeout: .seconds(10)) } throws: {
            ($0 as? SocketError)?.isRefused == true
        }
        #expect { _ = try Socket.unixConnect(path: "/nonexistent/x", nonblocking: true) } throws: {
            ($0 as? SocketError)?.isRefused == true
        }
    }

    @Test("a Unix listener has its mode, replaces a dead socket file and refuses a live one")
    func unix() throws {
        let scratch = try ScratchDirectory()
        let path = scratch.path + "/s"
        do {
            let listener = try Socket.unixListener(path: path, mode: 0o660)
            #expect(fileFacts(path)?.mode == 0o660)
            #expect(fileFacts(path)?.isSocket == true)
            #expect { _ = try Socket.unixListener(path: path, mode: 0o600) } throws: {
                ($0 as? SocketError)?.isAddressInUse == true
            }
            let client = try Socket.unixConnect(path: path, nonblocking: true)
            #expect(try listener.wait(for: .readable, until: monotonicNow() + .seconds(10)))
            let server = try acceptUnix(on: listener)
            if let server {
                let credentials = peerCredentials(server.descriptor)
                #expect(credentials?.uid == geteuid())
                #expect(credentials?.pid == getpid())
            } else {
                Issue.record("nothing accepted")
            }
            #expect(client.peerAddress() == nil)
        }
        let again = try Socket.unixListener(path: path, mode: 0o600)
        #expect(again.descriptor >= 0)
        #expect(fileFacts(path)?.mode == 0o600)
    }

    @Test("a file that is no socket is never replaced by one; a path that is too long is refused")
    func unixRefuses() throws {
        let scratch = try ScratchDirectory()
        let path = scratch.path + "/file"
        try createExclusive(path, [1], mode: 0o600)
        #expect {
            _ = try Socket.unixListener(path: path, mode: 0o600)
        } throws: {
            let error = $0 as? SocketError
            return error?.isPresent == true && error?.isAddressInUse == false
        }
        #expect(try readFile(path) == [1])
        let long = scratch.path + "/" + String(repeating: "x", count: 120)
        #expect(throws: SocketError.self) { _ = try Socket.unixListener(path: long, mode: 0o600) }
    }

    @Test("a released descriptor stays open; TCP sockets have no credentials")
    func release() throws {
        let listener = try Socket.tcpListener(loopback("127.0.0.1"), v6Only: true)
        let client = try Socket.tcpConnect(boundAddress(of: listener), nonblocking: true)
        let descriptor = client.release()
        let adopted = Socket(adopting: descriptor)
        #expect(adopted.localAddress() != nil)
        #expect(peerCredentials(adopted.descriptor) == nil)
        #expect(Array([descriptor]).count == 1)
    }

    @Test("literal addresses resolve to themselves, nonsense names say their name")
    func resolving() throws {
        #expect(try resolve("127.0.0.1").map(\.isLoopback) == [true])
        #expect(try resolve("localhost").allSatisfy(\.isLoopback))
        #expect { _ = try resolve("no such name.invalid") } throws: {
            ($0 as? ResolveError)?.message.hasPrefix("no such name.invalid: ") == true
        }
    }

    @Test("clocks move forward")
    func clocks() {
        let first = monotonicNow()
        #expect(monotonicNow() >= first)
        #expect(wallNow().milliseconds > 1_700_000_000_000)
    }
}
