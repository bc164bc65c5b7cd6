// SPDX-License-Identifier: Apache-2.0

import Bytes
import EventLoop
import Sockets
import Synchronization
import Wire

/// A server that reads one whole request per connection and then does what it is told, whatever HTTP thinks of it.
final class LoopbackServer: Sendable {
    /// What it does after the request, in order.
    enum Step: Sendable {
        case send(String)
        case bytes([UInt8])
        /// One byte at a time, without end.
        case trickle
        /// The same piece again and again, without end.
        case repeating(String)
        /// Nothing more, until the server ends.
        case hold
    }

    struct NoAddress: Error {}

    private let listener: Socket
    private let isTCP: Bool
    private let stop: WakeUp
    private let thread = Mutex<JoinHandle?>(nil)
    private let seen = Mutex<[String]>([])
    private let dialled = Mutex<[IPAddress]>([])
    let address: SocketAddress

    /// `answersEarly`: the steps run before anything is read.
    init(_ steps: [Step], path: String? = nil, answersEarly: Bool = false) throws {
        let any = SocketAddress(ip: IPAddress(v4: 0x7F00_0001), port: 0)
        if let path {
            listener = try Socket.unixListener(path: path, mode: 0o600)
        } else {
            listener = try Socket.tcpListener(any, v6Only: false)
        }
        isTCP = path == nil
        address = listener.localAddress() ?? any
        stop = try WakeUp()
        let handle = try runThread(name: "test server") { [self] in
            while let connection = next() { serve(connection, steps, answersEarly) }
        }
        thread.withLock { $0 = handle }
    }

    /// The requests as they came.
    var requests: [String] { seen.withLock { $0 } }

    /// Who dialled.
    var peers: [IPAddress] { dialled.withLock { $0 } }

    func end() {
        stop.signal()
        thread.withLock { $0 }?.join()
    }

    private func next() -> Socket? {
        while true {
            let ready = try? waitReadable([listener.descriptor, stop.descriptor], until: nil)
            guard let ready, !ready[1] else { return nil }
            if isTCP {
                if let accepted = try? accept(on: listener) {
                    dialled.withLock { $0.append(accepted.peer.ip) }
                    return accepted.intoSocket()
                }
            } else {
                if let accepted = try? acceptUnix(on: listener) { return accepted }
            }
        }
    }

    private func serve(_ socket: borrowing Socket, _ steps: [Step], _ answersEarly: Bool) {
        if !answersEarly {
            guard let request = read(socket) else { return }
            seen.withLock { $0.append(request) }
        }
        for step in steps {
            switch step {
            case .send(let text): write(socket, Array(text.utf8))
            case .bytes(let bytes): write(socket, bytes)
            case .hold: _ = stop.wait(until: nil)
            case .trickle:
                while write(socket, [0x61]), !stop.wait(until: monotonicNow() + .milliseconds(20)) {}
            case .repeating(let text): while write(socket, Array(text.utf8)) {}
            }
        }
    }

    /// Up to the end of the body that its length announces.
    private func read(_ socket: borrowing Socket) -> String? {
        let incoming = ByteBuffer()
        while true {
            let text = String(decoding: incoming.bytes, as: UTF8.self)
            if let head = text.range(of: "\r\n\r\n") {
                let length =
                    text[..<head].split(separator: "\r\n")
                    .first { $0.hasPrefix("Content-Length: ") }.flatMap { Int($0.dropFirst(16)) } ?? 0
                if text[head...].utf8.count - 4 >= length { return text }
            }
            guard (try? socket.wait(for: .readable, until: nil, stop: stop)) == true,
                let count = try? socket.read(into: incoming, max: 4096), count > 0
            else { return nil }
        }
    }

    /// All of it; false when the other end has gone or the server ends.
    @discardableResult
    private func write(_ socket: borrowing Socket, _ bytes: [UInt8]) -> Bool {
        let out = ByteBuffer()
        out.append(bytes)
        while !out.isEmpty {
            do throws(SocketError) {
                if try socket.write(from: out) == nil,
                    try !socket.wait(for: .writable, until: nil, stop: stop)
                {
                    return false
                }
            } catch {
                return false
            }
        }
        return true
    }
}

extension StringProtocol {
    /// Where `part` begins.
    fileprivate func range(of part: String) -> Index? {
        var index = startIndex
        while index < endIndex {
            if self[index...].utf8.starts(with: part.utf8) { return index }
            index = utf8.index(after: index)
        }
        return nil
    }
}
