// SPDX-License-Identifier: Apache-2.0

import CryptoEngine
import Policy
import Wire

@testable import Core

/// A core with a clock that only moves when a test says so, a store that commits at once unless told to wait, and doors
/// that open at once.
final class Driver {
    var core: Core
    var now = 0.0
    /// Everything that was not answered by the driver itself, in order.
    var effects: [Effect] = []
    /// How the store answers: nil keeps commits waiting.
    var store: CommitResult? = .committed
    var waiting: [ChangeID] = []
    var commits: [StoreCommit] = []
    /// Whether the driver plays the workers that open doors.
    var opensDoors = true
    /// Whether secrets for asks are brought.
    var suppliesEntropy = true
    /// What a look at the networks finds; nil: no look ends.
    var networks: InterfaceTable?
    private var serial: UInt64 = 0
    private var windows = 0

    init(
        _ settings: Settings = Settings(), devices: [DeviceRecord] = [], tombstones: [Tombstone] = [],
        overrides: SettingsOverrides = SettingsOverrides(), limits: DoorLimits = .reference,
        table: InterfaceTable? = Driver.table, starts: Bool = true
    ) {
        core = Core(
            host: Driver.host, settings: settings, overrides: overrides, devices: devices,
            tombstones: tombstones, primitives: Driver.primitives, limits: limits)
        networks = table
        guard starts else { return }
        core.start(moment)
        settle()
        if let table {
            core.interfacesChanged(table, moment)
            settle()
        }
        effects = []
    }

    static let host = HostFacts(
        fingerprint: key("mac"), recognitionKey: [UInt8](repeating: 0x11, count: 32),
        fallbackName: "Test Host", startedAt: WallTime(milliseconds: start), sessionPrefix: "s",
        bootWall: WallTime(milliseconds: start), version: "0.0-test")
    static let primitives = Primitives(
        hmacSHA256: { Digest.hmacSHA256(key: $0, message: $1) }, equal: { Digest.equal($0, $1) })
    static let start: Int64 = 1_790_000_000_000

    /// The key SHA-256 gives for a word; `mac` and `device` are those of the vectors of 02 §4.3.
    static func key(_ word: String) -> Fingerprint {
        guard let key = Fingerprint(bytes: Digest.sha256(Array(word.utf8))) else {
            preconditionFailure("SHA-256 has 32 bytes")
        }
        return key
    }

    static func record(_ word: String, name: String? = nil) -> DeviceRecord {
        DeviceRecord(
            fingerprint: key(word), name: name ?? word, pairedAt: WallTime(milliseconds: start),
            pairedHow: "qr")
    }

    static func ip(_ text: String) -> IPAddress {
        guard let ip = IPAddress(text) else { preconditionFailure("\(text) is no address") }
        return ip
    }

    static func address(_ ip: String, _ prefix: Int) -> InterfaceAddress {
        InterfaceAddress(ip: Driver.ip(ip), prefixBits: prefix)
    }

    /// An Ethernet card, a WireGuard tunnel and a Tailscale one.
    static let table = InterfaceTable.make(
        links: [
            LinkFacts(index: 1, name: "lo", hardwareType: 772, isLoopback: true),
            LinkFacts(index: 2, name: "eth0", isPhysical: true, isMainDefault: true),
            LinkFacts(index: 3, name: "wg0", hardwareType: 65534, infoKind: "wireguard"),
            LinkFacts(index: 4, name: "tailscale0", hardwareType: 65534, infoKind: "tun"),
            LinkFacts(index: 5, name: "awdl0"),
        ],
        addresses: [
            (1, address("127.0.0.1", 8)), (2, address("192.168.1.20", 24)), (3, address("10.99.0.2", 24)),
            (4, address("100.88.123.45", 32)),
        ], primary: 2)

    var moment: Moment {
        Moment(
            now: .seconds(now), wall: WallTime(milliseconds: Driver.start + Int64((now * 1000).rounded())))
    }

    /// Moves the clock, ticking at every deadline on the way, as the shell does.
    func wait(until time: Double) {
        while let next = core.nextDeadline, next.nanoseconds <= MonotonicTime.seconds(time).nanoseconds {
            now = max(now, Double(next.nanoseconds) / 1e9)
            core.tick(moment)
            settle()
        }
        now = time
    }

