// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import Sockets
internal import Wire

/// One open connection to the API. Blocks its own thread within deadlines.
struct Connection: ~Copyable {
    /// What a read brought.
    enum Received: Equatable { case bytes([UInt8]), nothingNow, end }

    /// How long a connect may take; the service is on this machine.
    private static let connectTime = Duration.seconds(5)
    private static let readSize = 16 * 1024

    private let socket: Socket
    private let incoming = ByteBuffer(capacity: 16 * 1024)

    /// Dials. Throws `.notRunning` when nobody listens there.
    init(to endpoint: Endpoint) throws(ClientError) {
        do {
            socket = try Self.dial(endpoint)
        } catch {
            if error.isRefused || error.isTimedOut { throw .notRunning(endpoint: endpoint.description) }
            if error.isNotAllowed { throw .notAllowed(endpoint: endpoint.description) }
            throw .broken(error.message)
        }
    }

    private static func dial(_ endpoint: Endpoint) throws(SocketError) -> Socket {
        switch endpoint.way {
        case .unix(let path): return try Socket.unixConnect(path: path, nonblocking: true)
        case .tcp(let host, let port, _):
            var name = host
            if name.hasPrefix("["), name.hasSuffix("]") { name = String(name.dropFirst().dropLast()) }
            var failure = SocketError.nobodyListens
            for ip in (try? resolve(name)) ?? [] {
                do {
                    return try Socket.tcpConnect(SocketAddress(ip: ip, port: port), timeout: connectTime)
                } catch {
                    failure = error
                }
            }
            throw failure
        }
    }

    /// The descriptor, to wait for beside other things.
    var descriptor: Int32 { socket.descriptor }

    /// Sends all of `bytes`, waiting for room until `deadline`.
    func send(_ bytes: [UInt8], until deadline: MonotonicTime) throws(ClientError) {
        let outgoing = ByteBuffer(capacity: bytes.count)
        outgoing.append(bytes)
        do {
            while !outgoing.isEmpty {
                if try socket.write(from: outgoing) == nil {
                    guard try socket.wait(for: .writable, until: deadline) else {
                        throw ClientError.timedOut("the call")
                    }
                }
            }
        } catch let error as ClientError {
            throw error
        } catch {
            throw .broken("the connection to the service broke while asking")
        }
    }

    /// Reads what is there, waiting for the first byte until `deadline`; nil does not wait.
    func receive(until deadline: MonotonicTime?) throws(ClientError) -> Received {
        do {
            while true {
                if let count = try socket.read(into: incoming, max: Self.readSize) {
                    if count == 0 { return .end }
                    return .bytes(incoming.take(incoming.count))
                }
                guard let deadline else { return .nothingNow }
                guard try socket.wait(for: .readable, until: deadline) else { return .nothingNow }
            }
        } catch {
            throw .broken("the connection to the service broke")
        }
    }
}

extension SocketError {
    /// `ECONNREFUSED`, for a name that has no address at all.
    fileprivate static let nobodyListens = SocketError(errno: 111, call: "connect")
}
