// SPDX-License-Identifier: Apache-2.0

internal import APITypes
internal import Core
internal import LocalAPI
internal import Policy
internal import Store
internal import Wire

/// The service itself: health, metrics, status, events, the lock, and the API's description.
enum ServiceRoutes {
    static func routes(_ services: APIServices) -> [APIRoute] {
        [
            APIRoute(.get, "/healthz", .open) { _, responder in
                let health = health(services)
                responder.send(health, status: health.reasons.isEmpty ? 200 : 503)
            },
            APIRoute(.get, "/metrics", services.isMetricsOpen ? .open : .admin) { _, responder in
                responder.send(Answer(200, .metrics, MetricsPage.make(services)))
            },
            APIRoute(.get, "/v1/openapi.json", .open) { _, responder in
                responder.send(Answer(200, .json, OpenAPIDocument.bytes))
            },
            APIRoute(.get, "/v1/status", .host) { _, responder in responder.send(status(services)) },
            APIRoute(.get, "/v1/events", .host) { request, responder in
                var reset = JSONWriter()
                reset.object { $0.field("at", services.now().wall.rfc3339) }
                responder.send(
                    .events(services.events.subscribe(lastSeen: request.lastEventID, resetData: reset.bytes)))
            },
            APIRoute(.put, "/v1/lock", .host) { request, responder in
                let wanted = try LockBody(json: request.json())
                let state = services.core.enter { core, moment in
                    core.setLock(wanted.locked, actor: Actor(request), moment)
                }
                responder.send(LockBody(locked: state == .locked))
            },
        ]
    }

    /// Degraded when the store cannot be written or a door that should be open is not (spec 07).
    private static func health(_ services: APIServices) -> Health {
        var reasons: [String] = []
        let store = services.store.checkHealth()
        if !store.isWritable {
            reasons.append("The database cannot be written: \(store.lastError ?? "the last commit failed").")
        }
        let status = services.core.enter { core, moment in core.status(moment) }
        for (name, state) in [("home", status.homeDoor), ("remote", status.remoteDoor)] {
            let door = DoorStatus(state)
            if door.isFailed {
                reasons.append("The \(name) door cannot listen: \(door.problem ?? "it failed").")
            }
        }
        return Health(reasons: reasons)
    }

    private static func status(_ services: APIServices) -> Status {
        let (status, host, name, moment) = services.core.enter { core, moment in
            (core.status(moment), core.host, core.hostName, moment)
        }
        var notices: [Notice] = []
        if let older = status.olderDevice {
            notices.append(Notice(kind: "olderDevice", place: older.place, until: older.until))
        }
        return Status(
            version: host.version, hostID: host.fingerprint.id.text, name: name,
            startedAt: services.started.wall, uptime: milliseconds(moment.now - services.started.now),
            lock: status.lock.rawValue, home: DoorStatus(status.homeDoor),
            remote: DoorStatus(status.remoteDoor),
            window: WindowSummary(open: status.window.map { WindowSummary.Open($0) }),
            sessions: status.sessions, devices: status.devices,
            qualityRuns: status.quality.runsAway ? "away" : "home", advertising: status.advertising.rawValue,
            reachability: status.reachability.map {
                ReachabilitySummary(verdict: $0.verdict.rawValue, at: $0.at)
            }, request: status.request.map { PairingRequestItem($0) }, notices: notices)
    }

    /// Seconds, cut to milliseconds.
    private static func milliseconds(_ duration: Duration) -> Double {
        (duration.seconds * 1000).rounded(.down) / 1000
    }
}