    /// Answers what the shell would answer, until nothing is left.
    func settle() {
        while true {
            let taken = core.takeEffects()
            if taken.isEmpty { return }
            for effect in taken {
                switch effect {
                case .commit(let id, let commit):
                    commits.append(commit)
                    effects.append(effect)
                    if let store { core.committed(id, store, moment) } else { waiting.append(id) }
                case .record(let commit): commits.append(commit)
                case .openDoor(let door, let port):
                    effects.append(effect)
                    let bound = port == 0 ? (door == .home ? 54021 : 40111) : port
                    if opensDoors { core.doorState(door, .listening(port: UInt16(bound)), moment) }
                case .deriveCodeKey(let window, let code):
                    core.codeKeyDerived(window: window, key: Driver.codeKey(code), moment)
                case .watchReachability(let wanted):
                    effects.append(effect)
                    if wanted.watches { look() }
                case .needEntropy: if suppliesEntropy { core.supply(entropy()) }
                default: effects.append(effect)
                }
            }
        }
    }

    /// What the watcher tells after a look.
    func look() {
        guard let networks else { return }
        var evidence = ReachabilityEvidence()
        evidence.table = networks
        core.reachabilityRead(evidence, moment)
    }

    /// The networks are another, and the look at them is done.
    func change(_ table: InterfaceTable) {
        networks = table
        input { core, moment in core.interfacesChanged(table, moment) }
        look()
        settle()
    }

    /// Not PBKDF2: a test needs a key that depends on the code, not one that is slow.
    static func codeKey(_ code: String) -> [UInt8] { Digest.sha256(Array(code.utf8)) }

    func entropy() -> WindowEntropy {
        windows += 1
        return WindowEntropy(
            id: "w\(windows)", secret: [UInt8](repeating: UInt8(windows & 0xFF), count: 16),
            code: "482913557208")
    }

    /// Runs one input and settles.
    func input<R>(_ body: (inout Core, Moment) -> R) -> R {
        let result = body(&core, moment)
        settle()
        return result
    }

    // MARK: - Connections

    func nextID() -> ConnectionID {
        serial += 1
        return ConnectionID(owner: 1, serial: serial)
    }

    struct From {
        var source: String
        var local: String?
        var receivedOn: UInt32?

        static let lan = From(source: "192.168.1.23", local: "192.168.1.20", receivedOn: 2)
        static let internet = From(source: "203.0.113.9", local: "192.168.1.20", receivedOn: 2)
        static let vpn = From(source: "100.84.3.2", local: "100.88.123.45", receivedOn: 4)
        static let host = From(source: "127.0.0.1", local: "127.0.0.1", receivedOn: 1)
        static let direct = From(source: "fe80::9", local: nil, receivedOn: 5)
        static func lan(_ last: Int) -> From {
            From(source: "192.168.1.\(last)", local: "192.168.1.20", receivedOn: 2)
        }
    }

    private var port: UInt16 = 40_000

    /// Step A.
    func arrive(_ door: Door, _ from: From = .lan) -> (id: ConnectionID, verdict: StartVerdict) {
        let id = nextID()
        port &+= 1
        let arrival = Arrival(
            id: id, door: door, peer: SocketAddress(ip: Driver.ip(from.source), port: port),
            local: from.local.map { SocketAddress(ip: Driver.ip($0), port: 7455) },
            receivedOn: from.receivedOn)
        return (id, input { $0.connectionArrived(arrival, $1) })
    }

    /// How far a connection got.
    enum Outcome: Equatable {
        case refusedAtStart(RefusalWord)
        case refusedInHandshake
        case refused(RefusalWord)
        case goodbye(String)
        case session(SessionID)
        case pairing(ConnectionID)
    }

    /// A whole connection: accept, TLS, ready, and registering.
    func connect(
        _ door: Door, _ word: String?, alpn: ALPN = .session, _ from: From = .lan, hello: Hello? = nil
    ) -> Outcome {
        let (id, verdict) = arrive(door, from)
        if case .refuse(let word) = verdict { return .refusedAtStart(word) }
        let key = word.map { Driver.key($0) }
        if !core.trust.verify(door: door, alpn: alpn.rawValue, key: key) {
            input {
                $0.connectionFailed(id, key == nil ? .noCertificate : .untrusted, key: key, $1)
            }
            return .refusedInHandshake
        }
        switch input({ $0.connectionReady(id, alpn: alpn.rawValue, key: key, $1) }) {
        case .refuse(let word): return .refused(word)
        case .goodbye(let goodbye): return .goodbye(goodbye.reason)
        case .pairing: return .pairing(id)
        case .session:
            switch input({ $0.register(id, hello: hello, counters: SessionCounters(), $1) }) {
            case .session(let view): return .session(view.id)
            case .goodbye(let goodbye): return .goodbye(goodbye.reason)
            case .refuse: return .refused(.unpaired)
            }
        }
    }

