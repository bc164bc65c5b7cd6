// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import Core
internal import CryptoEngine
internal import EventLoop
internal import Policy
internal import Sockets
internal import Synchronization
internal import Wire

/// One connection of a door, from accept to close (spec 03 section 5). Lives on its worker's thread.
///
/// The order of what may happen is ``Phase``; each phase has one thing it waits for and one timer that ends the wait.
/// How it is admitted is in `Connection+Admission.swift`.
final class Connection {
    enum Phase {
        /// Nothing came yet; no TLS state exists.
        case silent
        case handshaking
        /// Waits for the hello that the device floor asks for.
        case gate(GateReader)
        /// Refused by the gate; told so when the timer fires.
        case gateRefused(Goodbye)
        /// Admitted; waits for the cable rule before it is registered.
        case admitted(Hello?)
        /// Waits for the kind 19.
        case pairing
        /// The kind 19 is with the core.
        case deciding
        case session(SessionRelay)
        /// Last words, then our FIN, then what comes is dropped until the peer has closed or the timer fires.
        case leaving
        case closed
    }

    let id: ConnectionID
    let door: Door
    /// Where it comes from.
    let peer: SocketAddress
    /// Its source failed lately.
    let isSuspect: Bool
    let socket: Socket
    unowned let worker: DoorWorker
    var phase = Phase.silent
    private(set) var tls: TLSConnection?

    private var watch: Watch?
    private var timer: Timer?
    /// Bytes the kernel has taken from us in all.
    private(set) var sent: UInt64 = 0
    /// When something last came from the peer.
    private(set) var lastHeard: MonotonicTime
    /// Plaintext that waits for the gate or the pairing exchange to be whole.
    var early: ByteBuffer?
    /// The key the handshake was judged by, for the core to know a removed one again.
    private var shownKey: Fingerprint?
    /// An ask that waits for the cable rule.
    var ask: PairRequest?
    // Whether the core still counts this connection as pending.
    var isPending = true
    var saidClientHello = false
    // Whether bytes of the handshake wait for their turn.
    var isQueued = false
    private var sentFIN = false
    private var lingers = false
    // How much to read at once: small until a device sends much, so that an idle session holds little.
    private var readSize = DoorWorker.smallRead

    init(
        id: ConnectionID, door: Door, peer: SocketAddress, isSuspect: Bool, socket: consuming Socket,
        worker: DoorWorker
    ) {
        self.id = id
        self.door = door
        self.peer = peer
        self.isSuspect = isSuspect
        self.socket = socket
        self.worker = worker
        lastHeard = worker.now()
        watch = worker.loop.watch(self.socket.descriptor, readable: true, writable: false) {
            [unowned self] events in
            if events.contains(.readable) { readable() } else { writable() }
        }
        startTimer(worker.context.times.pending)
    }

    // MARK: Events

    private func readable() {
        switch phase {
        case .silent: firstBytes()
        // More than its turn can take: the rest waits in the socket.
        case .handshaking where isQueued: watchFor(readable: false, writable: watch?.isWriting ?? false)
        case .handshaking, .gate, .pairing, .session: moreBytes()
        case .gateRefused, .deciding, .leaving: discardBytes()
        // Not watched for: what comes waits in the socket.
        case .admitted, .closed: break
        }
    }

    private func writable() {
        if case .session(let relay) = phase { return relay.deviceWritable() }
        flush()
    }

    private func timeout() {
        switch phase {
        case .silent, .handshaking, .pairing: fail(.deadline)
        case .gate: refuseAtGate(hello: nil)
        case .gateRefused(let goodbye): farewell(goodbye)
        case .session(let relay): relay.timeout()
        case .admitted, .deciding, .leaving: closeNow()
        case .closed: break
        }
    }

    private func firstBytes() {
        let arriving = worker.arriving
        arriving.removeAll()
        switch receive(into: arriving, max: DoorWorker.smallRead) {
        case .nothing: return
        case .ended: return closeNow()
        case .bytes: break
        }
        let core = worker.context.core
        let door = door
        do {
            // The verify step reads the snapshot current at that moment and waits for nothing.
            let tls = try TLSConnection(server: worker.context.tls()) { [unowned self] facts in
                shownKey = facts.fingerprint
                return core.trust.verify(door: door, alpn: facts.alpn, key: facts.fingerprint)
            }
            self.tls = tls
            arriving.move(arriving.count, to: tls.inbound)
            phase = .handshaking
            queueHandshake()
        } catch {
            worker.context.log(LogLine(.error, "no TLS state", [("problem", error.message)]))
            closeNow()
        }
    }

    private func moreBytes() {
        guard let tls else { return }
        switch receive(into: tls.inbound, max: readSize) {
        case .nothing: return
        case .ended(let wasReset):
            if case .session(let relay) = phase { return relay.deviceEnded(wasReset: wasReset) }
            tls.receiveEnd()
        case .bytes(let count):
            if count == readSize { readSize = min(readSize * 4, DoorWorker.chunk) }
        }
        switch phase {
        case .handshaking: queueHandshake()
        case .gate(let gate):
            readEarly(tls, limit: MessageHeader.size + MessageCaps.fromDevice) { judgeGate(gate) }
        case .pairing: readEarly(tls, limit: PairingExchange.limit) { judgePairing() }
        case .session(let relay): relay.deviceSpoke()
        default: break
        }
    }

    private func discardBytes() {
        let arriving = worker.arriving
        arriving.removeAll()
        let received = receive(into: arriving, max: DoorWorker.smallRead)
        arriving.removeAll()
        guard case .ended(let wasReset) = received else { return }
        switch phase {
        // It may have ended only its own half, and waits for the answer or the goodbye.
        case .deciding where !wasReset, .gateRefused where !wasReset:
            watchFor(readable: false, writable: false)
        default: closeNow()
        }
    }

