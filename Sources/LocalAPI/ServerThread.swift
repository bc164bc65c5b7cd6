// The HTTP thread. SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Sockets
internal import Wire

/// Everything that happens on the server's one thread: waiting, accepting, reading requests, calling handlers,
/// answering. Made, run and ended there.
final class ServerThread {
    /// What the thread starts with.
    struct Setup: Sendable {
        var listeners: [Int32]
        var callers: SocketCallers
        var rules: CallerRules
        var gatekeeper: @Sendable () -> Gatekeeper
        var mailbox: Mailbox
        var log: APIServer.Log
        var observe: APIServer.Observe
    }

    private let setup: Setup
    private let listeners: Listeners
    private let gatekeeper: Gatekeeper
    private let scan: HeaderScan
    private var daemon: HTTPDaemon?
    private var nextNumber: UInt64 = 1
    /// Requests whose handler has not answered yet; their connections are suspended.
    private var waiting: [UInt64: (exchange: Exchange, connection: HTTPConnection)] = [:]
    private var streams: [ObjectIdentifier: HTTPStream] = [:]
    /// When some stream or waiting request next needs a look; nil: none does.
    private var nextDue: MonotonicTime?
    private var isStopping = false
    /// Connections over TCP that have begun, and those given to the library since it last ran.
    private var tcpConnections = 0
    private var handedOver = 0
    /// Requests since the last look.
    private var finished = 0

    /// Starts the HTTP library; nil when the system lets it not.
    init?(_ setup: Setup) {
        self.setup = setup
        gatekeeper = setup.gatekeeper()
        scan = HeaderScan(rules: setup.rules)
        listeners = Listeners(setup.listeners)
        guard let daemon = HTTPDaemon(server: self) else { return nil }
        self.daemon = daemon
    }

    // MARK: The loop

    /// Serves until the mailbox says stop; then answers what waits and closes everything.
    func run() {
        guard let daemon else { return }
        let poller = Poller([daemon.descriptor, setup.mailbox.descriptor] + setup.listeners)
        while !isStopping {
            poller.wait(milliseconds: waitingTime(daemon))
            if poller.isReadable(1) { readMail() }
            for index in setup.listeners.indices where poller.isReadable(index + 2) {
                listeners.accept(index) { admit(daemon, $0, isUnix: $1) }
            }
            serve(daemon)
            lookAtDue(monotonicNow())
        }
        drain(daemon)
    }

    /// Runs the library while there are requests: under load that saves the wait's system call on most rounds. Others
    /// have their turn after a few.
    private func serve(_ daemon: HTTPDaemon) {
        var rounds = 0
        repeat {
            finished = 0
            daemon.run()
            handedOver = 0
            rounds += 1
        } while finished > 0 && rounds < ServerLimits.roundsAtOnce
    }

    /// Any user of this machine may connect over TCP, and from as many loopback addresses as it likes: some places are
    /// kept for the Unix socket, so that nobody can shut the owner out.
    private func admit(_ daemon: HTTPDaemon, _ socket: consuming Socket, isUnix: Bool) {
        if !isUnix {
            guard tcpConnections + handedOver < ServerLimits.tcpConnections else { return }
            handedOver += 1
        }
        daemon.add(socket)
    }

    /// The smaller of the library's timeout and ours, in milliseconds; -1: none.
    private func waitingTime(_ daemon: HTTPDaemon) -> Int32 {
        var timeout = daemon.timeout ?? -1
        if timeout != 0, let nextDue {
            let left = (nextDue - monotonicNow()).seconds
            let milliseconds = Int32(max(0, min(60_000, (left * 1000).rounded(.up))))
            timeout = timeout < 0 ? milliseconds : min(timeout, milliseconds)
        }
        return timeout
    }

    private func readMail() {
        let notes = setup.mailbox.take()
        for number in notes.answered { waiting.removeValue(forKey: number)?.connection.resume() }
        if notes.published { for stream in streams.values { stream.wake() } }
        if notes.stop { isStopping = true }
    }

    /// Sends comments on quiet streams and gives up on requests nobody answers.
    private func lookAtDue(_ now: MonotonicTime) {
        guard let due = nextDue, due <= now else { return }
        nextDue = nil
        for stream in streams.values {
            if stream.stream.commentDue <= now {
                stream.stream.oweComment()
                stream.wake()
                plan(now + .seconds(ServerLimits.commentSeconds))
            } else {
                plan(stream.stream.commentDue)
            }
        }
        for (exchange, _) in waiting.values {
            let deadline = exchange.began + .seconds(ServerLimits.answerSeconds)
            if deadline <= now {
                exchange.responder.send(.problem(ErrorAnswer.unanswered))
            } else {
                plan(deadline)
            }
        }
    }

    private func plan(_ time: MonotonicTime) {
        nextDue = nextDue.map { min($0, time) } ?? time
    }

    /// Ends streams, answers what waits, and lets the library write for at most half a second.
    private func drain(_ daemon: HTTPDaemon) {
        for stream in streams.values {
            stream.stream.end()
            stream.wake()
        }
        for (exchange, connection) in waiting.values {
            exchange.responder.send(.problem(ErrorAnswer.unanswered))
            connection.resume()
        }
        waiting = [:]
        let poller = Poller([daemon.descriptor])
        let deadline = monotonicNow() + .milliseconds(500)
        daemon.run()
        while !streams.isEmpty, monotonicNow() < deadline {
            poller.wait(milliseconds: 20)
            daemon.run()
        }
        // A stream may sleep again only if its end was not taken; the library may not stop over a sleeping one.
        for stream in streams.values { stream.wake() }
        daemon.run()
        daemon.stop()
        self.daemon = nil
    }

