// SPDX-License-Identifier: Apache-2.0

internal import Core
internal import Policy
internal import Sockets
internal import Wire

/// Opens, replaces and closes the doors' listeners for all workers; lives on the first one (spec 03 section 2).
///
/// Retrying a door that could not be opened is the core's: it asks again.
final class ListenerKeeper {
    private let context: DoorContext
    private let inboxes: [WorkerInbox]
    private var open: [Door: DoorListener] = [:]
    // What was asked for, since a listener on port 0 has another number.
    private var wanted: [Door: (port: UInt16, address: IPAddress?)] = [:]
    private var inherited: [Door: DoorListener] = [:]

    init(context: DoorContext, inboxes: [WorkerInbox]) {
        self.context = context
        self.inboxes = inboxes
    }

    /// The service manager's sockets serve this door from now on, whatever port is asked for.
    func adopt(_ listener: DoorListener) {
        inherited[listener.door] = listener
        close(listener.door)
        start(listener)
    }

    /// Listens, or keeps listening when this is what it already does. Connections of a former listener live on.
    func open(_ door: Door, port: UInt16, address: IPAddress?) {
        if let listener = open[door] {
            let isSame = wanted[door].map { $0.port == port && $0.address == address } ?? false
            if listener.isInherited || isSame { return report(door, .listening(port: listener.port)) }
            close(door)
        }
        if let listener = inherited[door] { return start(listener) }
        do {
            let listener = try DoorListener.open(door, port: port, address: address)
            wanted[door] = (port, address)
            start(listener)
        } catch {
            switch error {
            case .inUse: report(door, .portInUse(port: port))
            case .other(let problem): report(door, .failed(problem: problem))
            }
        }
    }

    /// Accepts nothing more; the number is free at once.
    func close(_ door: Door) {
        wanted[door] = nil
        guard let listener = open.removeValue(forKey: door) else { return }
        context.board.listens(door, port: nil)
        listener.end()
        for inbox in inboxes { inbox.send(.unlisten(door)) }
    }

    func closeAll() { for door in Door.allCases { close(door) } }

    private func start(_ listener: DoorListener) {
        open[listener.door] = listener
        context.board.listens(listener.door, port: listener.port)
        for inbox in inboxes { inbox.send(.listen(listener)) }
        report(listener.door, .listening(port: listener.port))
    }

    private func report(_ door: Door, _ state: DoorState) {
        context.core.enter { core, moment in core.doorState(door, state, moment) }
    }
}
