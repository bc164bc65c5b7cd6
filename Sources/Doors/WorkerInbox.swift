// SPDX-License-Identifier: Apache-2.0

internal import Core
internal import EventLoop
internal import Policy
internal import Sockets
internal import Synchronization
internal import Wire

/// What a worker is told from outside.
enum WorkerCommand: Sendable {
    /// Accept from these sockets too, in place of the door's former ones.
    case listen(DoorListener)
    /// Accept nothing more at this door.
    case unlisten(Door)
    /// Kind 22, if any, then close.
    case endSession(SessionID, ConnectionID, Goodbye?)
    /// Close without a byte.
    case closeConnection(ConnectionID)
    /// Kind 20, then close.
    case answerPairing(ConnectionID, PairResult)
    /// What the cable rule found for it.
    case cable(ConnectionID, CableVerdict)
    /// Whether a connection that is held came from a VPN peer.
    case loopback(ConnectionID, isPeer: Bool)
    /// Kind 18 to every session.
    case broadcastHostInfo
    /// The stream is another: frames of the seconds in progress count no more.
    case judgeAfresh
    /// Close what is pending, let sessions say goodbye, end the thread; after `within` at the latest.
    case stop(within: Duration)

    /// To the first worker alone, which opens and closes for all.
    case openDoor(Door, port: UInt16, address: IPAddress?)
    case adoptDoor(DoorListener)
    case closeDoor(Door)
}

/// Commands for one worker from any thread, in the order they were sent. Sending never waits.
///
/// Bounded by what the core has: a command for each session and change, not for anything a peer does.
final class WorkerInbox: Sendable {
    private let commands = Mutex<[WorkerCommand]>([])
    private let wakeUp: WakeUp

    init() throws(SocketError) { wakeUp = try WakeUp() }

    /// For the worker's loop to watch.
    var descriptor: Int32 { wakeUp.descriptor }

    func send(_ command: WorkerCommand) {
        let isFirst = commands.withLock { commands in
            commands.append(command)
            return commands.count == 1
        }
        if isFirst { wakeUp.signal() }
    }

    /// Everything sent so far.
    func take() -> [WorkerCommand] {
        wakeUp.clear()
        return commands.withLock { commands in
            let taken = commands
            commands = []
            return taken
        }
    }
}
