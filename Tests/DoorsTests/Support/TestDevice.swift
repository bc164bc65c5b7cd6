// SPDX-License-Identifier: Apache-2.0

import Bytes
import CryptoEngine
import Sockets
import Wire

/// A blocking device: a real TLS client on a socket. Every wait ends after 10 s.
final class TestDevice {
    enum End: Equatable {
        /// close_notify.
        case closed
        /// The stream ended without one, or with a reset.
        case broken
        /// A fatal alert, or a failed handshake.
        case failed(HandshakeFailureReason)
    }

    let socket: Socket
    let tls: TLSConnection
    private let plain = ByteBuffer()
    private var reader = MessageReader { MessageCaps.hostToDevice($0.kind) }
    private(set) var end: End?

    /// Without `handshake` only the TCP connection is made, and the test calls ``step()``.
    init(_ identity: Identity, _ alpn: ALPN, at address: SocketAddress, handshake: Bool = true) throws {
        socket = try Socket.tcpConnect(address, timeout: .seconds(10))
        let context = try TLSClientContext(key: identity.key, certificateDER: identity.certificate)
        tls = try TLSConnection(client: context, alpn: alpn.rawValue) { _ in true }
        guard handshake else { return }
        while tls.state == .handshaking, end == nil { try turn() }
        try flush()
    }

    /// Sends plaintext.
    func send(_ bytes: [UInt8]) throws {
        let out = ByteBuffer()
        out.append(bytes)
        while !out.isEmpty, tls.write(out, limit: out.count) > 0 {}
        try flush()
    }

    func send(_ kind: MessageKind, _ payload: [UInt8] = []) throws {
        try send(encodeMessage(kind: kind, timestamp: 1, payload: payload))
    }

    /// Ends our half: close_notify and FIN.
    func finish() throws {
        tls.shutdown()
        try flush()
        socket.shutdownWrite()
    }

    /// The next message; nil once the stream has ended.
    func next() throws -> Message? {
        while true {
            if let message = try reader.next() { return message }
            if end != nil { return nil }
            try turn()
        }
    }

    /// All messages until the end.
    func rest() throws -> [Message] {
        var all: [Message] = []
        while let message = try next() { all.append(message) }
        return all
    }

    /// Reads plaintext bytes until the stream ends or `count` are there.
    func raw(_ count: Int) throws -> [UInt8] {
        var all: [UInt8] = []
        while all.count < count, end == nil { all += try turnRaw() }
        return all
    }

    func flush() throws {
        while tls.pendingCiphertext > 0 {
            if try socket.write(from: tls.outbound) == nil {
                guard try socket.wait(for: .writable, until: monotonicNow() + .seconds(10)) else {
                    throw TestTimeout(what: "the host takes bytes")
                }
            }
        }
    }

    /// Sends what waits, and takes what has come.
    func step() throws { try turn() }

    private func turn() throws {
        let bytes = try turnRaw()
        reader.append(bytes)
    }

    private func turnRaw() throws -> [UInt8] {
        do { try flush() } catch is SocketError { end = end ?? .broken }
        guard try socket.wait(for: .readable, until: monotonicNow() + .seconds(10)) else {
            throw TestTimeout(what: "the host sends bytes")
        }
        var isOver = false
        do {
            isOver = try socket.read(into: tls.inbound, max: 65_536) == 0
        } catch {
            isOver = true
        }
        tls.advance()
        while tls.read(into: plain, limit: 65_536) > 0 {}
        switch tls.state {
        case .closedByPeer: end = .closed
        case .failed(let reason, _): end = .failed(reason)
        case .handshaking, .ready: if isOver { end = .broken }
        }
        return plain.take(plain.count)
    }
}