    func session(_ door: Door, _ word: String, _ from: From = .lan, hello: Hello? = nil) -> SessionID? {
        if case .session(let id) = connect(door, word, from, hello: hello) { id } else { nil }
    }

    // MARK: - Pairing

    /// The kind 20 of one pairing connection; nil when it was closed without one.
    func pair(_ door: Door, _ word: String, _ request: PairRequest, _ from: From = .lan) -> PairResult? {
        guard case .pairing(let id) = connect(door, word, alpn: .pairing, from) else { return nil }
        input { $0.pairingMessage(id, request, $1) }
        return answer(to: id)
    }

    func answer(to id: ConnectionID) -> PairResult? {
        for case .answerPairing(id, let result) in effects { return result }
        return nil
    }

    /// A right proof of the open window.
    func proof(_ word: String, _ method: String = "qr") -> PairRequest {
        let offer = core.window(moment)
        let key = method == "qr" ? offer?.link.secret ?? [] : Driver.codeKey(offer?.code ?? "")
        let text = ProofText.device(fpDevice: Driver.key(word), fpMac: core.host.fingerprint)
        return PairRequest(
            method: method, proof: Base64URL.encode(Digest.hmacSHA256(key: key, message: text)), name: word)
    }

    func wrongProof(_ method: String = "qr") -> PairRequest {
        PairRequest(method: method, proof: Base64URL.encode([UInt8](repeating: 7, count: 32)), name: "iPad")
    }

    @discardableResult func openWindow(
        remote: Bool = true, replace: Bool = false, lifetime: Duration = .seconds(300),
        openedBy: WindowOpener = .admin
    ) -> OpenWindowAnswer {
        let wanted = OpenWindow(
            actor: Actor(text: "unix:0"), openedBy: openedBy, lifetime: lifetime, remote: remote,
            replace: replace, entropy: entropy())
        return input { $0.openWindow(wanted, $1) }
    }

    func unlock() { _ = input { $0.setLock(false, actor: Actor(text: "token:host"), $1) } }

    func ask(_ word: String, _ from: From = .lan) -> PairResult? {
        pair(.home, word, PairRequest(method: "ask", name: word), from)
    }

    // MARK: - Changes

    @discardableResult func set(_ change: (inout Settings) -> Void) -> ProposalAnswer {
        let change = core.settingsChange(change)
        return input { $0.propose(change, actor: Actor(text: "unix:0"), $1) }
    }

    @discardableResult func remove(_ word: String) -> ProposalAnswer {
        input { $0.propose(.remove(Driver.key(word).id), actor: Actor(text: "unix:0"), $1) }
    }

    // MARK: - What came of it

    /// The goodbyes since the last look, as (session, reason); "-" for a session that is cut.
    var goodbyes: [(SessionID, String)] {
        effects.compactMap {
            if case .endSession(let id, _, let goodbye) = $0 { (id, goodbye?.reason ?? "-") } else { nil }
        }
    }

    /// What `session.closing` said, as (session, reason); "-" without a goodbye.
    var closings: [(SessionID, String)] {
        effects.compactMap {
            if case .event(.sessionClosing(let view, let goodbye)) = $0 {
                (view.id, goodbye?.reason ?? "-")
            } else {
                nil
            }
        }
    }

    /// How sessions ended.
    var endings: [(SessionID, SessionEnd)] {
        effects.compactMap {
            if case .event(.sessionClosed(let view, let why)) = $0 { (view.id, why) } else { nil }
        }
    }

    var doorEffects: [String] {
        effects.compactMap {
            switch $0 {
            case .openDoor(let door, let port): "open \(door.rawValue) \(port)"
            case .closeDoor(let door): "close \(door.rawValue)"
            default: nil
            }
        }
    }

    var outcomes: [ChangeOutcome] {
        effects.compactMap { if case .changeDone(_, let outcome) = $0 { outcome } else { nil } }
    }

    var closedWindows: [WindowClose] {
        effects.compactMap {
            if case .event(.windowClosed(let outcome)) = $0 { outcome.outcome } else { nil }
        }
    }

    /// Summary lines, as "door words".
    var summaryLines: [String] {
        commits.flatMap(\.audit).filter { $0.action == "door.refused" }.map {
            "\($0.actor.dropFirst(5)) \($0.detail ?? "")"
        }
    }

    var logs: [LogLine] {
        effects.compactMap { if case .log(let line) = $0 { line } else { nil } }
    }
}
