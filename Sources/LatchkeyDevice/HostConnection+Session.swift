// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Sockets
internal import Wire

/// What a session does on top of a connection: hello first, a ping every quarter second, an eye on silence.
/// What whoever keeps a session has to know of it at once.
enum SessionNote: Sendable {
    /// A window list that decodes.
    case windowList(WindowListFacts)
    /// A host info; nil for one that does not hold.
    case hostInfo(VerifiedHostInfo?)
    /// The fence's answer is in.
    case fencePassed
    /// Nothing more comes.
    case ended
}

extension HostConnection {
    /// 01 section 2.1.
    private static let pingInterval: Duration = .milliseconds(250)

    /// Sends the hello, a viewport when there is one, and starts the pings, then waits for the first window list; nil, or
    /// why there was none.
    func beginSession(
        _ hello: Hello, viewport: [UInt8]? = nil, servedWithin limit: Duration
    ) async -> DeviceError? {
        queueMessage(.hello, hello.encode())
        if let viewport { queueMessage(.viewport, viewport) }
        tick()
        setDeadline(limit)
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if hasEnded || session?.isServed == true {
                    continuation.resume()
                } else {
                    servedWaiter = continuation
                }
            }
        } onCancel: {
            Task { await self.close() }
        }
        clearDeadline()
        if session?.isServed == true { return nil }
        if let goodbye = session?.goodbye { return Self.meaning(of: goodbye) }
        return failure ?? ConnectionFailure.ended(facts)
    }

    /// Keeps the session's books as a message comes in, before anybody reads it.
    func noteSession(_ message: Message) {
        guard let before = session.map({ (list: $0.windowList, info: $0.hostInfo, newest: $0.newestInfo) })
        else { return }
        let verified = session?.received(message, at: monotonicNow())
        switch message.header.kind {
        // A host may say the same as often as it likes: only news is told, and costs a look at what is saved.
        case .windowList:
            if let list = session?.windowList, list != before.list { note(.windowList(list)) }
        case .hostInfo:
            let isNews =
                verified.map { $0.info.issuedAt > before.newest || before.info == .none }
                ?? (before.info != .bad)
            if isNews { note(.hostInfo(verified)) }
        case .pong:
            if message.payload == fencePing, fencePing != nil {
                fencePing = nil
                note(.fencePassed)
            }
        default: break
        }
        if session?.isServed == true {
            servedWaiter?.resume()
            servedWaiter = nil
        }
        // The host closes too; ours may as well be first, since nothing more will be said.
        if session?.goodbye != nil { end(nil) }
    }

    /// Sends a ping whose answer proves that the host has read all that was sent before it, and that all it sent before
    /// the answer has come.
    func sendFence() {
        let payload = SessionTracker.pingPayload(at: monotonicNow())
        fencePing = payload
        queueMessage(.ping, payload)
    }

    /// This device's way to the host came or went (06 B5).
    func path(isViable: Bool) { session?.path(isViable: isViable, at: monotonicNow()) }

    /// A remote session's way may lead nowhere for some seconds only.
    func isRemote() { session?.isRemote() }

    private func tick() {
        guard !hasEnded, session != nil else { return }
        let now = monotonicNow()
        session?.looked(at: now)
        if isHeldBack {
            session?.heard(at: now)
        } else if session?.isSilent(at: now) == true {
            return end(DeviceError(.lost, "nothing was heard from the host for too long", reachedPeer: true))
        }
        // A ping behind a full socket would only measure the queue.
        if unsentBytes == 0 { queueMessage(.ping, SessionTracker.pingPayload(at: now)) }
        queue.asyncAfter(deadline: .now() + Self.pingInterval.dispatchInterval) { [weak self] in
            guard let self else { return }
            Task { await self.tick() }
        }
    }

    /// What a goodbye before the first window list means to a dial (06 B3).
    static func meaning(of goodbye: Goodbye) -> DeviceError {
        let code: DeviceError.Code =
            switch goodbye.reason {
            case "removed": .revoked
            case "remoteOff": .remoteOff
            case "busy": .busy
            default: .goodbye
            }
        let shown = SessionGoodbye(goodbye)
        var error = DeviceError(code, shown.words, reachedPeer: true)
        error.goodbye = shown
        return error
    }
}
