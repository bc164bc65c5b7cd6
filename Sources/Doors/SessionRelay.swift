// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import Core
internal import CryptoEngine
internal import EventLoop
internal import Policy
internal import Sockets
internal import Synchronization
internal import Wire

/// One session between a device and the backend: moves bytes both ways and keeps what is held for either side small
/// (09.7). What may pass, and where the relay's own messages stand, is decided by ``HostStream`` and ``DeviceStream``.
final class SessionRelay {
    /// Bytes held for a slow device from which on the backend is not read: one more chunk and what TLS adds stay within
    /// the 256 KiB of 09.7.
    private static let deviceHold = RelayMeter.hold - DoorWorker.chunk - 1_024
    /// Plaintext held for a slow backend beyond which the device is not decrypted.
    private static let backendHold = 65_536
    /// Bytes held for a slow device beyond which it is not read either. The stream alone never comes to that; what TLS
    /// itself answers to does (a key update asks for another), and nothing else would end it. One more chunk of requests
    /// has as many bytes of answers.
    private static let answersHold = RelayMeter.hold
    /// Allocations of an idle session up to this size are kept: its pings need them four times a second.
    private static let keptAllocation = 8_192

    enum Ending {
        case no
        /// A goodbye waits for the end of the message in progress.
        case goodbye(Goodbye, SessionEnd)
        /// Everything is written but not yet taken.
        case flushing(SessionEnd)
        /// Reported; the connection does the rest.
        case done
    }

    var id: SessionID { view.id }

    let view: SessionView
    unowned let connection: Connection
    unowned let worker: DoorWorker
    let tls: TLSConnection
    let admittedAt: MonotonicTime
    var fromHost = HostStream()
    private var fromDevice: DeviceStream
    var backend: BackendLink?
    var ending = Ending.no
    private(set) var unsent = UnsentAge()
    /// The device's close_notify has been read.
    private(set) var deviceHasEnded = false
    /// Its TCP stream has ended; what it said before may still wait to be decrypted.
    private(set) var socketHasEnded = false
    private var pendingInfo: [UInt8]?
    /// Counts this session's seconds.
    var meter = SessionMeter()
    /// The hold is full, and has not yet fallen to where the backend is read again.
    private(set) var isHolding = false

    init(
        _ view: SessionView, connection: Connection, tls: TLSConnection, helloWasRead: Bool
    ) {
        self.view = view
        self.connection = connection
        self.tls = tls
        worker = connection.worker
        admittedAt = connection.worker.now()
        fromDevice = DeviceStream(helloWasRead: helloWasRead)
    }

    /// Dials the backend and takes what the device has sent already, `early` the part that the gate has decrypted.
    func start(early: ByteBuffer?) {
        guard let target = worker.context.backend else {
            return fail("Nothing streams on this host now.", problem: "no backend is configured")
        }
        do {
            let link = try BackendLink(
                target, first: ProxyHeader.encode(view), loop: worker.loop,
                ready: { [unowned self] in backendReady($0) })
            backend = link
            if link.isConnecting { connection.startTimer(worker.context.times.backend) }
        } catch {
            return fail("The streaming program on this host does not answer.", problem: error.message)
        }
        if let early, !early.isEmpty {
            view.counters.bytesIn.wrappingAdd(UInt64(early.count), ordering: .relaxed)
            early.moveAll(to: worker.upstream)
            passUpstream()
        }
        flushBackend()
        deviceReadable()
    }

    // MARK: Device

    /// Ciphertext came.
    func deviceSpoke() {
        meter.heardDevice()
        deviceReadable()
    }

    /// There is ciphertext, or room for what it says.
    func deviceReadable() {
        pumpDevice()
        settle()
    }

    func deviceWritable() {
        let wasFull = isFullOfAnswers
        settle()
        // What it said before may wait in TLS, where no event tells of it.
        guard wasFull, !isFullOfAnswers, case .no = ending else { return }
        deviceReadable()
    }

