// SPDX-License-Identifier: Apache-2.0

import Bytes
import Foundation
import Sockets
import Wire

/// A streaming process that a test plays by hand: a Unix socket, each accepted session read and written blocking.
final class TestBackend {
    let path: String
    private let listener: Socket

    init() throws {
        path = NSTemporaryDirectory() + "/lkb-" + UUID().uuidString.prefix(8)
        listener = try Socket.unixListener(path: path, mode: 0o600)
    }

    deinit { try? removeFile(path) }

    /// Whether somebody waits to be accepted.
    var isDialled: Bool { (try? listener.wait(for: .readable, until: monotonicNow())) == true }

    /// Takes everybody who waits, and lets them go.
    func emptyQueue() throws { while try acceptUnix(on: listener) != nil {} }

    /// Dials it until its queue is full, so that whoever comes next has to wait. Hanging up does not leave the queue.
    func fillQueue() throws {
        do throws(SocketError) {
            while true { _ = try Socket.unixConnect(path: path, nonblocking: true) }
        } catch {
            guard error.isWouldBlock else { throw error }
        }
    }

    /// The next session, its PROXY header read.
    func accept() throws -> TestBackendSession {
        guard try listener.wait(for: .readable, until: monotonicNow() + .seconds(10)) else {
            throw TestTimeout(what: "the relay dials")
        }
        guard let socket = try acceptUnix(on: listener) else { throw TestTimeout(what: "a connection") }
        return try TestBackendSession(socket)
    }
}

/// One session at the backend.
final class TestBackendSession {
    private let socket: Socket
    private let buffer = ByteBuffer()
    private(set) var isOver = false
    /// The whole PROXY header.
    private(set) var header: [UInt8] = []
    /// The JSON of TLV 0xE0.
    var json: JSON {
        get throws {
            var rest = header[16...].dropFirst(header[13] == 0x11 ? 12 : 36)
            while rest.count >= 3 {
                let start = rest.startIndex
                let length = Int(rest[start + 1]) << 8 | Int(rest[start + 2])
                let value = rest.dropFirst(3).prefix(length)
                if rest[start] == 0xE0 { return try JSON.parse(Array(value)) }
                rest = rest.dropFirst(3 + length)
            }
            return .null
        }
    }

    init(_ socket: consuming Socket) throws {
        self.socket = socket
        let start = try read(16)
        header = start + (try read(Int(start[14]) << 8 | Int(start[15])))
    }

    /// Exactly `count` bytes, or those there are before the end.
    func read(_ count: Int) throws -> [UInt8] {
        while buffer.count < count, !isOver {
            guard try socket.wait(for: .readable, until: monotonicNow() + .seconds(10)) else {
                throw TestTimeout(what: "the relay sends \(count) bytes")
            }
            do {
                if try socket.read(into: buffer, max: 65_536) == 0 { isOver = true }
            } catch {
                isOver = true
            }
        }
        return buffer.take(count)
    }

    /// The next message; nil at the end.
    func next() throws -> Message? {
        let start = try read(MessageHeader.size)
        guard start.count == MessageHeader.size else { return nil }
        let header = MessageHeader(parsing: start.span)
        return Message(header: header, payload: try read(Int(header.length)))
    }

    func send(_ bytes: [UInt8]) throws {
        let out = ByteBuffer()
        out.append(bytes)
        while !out.isEmpty {
            if try socket.write(from: out) == nil {
                guard try socket.wait(for: .writable, until: monotonicNow() + .seconds(10)) else {
                    throw TestTimeout(what: "the relay takes bytes")
                }
            }
        }
    }

    /// Writes what is taken without waiting; how many bytes that was.
    func sendSome(_ count: Int) throws -> Int {
        let out = ByteBuffer()
        out.append([UInt8](repeating: 0, count: count))
        return try socket.write(from: out) ?? 0
    }

    func finish() { socket.shutdownWrite() }

    /// Whether the relay has closed its end.
    func waitForEnd() throws -> Bool {
        while !isOver { if try read(65_536).isEmpty { break } }
        return isOver
    }
}
