// SPDX-License-Identifier: Apache-2.0

package import Policy
package import Wire

/// The deterministic state machine behind both ways of using Latchkey: `(state, input, moment) -> (state, effects)`.
/// It opens nothing, waits for nothing and reads no clock.
package struct Core: Sendable {
    package let host: HostFacts
    package private(set) var trust: TrustSnapshot
    private var effects: [Effect] = []
    package var settings: Settings
    package var storedSettings: Settings

    package init(
        host: HostFacts, settings: Settings, overrides: SettingsOverrides, devices: [DeviceRecord],
        tombstones: [Tombstone], primitives: Primitives, limits: DoorLimits = .shipped
    ) {
        self.host = host
        self.settings = settings
        storedSettings = settings
        trust = TrustSnapshot(
            devices: DeviceMap(devices),
            switches: DoorPolicy.Switches(
                requirePairing: true, remoteAccess: false, effectiveInternet: false, remotePairingOpen: false)
        )
    }

    package mutating func takeEffects() -> [Effect] {
        defer { effects.removeAll(keepingCapacity: true) }
        return effects
    }

    package mutating func start(_ moment: Moment) {}
    package mutating func connectionArrived(_ arrival: Arrival, _ moment: Moment) -> StartVerdict {
        .refuse(.limit)
    }
    package mutating func connectionSentClientHello(_ id: ConnectionID) {}
    package mutating func connectionFailed(
        _ id: ConnectionID, _ why: HandshakeFailure, key: Fingerprint? = nil, _ moment: Moment
    ) {}
    package mutating func connectionLeft(_ id: ConnectionID, _ moment: Moment) {}
    package mutating func connectionReady(
        _ id: ConnectionID, alpn: String?, key: Fingerprint?, _ moment: Moment
    ) -> ReadyVerdict { .refuse(.unpaired) }
    package func updateGoodbye(_ hello: Hello?) -> Goodbye { .quit }
    package mutating func gateRefused(_ id: ConnectionID, _ moment: Moment) -> Duration { .zero }
    package mutating func register(
        _ id: ConnectionID, hello: Hello?, counters: SessionCounters, _ moment: Moment
    ) -> RegisterVerdict { .refuse }
    package mutating func pairingMessage(_ id: ConnectionID, _ request: PairRequest, _ moment: Moment) {}
    package mutating func sessionHello(_ id: SessionID, _ hello: Hello, _ moment: Moment) {}
    package mutating func pairingWanted(_ id: SessionID, _ moment: Moment) {}
    package mutating func sessionEnded(_ id: SessionID, _ why: SessionEnd, _ moment: Moment) {}
    package mutating func admission(_ query: AdmissionQuery, _ moment: Moment) -> AdmissionAnswer {
        AdmissionAnswer(
            decision: .refuse(.limit), origin: .internet, cable: false, route: "", away: false)
    }
    package mutating func openWindow(_ window: OpenWindow, _ moment: Moment) -> OpenWindowAnswer {
        .alreadyOpen
    }
    package mutating func closeWindow(actor: Actor, _ moment: Moment) -> Bool { false }
    package func window(_ moment: Moment) -> WindowOffer? { nil }
    package var lastWindow: WindowOutcome? { nil }
    package mutating func codeKeyDerived(window: String, key: [UInt8], _ moment: Moment) {}
    package mutating func supply(_ entropy: WindowEntropy) {}
    package mutating func propose(_ change: Change, actor: Actor, _ moment: Moment) -> ProposalAnswer {
        .refused(.stopping)
    }
    package mutating func committed(_ id: ChangeID, _ result: CommitResult, _ moment: Moment) {}
    package mutating func disconnect(
        _ id: SessionID, message: String?, actor: Actor, _ moment: Moment
    ) -> Bool { false }
    package mutating func setLock(_ locked: Bool, actor: Actor, _ moment: Moment) -> LockState { .locked }
    package mutating func stop(_ moment: Moment) {}
    package mutating func interfacesChanged(_ table: InterfaceTable, _ moment: Moment) {}
    package mutating func doorState(_ door: Door, _ state: DoorState, _ moment: Moment) {}
    package mutating func tick(_ moment: Moment) {}
    package var nextDeadline: MonotonicTime? { nil }
    package func status(_ moment: Moment) -> StatusView {
        StatusView(
            lock: .locked, homeDoor: .off, remoteDoor: .off, wantsRemoteDoor: false, sessions: 0, devices: 0,
            quality: QualityView(
                home: settings.home, away: settings.away, maxFPS: settings.maxFPS, runsAway: false))
    }
    package func sessions() -> [SessionView] { [] }
    package func session(_ id: SessionID) -> SessionView? { nil }
    package func session(remote: SocketAddress) -> SessionView? { nil }
    package func device(_ id: SillID) -> DeviceRecord? { nil }
    package func devices(prefix: String, limit: Int) -> [DeviceRecord] { [] }
    package func devices(named name: String) -> [DeviceRecord] { [] }
    package func devices(after: SillID?, limit: Int) -> [DeviceRecord] { [] }
    package func connectedCount(_ key: Fingerprint) -> Int { 0 }
    package func tombstone(_ key: Fingerprint) -> Tombstone? { nil }
    package var overridden: [String] { [] }
    package var hostInfo: HostInfo {
        HostInfo(
            macID: host.fingerprint.id.text, name: host.fallbackName, issuedAt: 0, remoteAccess: false,
            remotePort: settings.remotePort, internet: false, addresses: [])
    }
    package var hostName: String { host.fallbackName }
    package var counters: CoreCounters { CoreCounters() }
}