    /// The device's stream has ended below TLS. After a close_notify that is its half; without one it is gone.
    func deviceEnded(wasReset: Bool) {
        if wasReset { return cut(.peerReset) }
        socketHasEnded = true
        tls.receiveEnd()
        pumpDevice()
        settle()
    }

    private func pumpDevice() {
        // A flush may make the room that was missing, and then TLS is asked again: nothing would ever tell of what stays
        // in it, since its socket is empty and the backend's has taken everything.
        var isDrained = false
        repeat {
            isDrained = takeFromDevice()
            flushBackend()
        } while !isDrained && canTakeFromDevice
        switch tls.state {
        case .closedByPeer where !deviceHasEnded:
            deviceHasEnded = true
            backend?.endsAfterFlush = true
        case .failed(let reason, _) where !deviceHasEnded:
            // What the device had said goes on to the backend as far as it takes it.
            flushBackend()
            cut(reason == .peerLeft ? .peerClosed : .protocolError)
        default: break
        }
        flushBackend()
    }

    /// Decrypts while there is room for it; whether TLS has nothing more for now.
    private func takeFromDevice() -> Bool {
        let plain = worker.upstream
        while canTakeFromDevice {
            let count = tls.read(into: plain, limit: DoorWorker.chunk)
            guard count > 0 else { return true }
            view.counters.bytesIn.wrappingAdd(UInt64(count), ordering: .relaxed)
            passUpstream()
        }
        return false
    }

    var canTakeFromDevice: Bool {
        if case .done = ending { return false }
        guard !deviceHasEnded, !fromDevice.isOver, !isFullOfAnswers else { return false }
        // Without a backend the bytes go nowhere, but pings still prove that the device lives.
        return backend.map { $0.outgoing.count < Self.backendHold } ?? true
    }

    private var isFullOfAnswers: Bool { tls.outbound.count > Self.answersHold }

    private func passUpstream() {
        let plain = worker.upstream
        while let step = plain.withSpan({ fromDevice.next($0) }) {
            switch step {
            case .pass(let count):
                if let backend, !backend.isDeaf {
                    plain.move(count, to: backend.outgoing)
                } else {
                    plain.consume(count)
                }
            case .drop(let count): plain.consume(count)
            case .held(let bytes): if let backend, !backend.isDeaf { backend.outgoing.append(bytes) }
            case .pairingWanted:
                let id = id
                worker.context.core.enter { core, moment in core.pairingWanted(id, moment) }
            case .hello(let payload):
                // One that does not decode is ignored (01 section 9.3).
                guard let hello = try? Hello(payload: payload) else { continue }
                let id = id
                worker.context.core.enter { core, moment in core.sessionHello(id, hello, moment) }
            case .tooLong:
                plain.removeAll()
                flushBackend()
                return cut(.tooLong)
            }
        }
    }

    // MARK: Backend

    private func backendReady(_ events: IOEvents) {
        guard let backend else { return }
        if backend.isConnecting {
            do { try backend.finishConnecting() } catch {
                return fail("The streaming program on this host does not answer.", problem: error.message)
            }
            if case .no = ending { connection.cancelTimer() }
        }
        if events.contains(.readable) { pumpBackend(backend) }
        flushBackend()
        pumpDevice()
        settle()
    }

    private func pumpBackend(_ backend: BackendLink) {
        guard !backend.hasEnded, !isHolding else { return }
        let plain = worker.downstream
        plain.removeAll()
        switch backend.receive(into: plain, max: DoorWorker.chunk) {
        case .nothing: return
        case .bytes: passDownstream(plain)
        case .ended(let problem): backendEnded(problem)
        }
    }

    func passDownstream(_ plain: ByteBuffer) {
        while let step = plain.withSpan({
            fromHost.next($0, at: meter.position, noting: &meter.frames)
        }) {
            switch step {
            case .pass(let count):
                guard tls.write(plain, limit: count) == count else {
                    plain.removeAll()
                    return cut(.protocolError)
                }
                meter.wrote(count, cipherEnd: connection.cipherEnd)
                view.counters.bytesOut.wrappingAdd(UInt64(count), ordering: .relaxed)
            case .drop(let count): plain.consume(count)
            case .started: if case .no = ending { connection.startTimer(worker.context.times.hostInfo) }
            case .hostInfo: sayHostInfo()
            case .goodbye: sayGoodbye()
            case .broken(let isClean):
                plain.removeAll()
                backendBroke(isClean: isClean)
                return
            }
        }
    }

