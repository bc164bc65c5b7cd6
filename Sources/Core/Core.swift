// SPDX-License-Identifier: Apache-2.0

internal import LatchkeyStream
package import Policy
package import Wire

/// The deterministic state machine behind both ways of using Latchkey: `(state, input, moment) -> (state, effects)`.
/// It opens nothing, waits for nothing and reads no clock. Its inputs are grouped by file: connections, sessions,
/// pairing, asks, windows, changes, doors, reachability, time, the delegated API, and the views.
package struct Core: Sendable {
    /// Who this host is; `begin` gives it another key.
    package private(set) var host: HostFacts
    /// The trust that holds now; the shell publishes it whenever it is another one.
    package private(set) var trust: TrustSnapshot
    /// In force: the stored ones under the command line's.
    package private(set) var settings: Settings
    /// As the store has them; a change is proposed from these.
    package private(set) var storedSettings: Settings
    /// What was counted since the start.
    package internal(set) var counters = CoreCounters()
    /// How the last window ended; nil before the first.
    package internal(set) var lastWindow: WindowOutcome?
    /// What kind 18 says now; the shell stamps `issuedAt` and signs.
    package internal(set) var hostInfo: HostInfo

    let overrides: SettingsOverrides
    let primitives: Primitives
    let limits: DoorLimits

    /// Changed through `put`, `take` and `begin` only, which keep `cables` true.
    private(set) var devices: DeviceMap
    var cables: CableBook
    var tombstones: [Fingerprint: Tombstone]
    /// When a removed key's try was told to the admin last.
    var removedTries: [Fingerprint: MonotonicTime] = [:]

    var home: DoorBook
    var remote: DoorBook
    var connections: [ConnectionID: Connection] = [:]
    var table = SessionTable()
    var delegated = DelegatedBook()
    var signatureLimit = RateLimit(perSecond: Core.signaturesPerSecond)
    var signatureTally = SignatureTally()

    var opened: OpenedWindow?
    var spareEntropy: WindowEntropy?
    var askLimits = AskLimits()
    var askLog = LinkedTable<IPAddress, MonotonicTime>()
    var request: PairingRequest?
    var lockWord = LockWord()
    var logind = LockPolicy.Witness.silent
    var lastLock = LockState.locked

    var gate = DeviceGate()
    var older = OlderTries()
    var olderPlace = ""

    var pendingChanges: [ChangeID: PendingChange] = [:]
    var lastChange: UInt64 = 0
    /// The rotation that waits for the store.
    var rotation: ChangeID?

    /// What was last told to be announced.
    var advertised: Advertisement?
    /// What the advertiser said last.
    var advertiser = AdvertisingState.off

    var interfaces = InterfaceTable.empty
    var serviceNames = ServiceNames(.empty)
    var reachability = ReachabilityBook()
    var isRunning = false
    var isStopping = false
    var lastQuality: QualityView
    var links = LinkBook()

    private var effects: [Effect] = []
    private var announced: MonotonicTime?
    /// What `settle` compares with; brought up to date whenever effects are taken.
    private(set) var due: MonotonicTime?
    /// Something happened that may have moved a deadline.
    private var isDueStale = true

    /// A core at rest; `start` opens the doors. `devices` and `tombstones` are the store's.
    package init(
        host: HostFacts, settings stored: Settings, overrides: SettingsOverrides, devices: [DeviceRecord],
        tombstones: [Tombstone], primitives: Primitives, limits: DoorLimits = .shipped
    ) {
        let settings = overrides.applied(to: stored)
        self.host = host
        storedSettings = stored
        self.settings = settings
        self.overrides = overrides
        self.primitives = primitives
        self.limits = limits
        self.devices = DeviceMap(devices)
        cables = CableBook(devices)
        self.tombstones = Dictionary(
            tombstones.map { ($0.fingerprint, $0) }, uniquingKeysWith: { $1 })
        home = DoorBook(limits)
        remote = DoorBook(limits)
        trust = TrustSnapshot(
            devices: self.devices,
            switches: DoorPolicy.Switches(
                requirePairing: settings.requirePairing, remoteAccess: settings.remoteAccess,
                effectiveInternet: settings.effectiveInternet, remotePairingOpen: false))
        hostInfo = HostInfo(
            macID: host.fingerprint.id.text, name: Self.name(settings, host), issuedAt: 0,
            remoteAccess: settings.remoteAccess,
            remotePort: settings.remotePort == 0 ? SettingRange.defaultRemotePort : settings.remotePort,
            internet: settings.effectiveInternet, addresses: [])
        lastQuality = QualityView(settings, runsAway: false)
        links.judged = StreamTarget(usual: lastQuality.pair)
    }

    /// Opens the doors. Once, before any other input.
    package mutating func start(_ moment: Moment) {
        isRunning = true
        emit(.needEntropy)
        updateDoors(moment)
        log(
            .info, "started",
            [
                ("host", host.fingerprint.id.text), ("devices", String(devices.count)),
                ("version", host.version),
            ])
    }

    /// The service stops: `quit` to every session, no further connection. The shell closes what is left.
    package mutating func stop(_ moment: Moment) {
        guard !isStopping else { return }
        isStopping = true
        closeWindow(.cancelled, quiets: false, actor: .service, moment)
        updateDoors(moment)
        for session in table.all() { end(session.view.id, .quit, moment) }
        for id in connections.keys { emit(.closeConnection(id)) }
        connections = [:]
        delegated.pending.removeAll()
        log(.info, "stopping")
    }

    /// The effects since the last call, in order. With them goes the deadline, if it became earlier.
    package mutating func takeEffects() -> [Effect] {
        if isDueStale {
            refreshDue()
            if let due, announced.map({ due < $0 }) ?? true {
                announced = due
                effects.append(.wake(due))
            }
        }
        guard !effects.isEmpty else { return [] }
        var taken: [Effect] = []
        swap(&taken, &effects)
        return taken
    }

    // MARK: - Shared by the inputs

    /// Every effect may come with a moved deadline; what moves one without an effect says `touchDeadlines`.
    mutating func emit(_ effect: Effect) {
        effects.append(effect)
        isDueStale = true
    }

    mutating func log(_ level: LogLine.Level, _ message: String, _ fields: [(String, String)] = []) {
        emit(.log(LogLine(level, message, fields)))
    }

    mutating func audit(_ row: AuditRow) {
        emit(.record(StoreCommit(change: .auditOnly, audit: [row])))
    }

    mutating func touchDeadlines() { isDueStale = true }

    mutating func refreshDue() {
        due = nextDeadline
        isDueStale = false
    }

    /// The deadline that was announced has come; the next one is told again.
    mutating func forgetAnnouncement() {
        announced = nil
        refreshDue()
        isDueStale = true
    }

    /// The book of a door.
    subscript(door: Door) -> DoorBook {
        // Lent, not copied: a book holds many tables.
        _read {
            if door == .home { yield home } else { yield remote }
        }
        _modify {
            if door == .home { yield &home } else { yield &remote }
        }
    }

    /// What verdicts depend on: those of the snapshot, which is made anew with each of them.
    var switches: DoorPolicy.Switches { trust.switches }

    private var currentSwitches: DoorPolicy.Switches {
        DoorPolicy.Switches(
            requirePairing: settings.requirePairing, remoteAccess: settings.remoteAccess,
            effectiveInternet: settings.effectiveInternet, remotePairingOpen: opened?.isForRemote ?? false)
    }

    /// Makes the snapshot that `enter` publishes before it hands over any effect of this entry.
    mutating func publish() { trust = TrustSnapshot(devices: devices, switches: currentSwitches) }

    /// Adds a record to the list or replaces the one of its key.
    mutating func put(_ record: DeviceRecord) {
        cables.replace(devices[record.fingerprint], by: record)
        devices.set(record)
    }

    /// Takes a key off the list; its cable is free again.
    mutating func take(_ key: Fingerprint) -> DeviceRecord? {
        let removed = devices.remove(key)
        cables.replace(removed, by: nil)
        return removed
    }

    /// Becomes another host, with an empty list: what the old one promised ended with it. Returns the list that was.
    /// No commit that binds a cable can be on its way then, so none is reserved.
    mutating func begin(_ identity: StoredIdentity) -> DeviceMap {
        let old = devices
        host.fingerprint = identity.fingerprint
        host.recognitionKey = identity.recognitionKey
        devices = DeviceMap()
        cables = CableBook([])
        return old
    }

    mutating func setSettings(stored: Settings) {
        storedSettings = stored
        settings = overrides.applied(to: stored)
    }

    /// The host's name to people; never empty.
    package var hostName: String { Self.name(settings, host) }

    private static func name(_ settings: Settings, _ host: HostFacts) -> String {
        let names = [settings.name, host.fallbackName].compactMap { $0.map { Label.clean($0) } }
        // 01 §6.2's own word for a host without a name.
        return names.first { !$0.isEmpty } ?? "Mac"
    }
}
