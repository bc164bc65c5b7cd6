// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import Core
internal import CryptoEngine
internal import Policy
internal import Wire

/// From the first byte of a handshake to a session, a pairing or a refusal (spec 03 section 5).
extension Connection {
    // MARK: Handshake and admission

    func queueHandshake() {
        isQueued = true
        worker.queueHandshake(of: self)
    }

    /// Its turn has come.
    func continueHandshake() {
        isQueued = false
        if case .handshaking = phase, let tls { handshake(tls) }
    }

    private func handshake(_ tls: TLSConnection) {
        tls.advance()
        if tls.sawClientHello, !saidClientHello {
            saidClientHello = true
            let id = id
            worker.context.core.enter { core, _ in core.connectionSentClientHello(id) }
        }
        switch tls.state {
        case .handshaking: flush()
        case .ready:
            flush()
            if case .handshaking = phase { ready(tls) }
        case .closedByPeer: fail(.peerLeft)
        case .failed(let reason, _): fail(HandshakeFailure(rawValue: reason.rawValue) ?? .peerLeft)
        }
    }

    /// Step C and, when no gate holds the connection, registering: one entry into the core.
    private func ready(_ tls: TLSConnection) {
        let (id, alpn, key) = (id, tls.negotiatedALPN, tls.peerFingerprint)
        let counters = SessionCounters()
        let mayBeCable = mayBeCable
        let admission = worker.context.core.enter { core, moment -> Admission in
            switch core.connectionReady(id, alpn: alpn, key: key, moment) {
            case .session(nil) where mayBeCable: .readCable
            case .session(nil): .registered(core.register(id, hello: nil, counters: counters, moment))
            case .session(let floor?): .gate(floor)
            case .pairing: .pairing
            case .goodbye(let goodbye): .registered(.goodbye(goodbye))
            case .refuse: .registered(.refuse)
            }
        }
        switch admission {
        case .registered(let verdict): registered(verdict, tls, hello: false)
        case .readCable: readCable(hello: nil)
        case .gate(let floor):
            let gate = GateReader(floor: floor)
            phase = .gate(gate)
            startTimer(worker.context.times.gate)
            readEarly(tls, limit: MessageHeader.size + MessageCaps.fromDevice) { judgeGate(gate) }
        case .pairing:
            // The deadline that began at accept goes on.
            phase = .pairing
            readEarly(tls, limit: PairingExchange.limit) { judgePairing() }
        }
    }

    private enum Admission: Sendable {
        case registered(RegisterVerdict)
        case readCable
        case gate(Version)
        case pairing
    }

    private func registered(_ verdict: RegisterVerdict, _ tls: TLSConnection, hello wasRead: Bool) {
        isPending = false
        switch verdict {
        case .session(let view):
            cancelTimer()
            let relay = SessionRelay(view, connection: self, tls: tls, helloWasRead: wasRead)
            let gateRead = early
            early = nil
            phase = .session(relay)
            worker.sessionBegan()
            relay.start(early: gateRead)
        case .goodbye(let goodbye): farewell(goodbye)
        case .refuse: leave(within: worker.context.times.farewell)
        }
    }

    // MARK: Gate and pairing

    /// Bytes for a peer that waits to be admitted: the handshake's last, and some key updates.
    private static let mostAnswers = 16_384

    /// Collects plaintext up to `limit` and asks `judge`; the end of the stream closes.
    func readEarly(_ tls: TLSConnection, limit: Int, judge: () -> Void) {
        let early = early ?? ByteBuffer()
        self.early = early
        while early.count < limit, tls.read(into: early, limit: min(limit - early.count, 16_384)) > 0 {}
        // Key updates, of which each asks for another: nobody who has one thing to say sends hundreds.
        if tls.outbound.count > Self.mostAnswers {
            fail(.badMessage)
            return closeNow()
        }
        judge()
        switch phase {
        case .gate where tls.state != .ready: refuseAtGate(hello: nil)
        case .pairing where tls.state != .ready: closeNow()
        default: break
        }
    }

    func judgeGate(_ gate: GateReader) {
        guard let early, let tls else { return }
        switch early.withSpan({ gate.judge($0) }) {
        case .wait: break
        case .refuse(let hello): refuseAtGate(hello: hello)
        case .admit(let hello):
            if mayBeCable { readCable(hello: hello) } else { register(hello, .not(.notLinkLocal), tls) }
        }
    }

    private func register(_ hello: Hello?, _ cable: CableVerdict, _ tls: TLSConnection) {
        let id = id
        let counters = SessionCounters()
        let verdict = worker.context.core.enter { core, moment in
            core.register(id, hello: hello, counters: counters, cable: cable, moment)
        }
        registered(verdict, tls, hello: hello != nil)
    }

    /// Only a link-local source with a zone can be the cable, and only at home (04 §1, §3.1).
    private var mayBeCable: Bool {
        door == .home && peer.ip.family == .v6 && peer.ip.isLinkLocal && peer.ip.scope != 0
    }

    /// Registering waits for the cable rule; what the device sends meanwhile waits in the socket.
    private func readCable(hello: Hello?) {
        phase = .admitted(hello)
        startTimer(worker.context.times.pending)
        flush()
        worker.readCable(of: id, peer.ip)
    }

    /// The cable rule has judged this connection.
    func cableRead(_ verdict: CableVerdict) {
        if case .not(let reason) = verdict {
            worker.context.log(LogLine(.debug, "not the cable", [("why", reason.rawValue)]))
        }
        switch phase {
        case .admitted(let hello):
            guard let tls else { return }
            watchFor(readable: true, writable: !tls.outbound.isEmpty)
            register(hello, verdict, tls)
        case .deciding:
            guard let ask else { return }
            self.ask = nil
            let id = id
            worker.context.core.enter { core, moment in
                core.pairingMessage(id, ask, cable: verdict, moment)
            }
        default: break
        }
    }

    func refuseAtGate(hello: Hello?) {
        isPending = false
        let id = id
        let (delay, goodbye) = worker.context.core.enter { core, moment in
            (core.gateRefused(id, moment), core.updateGoodbye(hello))
        }
        early = nil
        guard delay > .zero else { return farewell(goodbye) }
        phase = .gateRefused(goodbye)
        startTimer(delay)
    }

    func judgePairing() {
        guard let early else { return }
        switch early.withSpan({ PairingExchange.judge($0) }) {
        case .wait: break
        case .bad: fail(.badMessage)
        case .request(let request):
            self.early = nil
            isPending = false
            phase = .deciding
            startTimer(worker.context.times.pairingDecision)
            if request.method == "ask" && mayBeCable {
                ask = request
                return worker.readCable(of: id, peer.ip)
            }
            let id = id
            worker.context.core.enter { core, moment in core.pairingMessage(id, request, moment) }
        }
    }

    /// The core's answer to the kind 19: sent, then closed when it was handed over or the time is up.
    func answer(_ result: PairResult) {
        guard case .deciding = phase, let tls else { return }
        say(.pairResult, result.encode(), tls)
        leave(within: worker.context.times.pairingAnswer)
    }
}