    func flushBackend() {
        guard let backend, !backend.isConnecting else { return }
        backend.flush()
    }

    // MARK: The relay's own messages

    /// Something changed: kind 18 again, between two messages, to a device that had one.
    func hostInfoChanged(_ info: [UInt8]) {
        guard case .no = ending else { return }
        pendingInfo = info
        fromHost.hostInfoChanged()
        passDownstream(worker.empty)
        pendingInfo = nil
        settle()
    }

    private func sayHostInfo() {
        if let info = pendingInfo ?? worker.context.hostInfo() { say(.hostInfo, info) }
        pendingInfo = nil
    }

    private func sayGoodbye() {
        guard case .goodbye(let goodbye, let why) = ending else { return }
        say(goodbye)
        finish(why)
    }

    /// Puts a goodbye into the stream. One of the relay's own is news to the core; its own it knows.
    func say(_ goodbye: Goodbye) {
        say(.goodbye, goodbye.encode())
        let id = id
        worker.context.core.enter { core, moment in core.sessionSaidGoodbye(id, goodbye, moment) }
    }

    private func say(_ kind: MessageKind, _ payload: [UInt8]) {
        let count = connection.say(kind, payload, tls)
        meter.wrote(count, cipherEnd: connection.cipherEnd)
    }

    /// Looked at once a second (03 section 14); also when quiet sessions give memory back.
    func sweep(at now: MonotonicTime) {
        if case .done = ending { return }
        let isReading = canTakeFromDevice && !socketHasEnded
        // A device that is not read, because the backend takes nothing, cannot be heard and is not silent.
        let facts = SessionSweep.Facts(
            door: view.door, admittedAt: admittedAt, heardAt: isReading ? connection.lastHeard : now,
            waitingSince: unsent.oldest, tookAt: unsent.waitingSince ?? now)
        switch SessionSweep.cut(facts, at: now) {
        case .silent: return cut(.silent)
        case .notDraining: return cut(.notDraining)
        case nil: break
        }
        // A socket that is not read shows a reset only when asked.
        if !isReading, connection.socket.connectError() != 0 { return cut(.peerReset) }
        if tls.inbound.capacity + tls.outbound.capacity > Self.keptAllocation { tls.releaseIdleMemory() }
        backend?.releaseIdleMemory(above: Self.keptAllocation)
        meter.releaseIdleMemory()
    }

    // MARK: Flow

    /// Writes what can be written, closes what is over, and asks the loop for what is wanted next.
    func settle() {
        if case .done = ending { return }
        guard connection.flushOutbound() else { return cut(.peerReset) }
        let waiting = tls.outbound.count
        let now = worker.now()
        meter.took(cipher: connection.sent, at: now)
        if waiting > 0 || unsent.waitingSince != nil {
            unsent.note(taken: connection.sent, waiting: waiting, at: now)
        }
        if case .flushing(let why) = ending, waiting == 0 {
            ended(why)
            return connection.leave(within: nil)
        }
        connection.watchFor(readable: canTakeFromDevice && !socketHasEnded, writable: waiting > 0)
        hold(waiting, at: now)
        var wantsMore = !isHolding
        if case .flushing = ending { wantsMore = false }
        backend?.watchFor(readable: wantsMore)
    }

    /// Stops reading the backend when the hold is full, and goes on when little enough is left (06 C3).
    private func hold(_ waiting: Int, at now: MonotonicTime) {
        if !isHolding, waiting >= Self.deviceHold {
            isHolding = true
            meter.stopped(at: now)
        } else if isHolding, waiting <= RelayMeter.resumeAt {
            isHolding = false
            meter.resumed(backendHadBytes: backend?.hasBytesReady ?? false, at: now)
        }
    }
}
