// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import Core
internal import EventLoop
internal import Policy
internal import Sockets
internal import Synchronization
internal import Wire

/// One door thread: accepts, handshakes and relays. Its connections never leave it.
final class DoorWorker {
    /// Refused connections whose alert or goodbye is given time to arrive; beyond these they are closed at once.
    private static let lingerLimit = 512
    /// Connections shed in one go: a full accept queue.
    private static let shedLimit = 1_024
    /// Handshakes that go on before everything else has its turn: a millisecond each.
    private static let handshakesAtOnce = 2
    /// Bytes read at once from a device or a backend: four full TLS records.
    static let chunk = 65_536

    /// Bytes read at once from a connection that has not sent much, so that an idle one holds little.
    static let smallRead = 4_096

    let number: UInt16
    let context: DoorContext
    let loop: EventLoop
    /// Plaintext on its way from a backend to a device, and from a device to a backend; empty between two events. One
    /// for all connections of the thread, so that an idle one holds nothing.
    let downstream = ByteBuffer(capacity: DoorWorker.chunk)
    let upstream = ByteBuffer(capacity: DoorWorker.chunk)
    /// Never filled: for steps that only the relay's own messages need.
    let empty = ByteBuffer()
    /// Ciphertext on its way in, of connections that are not served (yet).
    let arriving = ByteBuffer(capacity: 16_384)
    let failures: BackendFailureLog

    private let inbox: WorkerInbox
    private let keeper: ListenerKeeper?
    private var acceptors: [Door: Acceptor] = [:]
    private(set) var connections: [ConnectionID: Connection] = [:]
    /// Accepted by the loopback, and not judged yet: whether they come from a VPN's peer is still looked up.
    private var held: [ConnectionID: HeldConnection] = [:]
    private var nextSerial: UInt64 = 1
    private var lingering = 0
    private var sessions = 0
    private var spare: WakeUp?
    private var inboxWatch: Watch?
    private var handshakes = HandshakeQueue()
    private var turn: Timer?
    private var sweepTimer: Timer?
    private var stopTimer: Timer?
    private var isStopping = false

    /// A worker that reads `inbox`; `keeper` for the first one.
    init(
        number: UInt16, context: DoorContext, inbox: WorkerInbox, keeper: ListenerKeeper?
    ) throws(SocketError) {
        self.number = number
        self.context = context
        self.inbox = inbox
        self.keeper = keeper
        loop = try EventLoop()
        spare = try WakeUp()
        failures = BackendFailureLog(log: context.log)
        inboxWatch = loop.watch(inbox.descriptor, readable: true, writable: false) { [unowned self] _ in
            for command in self.inbox.take() { obey(command) }
        }
    }

    /// Serves until the stop command has been carried out.
    func run() { loop.run() }

    /// The time that rules run by.
    func now() -> MonotonicTime { context.clock() }

    // MARK: Connections

    /// Step A for a connection just accepted: judged before any byte, closed at once when refused.
    func take(_ accepted: consuming Accepted, at door: Door) {
        let id = ConnectionID(owner: number, serial: nextSerial)
        nextSerial += 1
        var arrival = Arrival(
            id: id, door: door, peer: accepted.peer, local: accepted.local,
            receivedOn: accepted.arrivalIndex)
        if arrival.peer.ip.isLoopback {
            let isPeer = context.loopback(arrival.peer) { [inbox] in inbox.send(.loopback(id, isPeer: $0)) }
            guard let isPeer else {
                held[id] = HeldConnection(arrival, accepted.intoSocket())
                return
            }
            arrival.isVPNPeer = isPeer
        }
        admit(arrival, accepted.intoSocket())
    }

    /// It is known now where a connection by the loopback comes from.
    private func loopbackJudged(_ id: ConnectionID, isPeer: Bool) {
        guard let connection = held.removeValue(forKey: id), let socket = connection.takeSocket() else {
            return
        }
        var arrival = connection.arrival
        arrival.isVPNPeer = isPeer
        admit(arrival, socket)
    }

    private func admit(_ arrived: Arrival, _ socket: consuming Socket) {
        var arrival = arrived
        var (verdict, isSuspect) = judge(arrival)
        if case .lookAgain = verdict {
            context.lookAgain()
            arrival.hasLookedAgain = true
            (verdict, isSuspect) = judge(arrival)
        }
        guard case .proceed = verdict, !isStopping else { return }
        connections[arrival.id] = Connection(
            id: arrival.id, door: arrival.door, peer: arrival.peer, isSuspect: isSuspect, socket: socket,
            worker: self)
        context.board.connections.wrappingAdd(1, ordering: .relaxed)
    }

    private func judge(_ arrival: Arrival) -> (StartVerdict, isSuspect: Bool) {
        context.core.enter { core, moment in
            (core.connectionArrived(arrival, moment), core.isSuspect(arrival.id, moment))
        }
    }

