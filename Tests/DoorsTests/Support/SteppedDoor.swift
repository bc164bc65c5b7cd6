// SPDX-License-Identifier: Apache-2.0

import Bytes
import Core
import CryptoEngine
import EventLoop
import Policy
import Sockets
import Synchronization
import Testing
import Wire

@testable import Doors

/// A door whose worker lives on the test's own thread: nothing happens but while the test serves, so a test can stand
/// between any two events and look into a connection.
final class SteppedDoor {
    let core: SharedCore
    let worker: DoorWorker
    /// What time it is for the core and the worker; only the test moves it.
    let clock = TestClock()
    private let inbox: WorkerInbox
    let address: SocketAddress
    private let journal: Journal

    /// What the core has told so far; what is for the worker goes to it.
    private final class Journal: Sendable {
        let ended = Mutex<[SessionEnd]>([])
        let problems = Mutex<[String]>([])
        let seconds = Mutex<[[SessionSecond]]>([])
        let inbox: WorkerInbox

        func note(_ line: LogLine) {
            for (key, value) in line.fields where key == "problem" { problems.withLock { $0.append(value) } }
        }

        init(_ inbox: WorkerInbox) { self.inbox = inbox }

        func carryOut(_ effect: Effect) {
            switch effect {
            case .answerPairing(let id, let result): inbox.send(.answerPairing(id, result))
            case .endSession(let id, let connection, let goodbye):
                inbox.send(.endSession(id, connection, goodbye))
            case .event(.sessionClosed(_, let why)): ended.withLock { $0.append(why) }
            default: break
            }
        }
    }

    init(
        backend: Doors.Backend?, devices: [Identity], door: Door = .home, times: DoorTimes = DoorTimes(),
        hostInfo: [UInt8]? = nil
    ) throws {
        inbox = try WorkerInbox()
        let journal = Journal(inbox)
        self.journal = journal
        var settings = Settings()
        settings.remoteAccess = door == .remote
        let clock = clock
        core = SharedCore(
            try TestHost.makeCore(settings: settings, devices: devices), clock: { clock.now }, wall: wallNow
        ) { journal.carryOut($0) }
        core.enter { $0.start($1) }
        let tls = try TestHost.makeTLS()
        let context = DoorContext(
            core: core, tls: { tls }, backend: backend, times: times,
            cable: { _, answer in answer(.not(.notLinkLocal)) }, loopback: { _, _ in false },
            hostInfo: { hostInfo }, lookAgain: {},
            log: { journal.note($0) }, clock: { clock.now },
            linkSeconds: { _, seconds in journal.seconds.withLock { $0.append(seconds) } })
        worker = try DoorWorker(number: 0, context: context, inbox: inbox, keeper: nil)
        let ip = try #require(IPAddress("127.0.0.1"))
        let listener = try DoorListener.open(door, port: 0, address: ip)
        address = SocketAddress(ip: ip, port: listener.port)
        inbox.send(.listen(listener))
    }

    /// Why sessions have ended so far.
    var ended: [SessionEnd] { journal.ended.withLock { $0 } }

    /// What the core was told of seconds, entry by entry.
    var seconds: [[SessionSecond]] { journal.seconds.withLock { $0 } }

    /// Tells the worker something; it obeys when it serves.
    func command(_ command: WorkerCommand) { inbox.send(command) }

    /// What the doors have found to be wrong.
    var problems: [String] { journal.problems.withLock { $0 } }

    /// Serves, 10 s at most, until it holds.
    func serve(_ what: String, until condition: () -> Bool) throws {
        let deadline = monotonicNow() + .seconds(10)
        let pause = try WakeUp()
        while !condition() {
            guard monotonicNow() < deadline else { throw TestTimeout(what: what) }
            worker.loop.serveReady()
            _ = pause.wait(until: monotonicNow() + .milliseconds(1))
        }
    }

    /// Serves while another thread does something that waits for this one.
    func serving<R: Sendable>(_ body: @escaping @Sendable () throws -> R) throws -> R {
        let result = Mutex<Result<R, any Error>?>(nil)
        let done = try WakeUp()
        let thread = try runInBackground {
            let made = Result { try body() }
            result.withLock { $0 = made }
            done.signal()
        }
        while !done.wait(until: monotonicNow() + .milliseconds(1)) { worker.loop.serveReady() }
        thread.join()
        return try #require(result.withLock { $0 }).get()
    }

    /// A device with a session.
    func dial(_ identity: Identity) throws -> (
        device: TestDevice, connection: Connection, relay: SessionRelay
    ) {
        let address = address
        let known = Set(worker.connections.keys)
        let device = try serving { UncheckedDevice(try TestDevice(identity, .session, at: address)) }.value
        var found: (Connection, SessionRelay)?
        try serve("a session") {
            for (id, connection) in worker.connections where !known.contains(id) {
                if case .session(let relay) = connection.phase { found = (connection, relay) }
            }
            return found != nil
        }
        let (connection, relay) = try #require(found)
        return (device, connection, relay)
    }
}

/// A time that stands still until it is moved.
final class TestClock: Sendable {
    private let time = Mutex(MonotonicTime.seconds(1_000))

    var now: MonotonicTime { time.withLock { $0 } }

    func move(_ step: Duration) { time.withLock { $0 = $0 + step } }
}

/// A stepped door with one session, held at all three ends.
struct SteppedStage {
    let door: SteppedDoor
    let backend: TestBackend
    var device: TestDevice
    let connection: Connection
    let relay: SessionRelay
    let session: TestBackendSession

    init(door kind: Door = .home, times: DoorTimes = DoorTimes(), hostInfo: [UInt8]? = nil) throws {
        let identity = try Identity.device.get()
        backend = try TestBackend()
        door = try SteppedDoor(
            backend: .unix(path: backend.path), devices: [identity], door: kind, times: times,
            hostInfo: hostInfo)
        (device, connection, relay) = try door.dial(identity)
        session = try backend.accept()
    }

    /// The door's TLS has this from the device in one piece, without a socket in between; the relay does not know yet.
    func arrive(_ bytes: [UInt8]) throws {
        let plain = ByteBuffer()
        plain.append(bytes)
        #expect(device.tls.write(plain, limit: plain.count) == bytes.count)
        device.tls.outbound.moveAll(to: try #require(connection.tls).inbound)
    }

    /// The device says this, and the relay is told once.
    func say(_ bytes: [UInt8]) throws {
        try arrive(bytes)
        relay.deviceReadable()
    }

    /// One frame that never ends, since its length is more than anybody holds.
    func beginFrame() throws {
        try session.send(MessageHeader(kind: .frame, timestamp: 1, length: 33_554_432).encode())
    }

    /// The backend sends more of a frame, the device reads nothing, until the door does not read the backend any more.
    func fillDevice() throws {
        var idle = 0
        while idle < 3 {
            let sent = try session.sendSome(100_000)
            door.worker.loop.serveReady()
            idle = sent == 0 && relay.isHolding ? idle + 1 : 0
        }
    }
}
