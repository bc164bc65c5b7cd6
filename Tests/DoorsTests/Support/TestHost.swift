// SPDX-License-Identifier: Apache-2.0

import Bytes
import Core
import CryptoEngine
import Dispatch
import Doors
import Policy
import Sockets
import Synchronization
import Testing
import Wire

/// A key with its certificate; made once, because keys are what is slow here.
struct Identity: Sendable {
    let key: HostKey
    let certificate: [UInt8]

    init() throws {
        key = try HostKey.generate()
        certificate = try key.certificate()
    }

    /// One that is there already.
    init(_ key: HostKey, _ certificate: [UInt8]) {
        self.key = key
        self.certificate = certificate
    }

    static let host = Result { try Identity() }
    static let device = Result { try Identity() }
    static let stranger = Result { try Identity() }
}

/// A core with doors on loopback and a store that always commits: what the daemon is, without HTTP and files.
final class TestHost: Sendable {
    let core: SharedCore
    let doors: Doors
    let lines = LogLines()
    private let router: Router
    // Made before there might be no descriptor for it.
    private let pause: WakeUp

    /// Carries effects out: to the doors, or at once to the core, from a queue of its own.
    private final class Router: Sendable {
        let doors = Mutex<Doors?>(nil)
        let core = Mutex<SharedCore?>(nil)
        let queue = DispatchQueue(label: "effects")
        let ended = Mutex<[SessionEnd]>([])
        /// What new connections are made from, and what they are to be made from next.
        let served: Mutex<(now: TLSServerContext, next: TLSServerContext?)>

        init(_ tls: TLSServerContext) { served = Mutex((tls, nil)) }

        func carryOut(_ effect: Effect) {
            if case .identityChanged = effect {
                // In the core's entry, as the service does.
                return served.withLock { if let next = $0.next { $0 = (next, nil) } }
            }
            queue.async { [self] in
                guard let doors = doors.withLock({ $0 }), let core = core.withLock({ $0 }) else { return }
                switch effect {
                case .openDoor(let door, let port):
                    doors.open(door, port: port, listenOn: IPAddress("127.0.0.1"))
                case .closeDoor(let door): doors.close(door)
                case .answerPairing(let id, let result): doors.answerPairing(id, result)
                case .closeConnection(let id): doors.closeConnection(id)
                case .endSession(let id, let connection, let goodbye):
                    doors.endSession(id, connection, goodbye)
                case .broadcastHostInfo: doors.broadcastHostInfo()
                case .commit(let id, _): core.enter { $0.committed(id, .committed, $1) }
                case .event(.sessionClosed(_, let why)): ended.withLock { $0.append(why) }
                default: break
                }
            }
        }
    }

    init(
        backend: Doors.Backend? = nil, settings: Settings = Settings(), devices: [Identity] = [],
        limits: DoorLimits = .shipped, workers: Int = 1, times: DoorTimes = DoorTimes(),
        loopback: @escaping Doors.LoopbackWitness = { _, _ in false },
        hostInfo: (@Sendable () -> [UInt8])? = nil
    ) throws {
        pause = try WakeUp()
        let router = Router(try Self.makeTLS())
        let value = try Self.makeCore(settings: settings, devices: devices, limits: limits)
        let core = SharedCore(value, clock: monotonicNow, wall: wallNow) { router.carryOut($0) }
        let infoCount = Count()
        let log = lines
        let doors = try Doors(
            core: core, tls: { router.served.withLock { $0.now } }, workers: workers, backend: backend,
            hostInfo: hostInfo ?? { Array("info \(infoCount.next())".utf8) },
            times: times, loopback: loopback, log: { line in log.lines.withLock { $0.append(line.message) } })
        self.router = router
        self.core = core
        self.doors = doors
        router.doors.withLock { $0 = doors }
        router.core.withLock { $0 = core }
        core.enter { $0.start($1) }
    }

    /// A core whose host is ``Identity/host`` and knows these devices.
    static func makeCore(
        settings: Settings = Settings(), devices: [Identity] = [], limits: DoorLimits = .shipped
    ) throws -> Core {
        let records = devices.map {
            DeviceRecord(
                fingerprint: $0.key.fingerprint, name: "iPad", pairedAt: WallTime(milliseconds: 0),
                pairedHow: "qr")
        }
        let facts = HostFacts(
            fingerprint: try Identity.host.get().key.fingerprint,
            recognitionKey: [UInt8](repeating: 5, count: 32), fallbackName: "Host", startedAt: wallNow(),
            sessionPrefix: "t", bootWall: wallNow(), version: "0")
        return Core(
            host: facts, settings: settings, overrides: SettingsOverrides(), devices: records, tombstones: [],
            primitives: Primitives(hmacSHA256: Digest.hmacSHA256, equal: Digest.equal), limits: limits)
    }

    static func makeTLS() throws -> TLSServerContext {
        let host = try Identity.host.get()
        return try TLSServerContext(key: host.key, certificateDER: host.certificate)
    }

    deinit {
        doors.stop(within: .zero)
        // The core's effects go through the router: a circle.
        router.doors.withLock { $0 = nil }
        router.core.withLock { $0 = nil }
    }

    private final class Count: Sendable {
        let value = Atomic<Int>(0)
        func next() -> Int { value.wrappingAdd(1, ordering: .relaxed).newValue }
    }

    final class LogLines: Sendable {
        let lines = Mutex<[String]>([])
    }
    /// Why sessions have ended so far.
    var ended: [SessionEnd] { router.ended.withLock { $0 } }

    /// How many goodbyes of each reason the core knows of.
    var goodbyes: [String: UInt64] { core.enter { core, _ in core.counters.goodbyes } }

    /// Waits, 10 s at most, until something another thread does is done.
    func until(_ what: String, _ condition: () -> Bool) throws {
        let deadline = monotonicNow() + .seconds(10)
        while !condition() {
            guard monotonicNow() < deadline else { throw TestTimeout(what: what) }
            _ = pause.wait(until: monotonicNow() + .milliseconds(2))
        }
    }

    /// Gives the host another key, and waits until it serves it.
    func rotate(to identity: Identity) throws {
        let tls = try TLSServerContext(key: identity.key, certificateDER: identity.certificate)
        router.served.withLock { $0.next = tls }
        let next = StoredIdentity(
            fingerprint: identity.key.fingerprint, recognitionKey: [UInt8](repeating: 6, count: 32),
            createdAt: wallNow())
        _ = core.enter { core, moment in
            core.propose(.rotate(next, confirm: core.host.fingerprint.id.text), actor: .service, moment)
        }
        try until("the new key is served") { router.served.withLock { $0.next == nil } }
    }

    /// Where a door listens.
    func address(_ door: Door = .home) throws -> SocketAddress {
        try until("\(door) listens") { doors.port(of: door) != nil }
        let ip = try #require(IPAddress("127.0.0.1"))
        return SocketAddress(ip: ip, port: UInt16(try #require(doors.port(of: door))))
    }

    /// A device on its way to a session or to pairing.
    func dial(
        _ identity: Identity, _ alpn: ALPN = .session, door: Door = .home
    ) throws -> TestDevice {
        try TestDevice(identity, alpn, at: address(door))
    }
}

struct TestTimeout: Error {
    let what: String
}
