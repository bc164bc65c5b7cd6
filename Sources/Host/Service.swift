internal import APITypes
internal import Core
internal import CryptoEngine
internal import Doors
internal import EventLoop
internal import LocalAPI
internal import NetFacts
internal import Policy
internal import ReachabilityFacts
internal import RouterProbe
internal import Sockets
internal import StateDirectory
internal import Store
internal import SystemBus
internal import VPNFacts
internal import Wire

/// Why the service did not start, with the exit code of spec 09 point 13.
struct StartFailure: Error, Sendable {
    let exitCode: Int32
    /// What is wrong and what to do about it.
    let message: String
}

/// The running service: everything made in order, and ended in the reverse of it. Holds no rule.
final class Service: Sendable {
    /// Sessions are told `quit` and have this long (spec 08).
    static let stopTime = Duration.seconds(2)
    /// What Avahi has to withdraw the record; it does so anyway when this process is gone.
    static let withdrawTime = Duration.milliseconds(200)

    /// What the router has to take a mapping away; a lease ends by itself.
    static let unmapTime = Duration.seconds(1)

    private let core: SharedCore
    private let doors: Doors
    private let api: APIServer
    private let directory: StateDirectory
    private let interfaces: NetworkWatcher
    private let cable: CableWitness
    private let tailscale: TailscaleWhois
    private let reachability: ReachabilityWatcher
    private let mapping: MappingRunner
    private let endpoints: EndpointsPublisher
    /// The machine's, always: nothing can show the service another (03 §10 point 9).
    private let bus: Bus
    private let advertiser: Advertiser
    private let threads: [ServiceThread]
    private let ticker: Ticker
    private let watchdog: Watchdog?
    private let sessionEnded: WakeUp

