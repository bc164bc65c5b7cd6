// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Sockets

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

    private let reads: any DispatchSourceRead
    private let writes: any DispatchSourceWrite
    // Whether a source is armed. A source is suspended before its event is handed on, so these are right whenever the
    // owner looks.
    private var awaitsReading = false
    private var awaitsWriting = false

    /// `ready` is called on `queue`; it answers whether its owner is still there to ask again.
    init(_ socket: SharedSocket, queue: DispatchQueue, ready: @escaping @Sendable (Readiness) -> Bool) {
        let descriptor = socket.socket.descriptor
        let reads = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        let writes = DispatchSource.makeWriteSource(fileDescriptor: descriptor, queue: queue)
        reads.setEventHandler {
            reads.suspend()
            if !ready(.reading) { reads.resume() }
        }
        writes.setEventHandler {
            writes.suspend()
            if !ready(.writing) { writes.resume() }
        }
        // The descriptor must stay open until the sources have let go of it; cancelling also drops the handlers, and
        // with them their hold on the sources.
        reads.setCancelHandler { _ = socket }
        writes.setCancelHandler { _ = socket }
        self.reads = reads
        self.writes = writes
    }

    /// Asks to be told once when there is something to read.
    func awaitReading() {
        guard !awaitsReading else { return }
        awaitsReading = true
        reads.resume()
    }

    /// Asks to be told once when there is room to write.
    func awaitWriting() {
        guard !awaitsWriting else { return }
        awaitsWriting = true
        writes.resume()
    }

    /// To be called for each event before asking again.
    func received(_ readiness: Readiness) {
        switch readiness {
        case .reading: awaitsReading = false
        case .writing: awaitsWriting = false
        }
    }

    deinit {
        reads.cancel()
        writes.cancel()
        // A suspended source may not be released.
        if !awaitsReading { reads.resume() }
        if !awaitsWriting { writes.resume() }
    }
}
