// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import CryptoEngine
internal import Dispatch
internal import Sockets
internal import Wire

/// One TLS connection to a host: whole messages out and in.
///
/// Owns socket, TLS engine and message reader; what a session adds (hello, pings, liveness) is in
/// `HostConnection+Session.swift`.
actor HostConnection {
    /// One read of the socket; each counts as a sign of life (06 B5).
    private static let readSize = 262_144
    /// Unread messages may hold this much before the socket is read no further; one message more always fits.
    private static let inboxLimit = 4_194_304
    /// Ciphertext that may wait before ``send(_:)`` makes its caller wait.
    private static let outboxLimit = 1_048_576

    private enum Phase { case idle, connecting, handshaking, open, ended }

    /// What was dialled: the address as the system connects to it, with its interface when it is link-local.
    nonisolated let peer: SocketAddress
    /// This end's address, which says the interface; nil when the system does not tell.
    nonisolated let local: IPAddress?
    /// Where socket events and timers come in.
    let queue: DispatchQueue
    private let tls: TLSConnection
    private var socket: SharedSocket?
    private var watch: SocketWatch?
    private var reader: MessageReader
    private let plaintext = ByteBuffer(capacity: 0)

    private var phase = Phase.idle
    /// What is known for wording an end.
    private(set) var facts: ConnectionFailure.Facts
    /// Why it ended; nil while it lives and after an orderly end.
    private(set) var failure: DeviceError?

    private var inbox: [Message] = []
    private var inboxStart = 0
    private var inboxBytes = 0

    private var openWaiter: CheckedContinuation<Void, Never>?
    private var messageWaiters: [CheckedContinuation<Void, Never>] = []
    private var drainWaiters: [CheckedContinuation<Void, Never>] = []
    private var deadline = 0

    /// What a session adds, from the moment the handshake is over: a host may say all it has to say before this side
    /// has sent its hello. nil on a pairing connection.
    var session: SessionTracker?
    /// Told of what a session is about, as it comes in and before anybody reads it.
    private let onNote: @Sendable (SessionNote) -> Void
    /// The same, for whoever took the session over.
    private var follower: (@Sendable (SessionNote) -> Void)?
    /// The ping of a fence that is not answered yet.
    var fencePing: [UInt8]?
    /// Who waits for the first window list.
    var servedWaiter: CheckedContinuation<Void, Never>?

    /// Prepares a connection over a socket whose connect is under way. `pins` nil accepts any P-256 key: the proof that
    /// follows is bound to it. Throws when TLS cannot be set up.
    init(
        _ socket: SharedSocket, to peer: SocketAddress, identity: TLSClientContext, alpn: ALPN,
        pins: [Fingerprint]?,
        cap: @escaping @Sendable (MessageHeader) -> Int,
        onNote: @escaping @Sendable (SessionNote) -> Void = { _ in }
    ) throws(CryptoError) {
        self.peer = peer
        self.onNote = onNote
        local = socket.socket.localAddress()?.ip
        queue = DispatchQueue(label: "latchkey.device.connection")
        tls = try TLSConnection(client: identity, alpn: alpn.rawValue) { facts in
            guard let key = facts.fingerprint else { return false }
            return pins?.contains(key) ?? true
        }
        self.socket = socket
        facts = ConnectionFailure.Facts(alpn: alpn)
        reader = MessageReader(cap: cap)
    }

    /// The host's key as TLS proved it; nil before the handshake.
    var hostFingerprint: Fingerprint? { tls.peerFingerprint }

    /// For display: `TLSv1.3`.
    var tlsVersion: String { tls.tlsVersion }

    /// Nothing more comes or goes.
    var hasEnded: Bool { phase == .ended }

    /// Unread messages hold as much as they may: silence is then our own doing.
    var isHeldBack: Bool { inboxBytes >= Self.inboxLimit }

    // MARK: Opening

    /// Waits until the handshake is over from this side; nil, or why it failed.
    func open(within limit: Duration) async -> DeviceError? {
        guard phase == .idle, let socket else { return failure }
        phase = .connecting
        let watch = SocketWatch(socket, queue: queue) { [weak self] readiness in
            guard let self else { return false }
            // From a Dispatch callback; the connection's own actor does the work.
            Task { await self.ready(readiness) }
            return true
        }
        self.watch = watch
        watch.awaitWriting()
        setDeadline(limit)
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if phase == .ended { continuation.resume() } else { openWaiter = continuation }
            }
        } onCancel: {
            Task { await self.close() }
        }
        clearDeadline()
        return failure
    }

    private func ready(_ readiness: SocketWatch.Readiness) {
        guard phase != .ended, let socket = socket?.socket.descriptor, socket >= 0 else { return }
        switch readiness {
        case .reading: readSocket()
        case .writing: phase == .connecting ? finishConnecting() : flush()
        }
    }

    private func finishConnecting() {
        guard let code = socket?.socket.connectError() else { return }
        guard code == 0 else {
            return end(ConnectionFailure.meaning(of: SocketError(errno: code, call: "connect"), facts))
        }
        phase = .handshaking
        facts.stage = .handshaking
        watch?.awaitReading()
        flush()
    }

    // MARK: Receiving

    private func readSocket() {
        do {
            guard let count = try socket?.socket.read(into: tls.inbound, max: Self.readSize) else {
                watch?.awaitReading()
                return
            }
            if count == 0 {
                tls.receiveEnd()
            } else {
                facts.heardAnything = true
                session?.heard(at: monotonicNow())
            }
            advance()
        } catch {
            end(ConnectionFailure.meaning(of: error, facts))
        }
    }

    private func advance() {
        tls.advance()
        if phase == .handshaking, tls.state == .ready { finishHandshake() }
        if phase == .open {
            while phase == .open, tls.read(into: plaintext, limit: Self.readSize) > 0 { takePlaintext() }
        }
        guard phase != .ended else { return }
        flush()
        switch tls.state {
        case .failed(let reason, _): end(ConnectionFailure.meaning(of: reason, facts))
        case .closedByPeer: end(facts.heardMessage ? nil : ConnectionFailure.ended(facts))
        case .handshaking, .ready: if !isHeldBack { watch?.awaitReading() }
        }
    }

    private func finishHandshake() {
        // Both ends look again at what was decided on (01 section 4.1).
        guard tls.negotiatedALPN == facts.alpn.rawValue, let host = tls.peerFingerprint else {
            return end(
                DeviceError(.notSill, "what answers there speaks another protocol", reachedPeer: true))
        }
        phase = .open
        facts.stage = .open
        if facts.alpn == .session { session = SessionTracker(host: host, now: monotonicNow()) }
        openWaiter?.resume()
        openWaiter = nil
    }

    private func takePlaintext() {
        session?.received(bytes: plaintext.count)
        reader.append(plaintext.take(plaintext.count))
        do {
            while phase == .open, let message = try reader.next() {
                facts.heardMessage = true
                inbox.append(message)
                inboxBytes += MessageHeader.size + message.payload.count
                noteSession(message)
            }
        } catch {
            end(
                DeviceError(
                    .protocolError,
                    "the host announced a message of \(error.header.length) bytes, too long to take",
                    reachedPeer: true))
        }
        wakeReaders()
    }

    /// The next message; nil after an orderly end. Throws what ended the connection otherwise, once everything that
    /// came whole before it was returned.
    func next() async throws(DeviceError) -> Message? {
        while inboxStart == inbox.count {
            if phase == .ended {
                if let failure { throw failure }
                return nil
            }
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    if phase == .ended { continuation.resume() } else { messageWaiters.append(continuation) }
                }
            } onCancel: {
                Task { await self.close() }
            }
        }
        let message = inbox[inboxStart]
        inboxStart += 1
        let wasHeldBack = isHeldBack
        inboxBytes -= MessageHeader.size + message.payload.count
        if inboxStart == inbox.count {
            inbox.removeAll(keepingCapacity: inbox.count < 1024)
            inboxStart = 0
        }
        if wasHeldBack, !isHeldBack, phase == .open {
            session?.heard(at: monotonicNow())
            // What the engine holds already would wake no socket.
            advance()
        }
        return message
    }

    private func wakeReaders() {
        let waiters = messageWaiters
        messageWaiters = []
        waiters.forEach { $0.resume() }
    }

    // MARK: Sending

    /// Hands one message to the network. Waits while too much is unsent already; throws what ended the connection.
    func send(_ kind: MessageKind, _ payload: [UInt8]) async throws(DeviceError) {
        guard phase == .open else { throw failure ?? DeviceError(.closed, "the connection is closed") }
        queueMessage(kind, payload)
        while tls.pendingCiphertext > Self.outboxLimit, phase == .open {
            await withCheckedContinuation { drainWaiters.append($0) }
        }
        if let failure { throw failure }
    }

    /// Hands one message to the network without waiting.
    func queueMessage(_ kind: MessageKind, _ payload: [UInt8]) {
        guard phase == .open else { return }
        let bytes = ByteBuffer(capacity: 0)
        bytes.append(encodeMessage(kind: kind, timestamp: wallNow().seconds, payload: payload))
        _ = tls.write(bytes, limit: bytes.count)
        flush()
    }

    /// Ciphertext that the network has not taken.
    var unsentBytes: Int { tls.pendingCiphertext }

    private func flush() {
        guard phase == .handshaking || phase == .open else { return }
        do {
            while !tls.outbound.isEmpty {
                guard try socket?.socket.write(from: tls.outbound) != nil else {
                    watch?.awaitWriting()
                    break
                }
            }
        } catch {
            // The peer may have said why before it left, an alert above all: what it sent comes first.
            readLastWords(after: error)
        }
        if tls.pendingCiphertext <= Self.outboxLimit { resumeDrained() }
    }

    private func readLastWords(after error: SocketError) {
        while let count = try? socket?.socket.read(into: tls.inbound, max: Self.readSize), count > 0 {
            facts.heardAnything = true
        }
        tls.advance()
        if phase == .handshaking, tls.state == .ready { finishHandshake() }
        while phase == .open, tls.read(into: plaintext, limit: Self.readSize) > 0 { takePlaintext() }
        guard phase != .ended else { return }
        switch tls.state {
        case .failed(let reason, _): end(ConnectionFailure.meaning(of: reason, facts))
        case .closedByPeer: end(facts.heardMessage ? nil : ConnectionFailure.ended(facts))
        case .handshaking, .ready: end(ConnectionFailure.meaning(of: error, facts))
        }
    }

    private func resumeDrained() {
        let waiters = drainWaiters
        drainWaiters = []
        waiters.forEach { $0.resume() }
    }

    // MARK: Ending

    /// Ends the connection from this side; what came whole can still be read.
    func close() { end(phase == .open ? nil : DeviceError(.closed, "the connection was given up")) }

    /// Ends it; only the first reason counts.
    func end(_ error: DeviceError?) {
        guard phase != .ended else { return }
        if phase == .open { tls.shutdown() }
        // An alert or close_notify, as far as the kernel takes it at once.
        _ = try? socket?.socket.write(from: tls.outbound)
        phase = .ended
        failure = error
        watch = nil
        socket = nil
        openWaiter?.resume()
        openWaiter = nil
        servedWaiter?.resume()
        servedWaiter = nil
        wakeReaders()
        resumeDrained()
        note(.ended)
    }

    /// Tells those who want to know.
    func note(_ note: SessionNote) {
        onNote(note)
        follower?(note)
    }

    /// Tells `follower` too, from here on; answers what has been seen before.
    func follow(_ follower: @escaping @Sendable (SessionNote) -> Void) -> SessionTracker? {
        self.follower = follower
        if hasEnded { follower(.ended) }
        return session
    }

    /// Ends the connection with "no answer" after `limit`, unless it is cleared or set again before.
    func setDeadline(_ limit: Duration) {
        deadline += 1
        let mine = deadline
        queue.asyncAfter(deadline: .now() + limit.dispatchInterval) { [weak self] in
            guard let self else { return }
            Task { await self.deadlinePassed(mine) }
        }
    }

    /// Takes the deadline back.
    func clearDeadline() { deadline += 1 }

    private func deadlinePassed(_ number: Int) {
        if number == deadline { end(ConnectionFailure.timedOut(facts)) }
    }
}
