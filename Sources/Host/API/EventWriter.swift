// SPDX-License-Identifier: Apache-2.0

internal import APITypes
package import Core
package import LocalAPI
internal import Policy
internal import Synchronization
package import Wire

/// Writes the core's events to the API's streams (spec 09.24).
///
/// Called under the core's lock, so it must not enter the core: what an event does not carry is kept here.
package final class EventWriter: Sendable {
    private let hub: EventHub
    private let windows: WindowDesk
    private let fallbackName: String
    private let overridden: [String]
    private let identity: @Sendable () -> HostIdentity
    private let wall: @Sendable () -> WallTime
    private let now: @Sendable () -> MonotonicTime
    /// Sessions by key, counted from the events themselves.
    private let connected = Mutex<[Fingerprint: Int]>([:])

    /// A writer to `hub`. `fallbackName` is the machine's own, `overridden` what the command line holds, `identity` who
    /// the host is at that moment.
    package init(
        hub: EventHub, windows: WindowDesk, fallbackName: String, overridden: [String],
        identity: @escaping @Sendable () -> HostIdentity, wall: @escaping @Sendable () -> WallTime,
        now: @escaping @Sendable () -> MonotonicTime
    ) {
        self.hub = hub
        self.windows = windows
        self.fallbackName = fallbackName
        self.overridden = overridden
        self.identity = identity
        self.wall = wall
        self.now = now
    }

    /// Takes effect `event`.
    package func write(_ event: Event) {
        typealias Kind = EventEnvelope.Kind
        switch event {
        case .windowOpened(let offer):
            let asker = offer.askedBy.map { APIDeviceRef(id: $0.id.text, name: $0.name) }
            publish(
                Kind.pairingOpened,
                WindowEvent(
                    id: offer.id, open: WindowSummary.Open(offer), askedBy: asker,
                    requestedBy: offer.requestedBy))
        case .windowClosed(let outcome):
            windows.closed(outcome.id)
            publish(
                Kind.pairingClosed,
                WindowEvent(
                    id: outcome.id, outcome: outcome.outcome.rawValue, device: outcome.device?.text))
        case .requested(let request):
            publish(Kind.pairingRequested, PairingRequestItem(request), stampsAt: false)
        case .devicePaired(let record): publish(Kind.devicePaired, device(record))
        case .deviceRenamed(let record): publish(Kind.deviceRenamed, device(record))
        case .deviceRemoved(let record): publish(Kind.deviceRemoved, device(record))
        case .deviceSeen(let record): publish(Kind.deviceSeen, device(record))
        case .sessionOpened(let view):
            count(view, by: 1)
            publish(Kind.sessionOpened, SessionItem(view))
        case .sessionClosing(let view, _): publish(Kind.sessionClosing, SessionItem(view))
        case .sessionClosed(let view, let why):
            count(view, by: -1)
            publish(Kind.sessionClosed, SessionItem(view)) { $0.field("ended", why.rawValue) }
        case .settingsChanged(let settings):
            publish(
                Kind.settingsChanged,
                SettingsBody(settings, fallbackName: fallbackName, overridden: overridden))
        case .qualityChanged(let report): publish(Kind.qualityChanged, QualityItem(report))
        case .linkChanged(let change): publish(Kind.linkChanged, LinkEvent(change))
        case .doorChanged(let door, let state):
            publish(Kind.doorChanged, DoorStatus(state)) { $0.field("door", door.rawValue) }
        case .lockChanged(let state): publish(Kind.lockChanged, LockBody(locked: state == .locked))
        case .reachabilityChanged(let made):
            publish(
                Kind.reachabilityChanged,
                ReachabilityRoutes.object(made, took: nil, Moment(now: now(), wall: wall())), stampsAt: false)
        case .identityRotated(let rotation):
            publish(Kind.identityRotated, identity().body(name: rotation.name)) { writer in
                writer.field("previousHostID", rotation.previous.id.text)
                writer.field("removedDevices", rotation.removedDevices)
                writer.field("closedSessions", rotation.closedSessions)
            }
        }
    }

    /// Takes effect `broadcastHostInfo`: what kind 18 says is another now.
    package func hostInfoChanged() {
        var writer = JSONWriter()
        writer.object { $0.field("at", wall().rfc3339) }
        hub.publish(type: EventEnvelope.Kind.hostInfoChanged, data: writer.bytes)
    }

    /// The object with `at` after it; a request has its own.
    private func publish(
        _ type: String, _ object: some APIObject, stampsAt: Bool = true,
        _ more: (inout JSONWriter) -> Void = { _ in }
    ) {
        var writer = JSONWriter(capacity: 512)
        writer.object { writer in
            object.encode(into: &writer)
            more(&writer)
            if stampsAt { writer.field("at", wall().rfc3339) }
        }
        hub.publish(type: type, data: writer.bytes)
    }

    private func device(_ record: DeviceRecord) -> Device {
        Device(record, connected: connected.withLock { $0[record.fingerprint] ?? 0 })
    }

    private func count(_ view: SessionView, by step: Int) {
        guard let key = view.fingerprint else { return }
        connected.withLock { connected in
            let now = (connected[key] ?? 0) + step
            connected[key] = now > 0 ? now : nil
        }
    }
}