    private enum Received {
        case bytes(Int)
        case nothing
        case ended(wasReset: Bool)
    }

    private func receive(into buffer: ByteBuffer, max: Int) -> Received {
        do {
            guard let count = try socket.read(into: buffer, max: max) else { return .nothing }
            if count == 0 { return .ended(wasReset: false) }
            lastHeard = worker.now()
            return .bytes(count)
        } catch {
            return .ended(wasReset: true)
        }
    }

    // MARK: Sessions

    /// The core ends the session: with a goodbye, or cut without one.
    func end(_ session: SessionID, _ goodbye: Goodbye?) {
        guard case .session(let relay) = phase, relay.id == session else { return }
        if let goodbye { relay.requestGoodbye(goodbye, .goodbye) } else { relay.cut(.stopped) }
    }

    func hostInfoChanged(_ info: [UInt8]) {
        if case .session(let relay) = phase { relay.hostInfoChanged(info) }
    }

    /// The service stops: a session says goodbye, anything else that is not on its way out is closed.
    func stop() {
        switch phase {
        case .session(let relay): relay.requestGoodbye(.quit, .stopped)
        case .leaving, .closed: break
        default: closeNow()
        }
    }

    func sweep(at now: MonotonicTime) {
        guard case .session(let relay) = phase else { return }
        relay.sweep(at: now)
        readSize = DoorWorker.smallRead
    }

    /// A second ends; nil for anything but a session that goes on.
    func closeSecond(at now: MonotonicTime) -> SessionSecond? {
        if case .session(let relay) = phase { relay.closeSecond(at: now) } else { nil }
    }

    func judgeAfresh(at now: MonotonicTime) {
        if case .session(let relay) = phase { relay.judgeAfresh(at: now) }
    }

    // MARK: Sending and closing

    /// Encrypts one message of ours; how many bytes of it TLS has taken.
    @discardableResult
    func say(_ kind: MessageKind, _ payload: [UInt8], _ tls: TLSConnection) -> Int {
        let message = ByteBuffer()
        message.append(encodeMessage(kind: kind, timestamp: wallNow().seconds, payload: payload))
        let count = message.count
        while !message.isEmpty, tls.write(message, limit: message.count) > 0 {}
        return count - message.count
    }

    /// Writes what waits for the peer; false when the connection is broken.
    func flushOutbound() -> Bool {
        guard let out = tls?.outbound else { return true }
        do {
            while !out.isEmpty {
                guard let count = try socket.write(from: out) else { break }
                sent &+= UInt64(count)
            }
            return true
        } catch {
            return false
        }
    }

    /// Where in all that was ever for the peer the ciphertext ends that TLS has made so far.
    var cipherEnd: UInt64 { sent &+ UInt64(tls?.outbound.count ?? 0) }

    /// What the socket is watched for.
    func watchFor(readable: Bool, writable: Bool) { watch?.set(readable: readable, writable: writable) }

    func cancelTimer() { timer?.cancel() }

    /// One timer serves the phase: starting it anew replaces what it stood for.
    func startTimer(_ delay: Duration) {
        if let timer { return timer.start(after: delay) }
        timer = worker.loop.timer(after: delay) { [unowned self] in timeout() }
    }

    func flush() {
        guard flushOutbound() else { return closeNow() }
        let waits = tls.map { !$0.outbound.isEmpty } ?? false
        if case .leaving = phase, !waits, !sentFIN {
            sentFIN = true
            socket.shutdownWrite()
        }
        var reads = true
        if case .admitted = phase { reads = false }
        watchFor(readable: reads, writable: waits)
    }

    /// A goodbye to a connection that was never registered (spec 03 section 11.3).
    func farewell(_ goodbye: Goodbye) {
        guard let tls else { return closeNow() }
        say(.goodbye, goodbye.encode(), tls)
        leave(within: worker.context.times.farewell)
    }

    /// Ends our side once everything is sent, and drops what still comes until the peer has ended too.
    ///
    /// Closing at once with unread bytes would make the kernel answer with a reset, which can overtake our last words.
    func leave(within time: Duration?) {
        tls?.shutdown()
        if let time {
            startTimer(time)
        } else if timer?.isPending != true {
            startTimer(worker.context.times.farewell)
        }
        early = nil
        phase = .leaving
        if !lingers {
            lingers = worker.mayLinger()
            guard lingers else {
                _ = flushOutbound()
                return closeNow()
            }
        }
        flush()
    }

    func fail(_ why: HandshakeFailure) {
        if isPending {
            isPending = false
            let (id, key) = (id, shownKey)
            worker.context.core.enter { core, moment in core.connectionFailed(id, why, key: key, moment) }
        }
        // An alert is worth waiting for; without one there is nothing to say.
        if let tls, !tls.outbound.isEmpty || tls.state == .ready, why != .peerLeft {
            leave(within: worker.context.times.farewell)
        } else {
            closeNow()
        }
    }

    /// Closes now, whatever waits; a session that still runs ends as stopped.
    func closeNow() {
        switch phase {
        case .closed: return
        case .session(let relay): relay.ended(.stopped)
        default: break
        }
        if isPending {
            isPending = false
            let id = id
            worker.context.core.enter { core, moment in core.connectionLeft(id, moment) }
        }
        // Unsent bytes would keep the kernel talking to a peer we are done with.
        if let tls, !tls.outbound.isEmpty { socket.resetOnClose() }
        phase = .closed
        watch = nil
        timer = nil
        tls = nil
        if lingers { worker.lingeringEnded() }
        worker.remove(id)
    }
}