    /// Starts in the order of spec 08: lock, key, database, tokens, snapshot, API, doors, `READY=1`.
    init(_ options: Options, log: LogSink) throws {
        let started = Moment(now: monotonicNow(), wall: wallNow())
        let inherited = InheritedSockets(ServiceManager.listenDescriptors())
        let desktopUser = try DesktopLock.user(options)
        let opened = try Self.openState(options, log)
        directory = opened.directory
        try Self.makeRuntimeDirectory(options.runtimeDirectory)

        let router = EffectRouter()
        let host = directory.hostFacts(
            fallbackName: MachineName.find(), startedAt: started.wall,
            bootWall: WallTime(milliseconds: started.wall.milliseconds - started.now.nanoseconds / 1_000_000),
            sessionPrefix: Base64URL.encode(try Entropy.bytes(6)), version: latchkeyVersion)
        core = SharedCore(
            Core(
                host: host, settings: opened.settings,
                overrides: SettingsOverrides(
                    name: options.name, remotePort: options.remotePort?.number,
                    homePort: options.homePort.number, hasRemoteDoor: options.remotePort != .off,
                    homeListen: options.homeListen, advertises: options.advertises),
                devices: opened.devices, tombstones: opened.tombstones,
                primitives: Primitives(
                    hmacSHA256: { Digest.hmacSHA256(key: $0, message: $1) }, equal: { Digest.equal($0, $1) })),
            clock: monotonicNow, wall: wallNow, carryOut: router.carryOut)

        let service = try ServiceThread(name: "service")
        let derivation = try ServiceThread(name: "derive")
        threads = [derivation, service]
        ticker = try Ticker()
        sessionEnded = try WakeUp()

        bus = try Bus(.system)
        DesktopLock.follow(on: bus, desktopUser: desktopUser, core, log: log)
        advertiser = Advertiser(on: bus, core: core, log: log)

        let identity = LiveIdentity(try LiveIdentity.Served(directory.identity.current))
        let signer = HostInfoSigner(identity: identity, core: core, wall: wallNow)
        var services = APIServices(
            core: core, store: directory.store, identity: IdentityDesk(identity, directory.identity),
            hostInfo: signer.payload, sign: { try identity.current.key.sign(digest: $0) },
            windowEntropy: SecretSource.window,
            now: { Moment(now: monotonicNow(), wall: wallNow()) }, started: started,
            events: EventHub(firstID: started.wall.milliseconds))
        services.isMetricsOpen = options.metricsOpen
        endpoints = EndpointsPublisher(directory: options.runtimeDirectory)
        interfaces = try NetworkWatcher()
        let cable = try CableWitness(CableReader(sha256: { Digest.sha256($0) }))
        self.cable = cable
        services.cable = cable.judge
        let tailscale = try TailscaleWhois(hasLink: { [interfaces] in
            interfaces.table.interfaces.contains { $0.name.hasPrefix("tailscale") }
        })
        self.tailscale = tailscale
        services.loopback = tailscale.isPeer
        (reachability, mapping) = try Self.reachability(core, interfaces, log)
        services.look = reachability.look
        services.requestMapping = mapping.request
        services.releaseMapping = mapping.release
        // No door is open yet: that is the core's to say, at its start.
        doors = try Doors(
            core: core, tls: { identity.current.tls },
            workers: options.workers ?? CurrentProcess.cores,
            backend: options.backend.map(Doors.Backend.init),
            hostInfo: { try? signer.payload() }, cable: cable.judge, loopback: tailscale.isPeer,
            lookAgain: interfaces.lookAgain,
            log: log.log)
        let events = EventWriter(
            hub: services.events, windows: services.windows, fallbackName: host.fallbackName,
            overridden: core.enter { core, _ in core.overridden }, identity: services.identity.current,
            wall: wallNow, now: monotonicNow)
        router.connect(
            EffectRouter.Owners(
                core: core, doors: doors, committer: directory.committer, jobs: service.mailbox,
                derivation: derivation.mailbox,
                addresses: [Door.home: options.homeListen, .remote: options.remoteListen].compactMapValues {
                    $0
                },
                endpoints: endpoints, advertiser: advertiser, lookAfterMapping: mapping.update,
                watch: reachability.want, askRouterAgain: reachability.forwardsChanged, log: log,
                wake: ticker.wake,
                changeDone: services.changes.done, windowReady: services.windows.ready,
                pairings: services.pairings, event: events.write, hostInfoChanged: events.hostInfoChanged,
                sessionEnded: sessionEnded,
                identityChanged: { [directory] fingerprint in
                    identity.adopt(fingerprint)
                    directory.identity.finished()
                    if let problem = directory.identity.takeProblem() { log.log(LogLine(.error, problem)) }
                }))

        services.moreMetrics = { [doors] page in
            page.gauge(
                "latchkey_connections", "Connections the doors hold, pending ones included.",
                [([], doors.connectionCount)])
            page.counter(
                "latchkey_connections_shed_total", "Connections shed because descriptors had run out.",
                [([], UInt64(clamping: doors.shedCount))])
        }
        api = try Self.startAPI(options, services, directory, inherited.api, log)
        do throws(SocketError) {
            try endpoints.apiListens(unix: api.unixPath, tcp: api.tcpAddresses.map(\.description))
        } catch {
            throw StartFailure(making: error)
        }
        for (door, descriptors) in inherited.doors { doors.adopt(door, descriptors: descriptors) }

        // The first full look at the interfaces comes before the first connection.
        let table = interfaces.table
        core.enter { core, moment in core.interfacesChanged(table, moment) }
        try reachability.start(table)
        try mapping.start()
        try interfaces.start { [core, reachability] table in
            core.enter { core, moment in core.interfacesChanged(table, moment) }
            reachability.networkChanged(table)
        }
        try ticker.start(core)
        try bus.start { log.log(LogLine($0)) }
        core.enter { core, moment in
            core.restore(opened.lockouts, moment)
            core.start(moment)
        }
        watchdog = try Watchdog(core)
    }

    /// `quit` to every session, then everything ends in the reverse of the start.
    func stop() {
        ServiceManager.notify("STOPPING=1")
        watchdog?.stop()
        let deadline = monotonicNow() + Self.stopTime
        core.enter { core, moment in core.stop(moment) }
        doors.stop(within: Self.stopTime)
        awaitDelegated(until: deadline)
        cable.stop()
        tailscale.stop()
        advertiser.stop(within: Self.withdrawTime)
        bus.stop()
        mapping.stop(within: Self.unmapTime)
        interfaces.stop()
        reachability.stop()
        api.stop()
        endpoints.remove()
        ticker.stop()
        for thread in threads { thread.stop() }
        directory.close()
    }

    /// A streaming process says `quit` to its own sessions, and needs the API for it.
    private func awaitDelegated(until deadline: MonotonicTime) {
        while core.enter({ core, _ in core.delegatedSessions }) > 0, sessionEnded.wait(until: deadline) {
            sessionEnded.clear()
        }
    }