    /// The handshake of a connection can go on: in its turn, so that accepting and sessions have theirs between two.
    func queueHandshake(of connection: Connection) {
        handshakes.add(connection.id, isSuspect: connection.isSuspect)
        if let turn {
            if !turn.isPending { turn.start(after: .zero) }
        } else {
            turn = loop.timer(after: .zero) { [unowned self] in takeTurn() }
        }
    }

    private func takeTurn() {
        var done = 0
        while done < Self.handshakesAtOnce, let id = handshakes.next() {
            guard let connection = connections[id] else { continue }
            connection.continueHandshake()
            done += 1
        }
        if !handshakes.isEmpty { turn?.start(after: .zero) }
    }

    /// Takes the connections that wait, one after the other, with the descriptor kept for this, and closes them: a
    /// dialler that is turned away tries again, one that is left in the queue hangs.
    func shed(from shared: SharedSocket) {
        spare = nil
        for _ in 0..<Self.shedLimit {
            guard (try? Sockets.accept(on: shared.socket)) != nil else { break }
            context.board.shed.wrappingAdd(1, ordering: .relaxed)
        }
        spare = try? WakeUp()
    }

    /// Has the cable rule read for a connection of this worker; the answer comes through the inbox.
    func readCable(of id: ConnectionID, _ source: IPAddress) {
        context.cable(source) { [inbox] verdict in inbox.send(.cable(id, verdict)) }
    }

    /// Lets go of a connection that is closed.
    func remove(_ id: ConnectionID) {
        guard connections.removeValue(forKey: id) != nil else { return }
        context.board.connections.wrappingSubtract(1, ordering: .relaxed)
        if isStopping, connections.isEmpty { loop.mailbox.stop() }
    }

    /// Whether one more closing connection may stay until its last words have arrived.
    func mayLinger() -> Bool {
        guard lingering < Self.lingerLimit else { return false }
        lingering += 1
        return true
    }

    func lingeringEnded() { lingering -= 1 }

    // MARK: Sessions

    func sessionBegan() {
        sessions += 1
        if sweepTimer == nil {
            sweepTimer = loop.timer(after: context.times.sweep) { [unowned self] in sweep() }
        } else if sweepTimer?.isPending == false {
            sweepTimer?.start(after: context.times.sweep)
        }
    }

    func sessionEnded() { sessions -= 1 }

    private func sweep() {
        let now = now()
        // A copy: sweeping may close and so remove.
        for connection in Array(connections.values) { connection.sweep(at: now) }
        closeSeconds(at: now)
        if sessions > 0 { sweepTimer?.start(after: context.times.sweep) }
    }

    /// Every session's second ends (06 A6), and the core hears of all of them in one entry. The tick is the sweep's, which
    /// is started anew each time: a late one ends one second, however long that was.
    private func closeSeconds(at now: MonotonicTime) {
        var seconds: [SessionSecond] = []
        seconds.reserveCapacity(sessions)
        for connection in connections.values {
            if let second = connection.closeSecond(at: now) { seconds.append(second) }
        }
        if !seconds.isEmpty { context.linkSeconds(context.core, seconds) }
    }

    // MARK: Commands

    private func obey(_ command: WorkerCommand) {
        switch command {
        case .listen(let listener): acceptors[listener.door] = Acceptor(listener, worker: self)
        case .unlisten(let door): acceptors[door] = nil
        case .endSession(let session, let id, let goodbye): connections[id]?.end(session, goodbye)
        case .closeConnection(let id): connections[id]?.closeNow()
        case .answerPairing(let id, let result): connections[id]?.answer(result)
        case .cable(let id, let verdict): connections[id]?.cableRead(verdict)
        case .loopback(let id, let isPeer): loopbackJudged(id, isPeer: isPeer)
        case .broadcastHostInfo:
            // Made once, so that one change costs one signature.
            guard sessions > 0, let info = context.hostInfo() else { return }
            for connection in Array(connections.values) { connection.hostInfoChanged(info) }
        case .judgeAfresh:
            let now = now()
            for connection in connections.values { connection.judgeAfresh(at: now) }
        case .stop(let time): stop(within: time)
        case .openDoor(let door, let port, let address):
            guard !isStopping else { return }
            keeper?.open(door, port: port, address: address)
        case .adoptDoor(let listener): keeper?.adopt(listener)
        case .closeDoor(let door): keeper?.close(door)
        }
    }

    private func stop(within time: Duration) {
        isStopping = true
        keeper?.closeAll()
        acceptors.removeAll()
        held.removeAll()
        for connection in Array(connections.values) { connection.stop() }
        guard !connections.isEmpty else { return loop.mailbox.stop() }
        stopTimer = loop.timer(after: time) { [unowned self] in
            for connection in Array(connections.values) { connection.closeNow() }
            loop.mailbox.stop()
        }
    }
}

/// A connection that waits to be judged. Nothing is read from it meanwhile.
private final class HeldConnection {
    let arrival: Arrival
    private var socket: Socket?

    init(_ arrival: Arrival, _ socket: consuming Socket) {
        self.arrival = arrival
        self.socket = consume socket
    }

    /// The socket, once.
    func takeSocket() -> Socket? { socket.take() }
}
