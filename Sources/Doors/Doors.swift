// SPDX-License-Identifier: Apache-2.0

package import Core
package import CryptoEngine
internal import EventLoop
package import Policy
package import Sockets
internal import Synchronization
package import Wire

/// Both doors and everything behind them that is relayed: the public face of the worker threads.
///
/// Every method but ``init(core:tls:workers:backend:hostInfo:times:cable:loopback:lookAgain:log:)`` and ``stop(within:)`` only leaves a word for
/// a worker, so that effects of the core may be carried out while the core is entered.
package final class Doors: Sendable {
    private let context: DoorContext
    private let inboxes: [WorkerInbox]
    private let threads: [JoinHandle]

    /// Starts `workers` threads; no door is open yet. Throws when threads or descriptors have run out.
    ///
    /// `tls` gives what new connections are made from, the key of the moment. `cable` is asked for link-local sources
    /// only; without one nothing is the cable. `loopback` is asked for sources of the loopback only; without one they are
    /// the host's own. `lookAgain` has the interfaces read now, for a connection by one that the
    /// core does not know. `hostInfo` gives a freshly signed kind 18 payload (01 section 6), nil while there is none; `log`
    /// takes the lines. All are called from any worker, and but for `lookAgain` must not wait.
    package init(
        core: SharedCore, tls: @escaping @Sendable () -> TLSServerContext, workers: Int, backend: Backend?,
        hostInfo: @escaping @Sendable () -> [UInt8]?, times: DoorTimes = DoorTimes(),
        cable: @escaping CableWitness = { _, answer in answer(.not(.unreadable)) },
        loopback: @escaping LoopbackWitness = { _, _ in false },
        lookAgain: @escaping @Sendable () -> Void = {}, log: @escaping @Sendable (LogLine) -> Void
    ) throws(SocketError) {
        context = DoorContext(
            core: core, tls: tls, backend: backend, times: times, cable: cable, loopback: loopback,
            hostInfo: hostInfo, lookAgain: lookAgain, log: log)
        var inboxes: [WorkerInbox] = []
        for _ in 0..<max(1, workers) { inboxes.append(try WorkerInbox()) }
        var threads: [JoinHandle] = []
        do {
            for number in inboxes.indices {
                threads.append(try Self.start(UInt16(number), context, inboxes))
            }
        } catch {
            for inbox in inboxes.prefix(threads.count) { inbox.send(.stop(within: .zero)) }
            for thread in threads { thread.join() }
            throw error
        }
        self.inboxes = inboxes
        self.threads = threads
    }

    private static func start(
        _ number: UInt16, _ context: DoorContext, _ inboxes: [WorkerInbox]
    ) throws(SocketError) -> JoinHandle {
        let started = try WakeUp()
        let failure = FirstFailure()
        let thread = try runThread(name: "door-\(number)") {
            do throws(SocketError) {
                let keeper = number == 0 ? ListenerKeeper(context: context, inboxes: inboxes) : nil
                let worker = try DoorWorker(
                    number: number, context: context, inbox: inboxes[Int(number)], keeper: keeper)
                started.signal()
                worker.run()
            } catch {
                failure.error.withLock { $0 = error }
                started.signal()
            }
        }
        _ = started.wait(until: nil)
        if let error = failure.error.withLock({ $0 }) {
            thread.join()
            throw error
        }
        return thread
    }

    private final class FirstFailure: Sendable {
        let error = Mutex<SocketError?>(nil)
    }

    /// Listens at `port` (0: any free one) on all addresses or on one, replacing a listener at another port; connections
    /// live on. The core hears `listening`, `portInUse` or `failed`.
    package func open(_ door: Door, port: Int, listenOn address: IPAddress? = nil) {
        inboxes[0].send(.openDoor(door, port: UInt16(clamping: port), address: address))
    }

    /// Serves a door from listening sockets of the service manager, from now on and whatever port is asked for later.
    package func adopt(_ door: Door, descriptors: [Int32]) {
        guard let listener = DoorListener.adopt(door, descriptors: descriptors) else { return }
        inboxes[0].send(.adoptDoor(listener))
    }

    /// Accepts nothing more at this door; connections live on.
    package func close(_ door: Door) { inboxes[0].send(.closeDoor(door)) }

    /// Kind 22 between two messages, then the close, 100 ms later at most (09.4); without a goodbye the session is cut.
    package func endSession(_ id: SessionID, _ connection: ConnectionID, _ goodbye: Goodbye?) {
        send(.endSession(id, connection, goodbye), to: connection)
    }

    /// Closes a connection that is no session, without a byte.
    package func closeConnection(_ connection: ConnectionID) {
        send(.closeConnection(connection), to: connection)
    }

    /// Kind 20, then the close.
    package func answerPairing(_ connection: ConnectionID, _ result: PairResult) {
        send(.answerPairing(connection, result), to: connection)
    }

    /// Kind 18 once more to every session that has had one.
    package func broadcastHostInfo() {
        for inbox in inboxes { inbox.send(.broadcastHostInfo) }
    }

    /// The stream is another: what the second in progress has counted of frames is forgotten, in every session (06 A6).
    package func judgeAfresh() {
        for inbox in inboxes { inbox.send(.judgeAfresh) }
    }

    /// Closes both doors, says `quit` to sessions that were not told anything yet, and ends the threads once all
    /// connections are closed, after `time` at the latest. Blocks until then.
    package func stop(within time: Duration) {
        for inbox in inboxes { inbox.send(.stop(within: time)) }
        for thread in threads { thread.join() }
    }

    /// The port a door listens at; nil while it does not.
    package func port(of door: Door) -> Int? { context.board.port(door).map(Int.init) }

    /// Connections held now, pending ones and those on their way out included.
    package var connectionCount: Int { context.board.connections.load(ordering: .relaxed) }

    /// Connections shed since the start because descriptors had run out.
    package var shedCount: Int { context.board.shed.load(ordering: .relaxed) }

    private func send(_ command: WorkerCommand, to connection: ConnectionID) {
        // Connections of a streaming process have no worker here.
        guard inboxes.indices.contains(Int(connection.owner)) else { return }
        inboxes[Int(connection.owner)].send(command)
    }
}