    private static func openState(_ options: Options, _ log: LogSink) throws(StartFailure) -> OpenedState {
        do throws(StateError) {
            return try StateDirectory.open(
                path: options.stateDirectory, for: .service(newIdentity: options.newIdentity), now: wallNow(),
                note: { log.log(LogLine(.info, $0)) })
        } catch {
            throw StartFailure(exitCode: error.exitCode.rawValue, message: error.message)
        }
    }

    private static func makeRuntimeDirectory(_ path: String) throws(StartFailure) {
        if let facts = fileFacts(path + "/.") {
            // Whoever may replace the socket can show the owner's own programs another host.
            let isForeign = facts.uid != CurrentProcess.userID && facts.uid != 0
            let isSticky = facts.mode & 0o1000 != 0
            guard isForeign || (facts.mode & 0o002 != 0 && !isSticky) else { return }
            let what = isForeign ? "belongs to user \(facts.uid)" : "can be changed by every user"
            throw StartFailure(
                exitCode: 73,
                message:
                    "the runtime directory \(path) \(what), who could put another socket in the place of the "
                    + "service's. Name another with --runtime-dir, or: chown \(CurrentProcess.userID) \(path); "
                    + "chmod 755 \(path)")
        }
        // The socket in it has its own mode; others may look up where the doors are.
        do throws(SocketError) { try makeDirectory(path, mode: 0o755) } catch {
            throw StartFailure(making: error)
        }
    }

    private static func startAPI(
        _ options: Options, _ services: APIServices, _ directory: StateDirectory, _ inherited: [Int32],
        _ log: LogSink
    ) throws(StartFailure) -> APIServer {
        var group: UInt32?
        if let name = options.adminGroup {
            group = CurrentProcess.groupID(name)
            guard group != nil else {
                throw StartFailure(
                    exitCode: 64,
                    message: "there is no group '\(name)'. Make it, or name another with --admin-group")
            }
        }
        let routes = APIRoutes.all(services)
        var configuration = APIServer.Configuration(
            callers: SocketCallers(ownUser: CurrentProcess.userID, adminGroup: group),
            authorize: { token in
                let bytes = Array(token.utf8)
                // Both are compared whatever the first says, so that time tells nothing about either.
                let isAdmin = directory.adminToken?.equals(bytes) ?? false
                let isHost = directory.hostToken?.equals(bytes) ?? false
                return isAdmin ? .admin : isHost ? .host : nil
            },
            routes: routes, events: services.events)
        configuration.unixPath = options.runtimeDirectory + "/api.sock"
        configuration.tcpPort = options.apiPort.number.map { UInt16(clamping: $0) }
        configuration.inherited = inherited
        configuration.observe = services.metrics.answered
        configuration.log = { message, fields in log.log(LogLine(.error, message, fields)) }
        do throws(SocketError) {
            return try APIServer(configuration)
        } catch {
            if error.isAddressInUse {
                throw StartFailure(
                    exitCode: 69,
                    message:
                        "\(error.message). Another program listens there; stop it, or give this one another "
                        + "--api-port (or --runtime-dir, for the socket)")
            }
            if error.call.hasPrefix("chown"), let name = options.adminGroup {
                throw StartFailure(
                    exitCode: 73,
                    message:
                        "\(error.message). The user this runs as must be a member of '\(name)' for --admin-group"
                )
            }
            throw StartFailure(making: error)
        }
    }
}

extension StartFailure {
    /// A directory or socket that cannot be made or written: EX_CANTCREAT.
    init(making error: SocketError) {
        self.init(
            exitCode: 73,
            message:
                "\(error.message). Make sure that the runtime directory can be made and written by this user, "
                + "or name another with --runtime-dir")
    }
}

extension Doors.Backend {
    init(_ backend: Options.Backend) {
        switch backend {
        case .unix(let path): self = .unix(path: path)
        case .tcp(let address): self = .tcp(address)
        }
    }
}

/// Sockets the service manager opened, by their `FileDescriptorName=`: `api`, `home`, `remote`.
struct InheritedSockets {
    var api: [Int32] = []
    var doors: [Door: [Int32]] = [:]

    init(_ sockets: [(name: String, descriptor: Int32)]) {
        for socket in sockets {
            if let door = Door(rawValue: socket.name) {
                doors[door, default: []].append(socket.descriptor)
            } else {
                // systemd names a socket after its unit when nobody does: then it is the API's.
                api.append(socket.descriptor)
            }
        }
    }
}
