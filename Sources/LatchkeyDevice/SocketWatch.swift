// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Sockets
internal import Synchronization

/// A socket that its connection and the event sources own together: closed when the last of them lets go.
final class SharedSocket: Sendable {
    /// Nonblocking.
    let socket: Socket

    /// Takes the socket over.
    init(_ socket: consuming Socket) { self.socket = socket }
}

/// Tells a connection when its socket can be read or written, once for each time it asks.
///
/// One-shot, because the answer hops to the connection's actor: a source that stayed armed would fire again and again
/// until the hop arrived. Not Sendable: it belongs to the actor that made it.
final class SocketWatch {
    /// What a socket is ready for.
    enum Readiness: Sendable { case reading, writing }

    private let reads: Side
    private let writes: Side

    /// One source, and whether it is armed. Both are changed under one lock: an event may be on its way to the owner, its
    /// source suspended already, while the owner lets go.
    private final class Side: @unchecked Sendable {
        // Sendable: sources may be used from any thread (dispatch_source_create(3)), and each call is made under the lock.
        private enum Phase { case idle, armed, over }

        private let source: any DispatchSourceProtocol
        private let phase = Mutex(Phase.idle)

        init(_ source: any DispatchSourceProtocol) { self.source = source }

        /// `fired` is called once for each time it was armed; it answers whether its owner is still there to ask again.
        func begin(_ socket: SharedSocket, _ fired: @escaping @Sendable () -> Bool) {
            phase.withLock { _ in
                source.setEventHandler(qos: .unspecified, flags: []) {
                    self.disarm()
                    if !fired() { self.arm() }
                }
                // The descriptor must stay open until the source has let go of it; cancelling also drops the handlers,
                // and with them their hold on this.
                source.setCancelHandler(qos: .unspecified, flags: []) { _ = socket }
            }
        }

        func arm() {
            phase.withLock { phase in
                guard phase == .idle else { return }
                phase = .armed
                source.resume()
            }
        }

        private func disarm() {
            phase.withLock { phase in
                guard phase == .armed else { return }
                phase = .idle
                source.suspend()
            }
        }

        /// For good. A suspended source may not be released, and would not let go of the socket.
        func end() {
            phase.withLock { phase in
                source.cancel()
                if phase == .idle { source.resume() }
                phase = .over
            }
        }
    }

    /// `ready` is called on `queue`; it answers whether its owner is still there to ask again.
    init(_ socket: SharedSocket, queue: DispatchQueue, ready: @escaping @Sendable (Readiness) -> Bool) {
        let descriptor = socket.socket.descriptor
        reads = Side(DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue))
        writes = Side(DispatchSource.makeWriteSource(fileDescriptor: descriptor, queue: queue))
        reads.begin(socket) { ready(.reading) }
        writes.begin(socket) { ready(.writing) }
    }

    /// Asks to be told once when there is something to read.
    func awaitReading() { reads.arm() }

    /// Asks to be told once when there is room to write.
    func awaitWriting() { writes.arm() }

    deinit {
        reads.end()
        writes.end()
    }
}