    // MARK: Called by the library

    /// Who is at the other end of a new connection.
    func caller(at descriptor: Int32) -> Caller {
        guard let peer = peerCredentials(descriptor) else {
            tcpConnections += 1
            return Caller(.tcp)
        }
        let groups = [peer.gid] + peerGroups(descriptor)
        let isAdmin = setup.callers.admits(user: peer.uid, groups: groups)
        return Caller(.unix(user: peer.uid, role: isAdmin ? .admin : nil))
    }

    /// A connection is over.
    func left(_ caller: Caller) { if case .tcp = caller.listener { tcpConnections -= 1 } }

    /// The headers of a request are there. `goesOn` is false when the connection is to be closed.
    func begin(
        _ connection: HTTPConnection, method: String, path: String
    ) -> (exchange: Exchange, goesOn: Bool) {
        let caller = connection.caller ?? Caller(.tcp)
        scan.reset(proved: caller.provedAuthorization)
        connection.scan(into: scan)
        var verdict = gatekeeper.judge(
            method: method, path: path, caller: caller, headers: scan, headerBytes: connection.headerBytes)
        var bodyLimit = APIRoute.usualBodyLimit
        var tooLarge = false
        if case .call(let index, _, _) = verdict { bodyLimit = gatekeeper.table.routes[index].bodyLimit }
        if let length = scan.contentLength, length > bodyLimit {
            if case .call = verdict {
                verdict = .refuse(.problem(ErrorAnswer.bodyTooLarge(limit: bodyLimit)))
            }
            tooLarge = scan.expectsContinue || length > bodyLimit + ServerLimits.drainedBytes
        }
        let exchange = Exchange(
            verdict: verdict, responder: Responder(number: nextNumber, mailbox: setup.mailbox),
            bodyLimit: bodyLimit, isHead: method == "HEAD", began: monotonicNow())
        nextNumber += 1
        exchange.lastEventID = scan.lastEventID
        // Answered before the body, the library closes the connection afterwards. Otherwise the body is read first,
        // so that the connection lives on and the answer is not lost in a reset.
        if case .refuse(let answer) = verdict, tooLarge || scan.expectsContinue {
            return (exchange, send(answer, for: exchange, on: connection))
        }
        return (exchange, true)
    }

    /// The whole request is there, or its answer is. False when the connection is to be closed.
    func finish(_ exchange: Exchange, _ connection: HTTPConnection) -> Bool {
        finished += 1
        if !exchange.wasCalled {
            exchange.wasCalled = true
            switch exchange.verdict {
            case .refuse(let answer): return send(answer, for: exchange, on: connection)
            case .call(let index, let role, let parameters):
                let request = Request(
                    role: role ?? .host, actor: connection.caller?.actor(role) ?? "anonymous",
                    parameters: parameters, query: connection.query, body: exchange.takeBody(),
                    lastEventID: exchange.lastEventID)
                call(index, request, exchange.responder)
            }
        }
        if let answer = exchange.responder.take(orWait: true) {
            return send(answer, for: exchange, on: connection)
        }
        exchange.isWaiting = true
        waiting[exchange.responder.number] = (exchange, connection)
        plan(exchange.began + .seconds(ServerLimits.answerSeconds))
        connection.suspend()
        return true
    }

    /// The request is over, well or not.
    func completed(_ exchange: Exchange) {
        // Whoever answers later finds it closed; one that was answered is closed already.
        guard exchange.isWaiting else { return }
        exchange.responder.close()
        waiting[exchange.responder.number] = nil
    }

    /// The library has let go of a stream.
    func streamEnded(_ stream: HTTPStream) { streams[ObjectIdentifier(stream)] = nil }

    // MARK: Answering

    private func call(_ index: Int, _ request: Request, _ responder: Responder) {
        if isStopping { return responder.send(.problem(ErrorAnswer.unanswered)) }
        do {
            try gatekeeper.table.routes[index].handler(request, responder)
        } catch {
            let id = { [nextNumber] in "\(wallNow().milliseconds)-\(nextNumber)" }
            responder.send(ErrorAnswer.answer(to: error, id: id, log: setup.log))
        }
    }

    private func send(_ answer: Answer, for exchange: Exchange, on connection: HTTPConnection) -> Bool {
        setup.observe(
            exchange.routeIndex, answer.status, monotonicNow().nanoseconds - exchange.began.nanoseconds)
        switch answer.body {
        case .bytes(let bytes): return connection.send(answer, bytes)
        case .events where exchange.isHead: return connection.send(answer, [])
        case .events(let subscription):
            let now = monotonicNow()
            let stream = HTTPStream(EventStream(subscription, now: now), on: connection, of: self)
            streams[ObjectIdentifier(stream)] = stream
            plan(now + .seconds(ServerLimits.commentSeconds))
            if isStopping { stream.stream.end() }
            guard connection.send(answer, stream) else {
                streams[ObjectIdentifier(stream)] = nil
                return false
            }
            return true
        }
    }
}
