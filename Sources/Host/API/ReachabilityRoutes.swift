// SPDX-License-Identifier: Apache-2.0

internal import APITypes
internal import Core
internal import LocalAPI
internal import Policy
internal import ReachabilityFacts
internal import Wire

/// Whether devices reach this host from away, and the port mapping that may help (05 B8, B11; 09.36, 09.42).
enum ReachabilityRoutes {
    static func routes(_ services: APIServices) -> [APIRoute] {
        [
            APIRoute(.get, "/v1/reachability", .host) { request, responder in
                if try !request.flag("refresh"),
                    let made = services.core.enter({ core, _ in core.reachabilityReport })
                {
                    return responder.send(object(made, took: nil, services.now()))
                }
                look(services, responder)
            },
            APIRoute(.post, mapping, .admin) { request, responder in
                _ = try request.json(emptyIsObject: true)
                map(services, request, responder)
            },
            APIRoute(.delete, mapping, .admin) { request, responder in unmap(services, request, responder) },
        ]
    }

    private static let mapping = "/v1/reachability/port-mapping"

    /// Looks at everything anew. The facts have entered the core when the look is done, so the answer is the report of
    /// the settings of that moment, whoever else asked for it.
    private static func look(_ services: APIServices, _ responder: Responder) {
        let began = services.now().now
        services.look { evidence in
            responder.send(later: {
                let (report, moment) = services.core.enter { core, moment in
                    (core.reachabilityReport(of: evidence), moment)
                }
                return .object(
                    object(MadeReport(report: report, at: moment.wall), took: moment.now - began, moment))
            })
        }
    }

    // MARK: The mapping

    /// Looks first: what the router says now decides whether it may be asked at all.
    private static func map(_ services: APIServices, _ request: Request, _ responder: Responder) {
        let obstacle = services.core.enter { core, _ in
            core.settings.effectiveInternet ? nil : core.mappingObstacle
        }
        if let obstacle { return responder.refuse(problem(obstacle)) }
        services.look { _ in
            if let obstacle = services.core.enter({ core, _ in core.mappingObstacle }), obstacle != .pending {
                return responder.refuse(problem(obstacle))
            }
            services.requestMapping { standing in
                let outcome = standing.mapping ?? .pending
                switch outcome {
                case .active: keep(services, request, responder, standing)
                case .pending, .toThisHost:
                    responder.send(
                        PortMapping(outcome, expiresAt: nil), status: outcome == .pending ? 202 : 200)
                default: responder.refuse(problem(outcome))
                }
            }
        }
    }

    /// The first success sets the setting (05 B8). A mapping that the setting cannot follow is given back.
    private static func keep(
        _ services: APIServices, _ request: Request, _ responder: Responder,
        _ standing: MappingRunner.Standing
    ) {
        let actor = Actor(request)
        services.core.enter { core, moment in
            let change = core.settingsChange { $0.portMapping = "upnp" }
            let expiresAt = standing.mappingExpires.map { moment.wallTime(of: $0) }
            switch core.propose(change, actor: actor, moment) {
            case .refused(let refusal):
                services.releaseMapping { _ in }
                responder.refuse(APIProblems.refusal(refusal))
            case .pending(let id):
                services.changes.expect(id) { outcome in
                    responder.send(later: {
                        if case .failed(let message) = outcome {
                            services.releaseMapping { _ in }
                            return .problem(APIProblems.storeUnavailable(message))
                        }
                        return .object(PortMapping(standing.mapping ?? .pending, expiresAt: expiresAt))
                    })
                }
            }
        }
    }

    /// The setting goes off first, so that nothing asks for the mapping again. An earlier request that was granted only now
    /// may have switched it on meanwhile: then once more.
    private static func unmap(
        _ services: APIServices, _ request: Request, _ responder: Responder, isAgain: Bool = false
    ) {
        let actor = Actor(request)
        services.core.enter { core, moment in
            let change = core.settingsChange { $0.portMapping = "off" }
            switch core.propose(change, actor: actor, moment) {
            case .refused(let refusal): responder.refuse(APIProblems.refusal(refusal))
            case .pending(let id):
                services.changes.expect(id) { outcome in
                    if case .failed(let message) = outcome {
                        return responder.refuse(APIProblems.storeUnavailable(message))
                    }
                    services.releaseMapping { standing in
                        let isOn = services.core.enter { core, _ in core.storedSettings.portMapping != "off" }
                        if isOn && !isAgain { return unmap(services, request, responder, isAgain: true) }
                        let isLeft = standing.mapping.map { if case .active = $0 { true } else { false } }
                        responder.send(
                            PortMapping(
                                code: "off", state: isLeft == true ? "ours" : "none",
                                detail: isLeft == true
                                    ? "The router did not take it away now; it is tried again, and ends by itself."
                                    : nil))
                    }
                }
            }
        }
    }

    private static func problem(_ outcome: MappingOutcome) -> Problem {
        Problem(409, outcome.code, "No port mapping", detail: outcome.detail ?? "The router was not asked.")
    }

    // MARK: The report's shape

    /// `took` nil: as long as the slowest fact took.
    static func object(_ made: MadeReport, took: Duration?, _ moment: Moment) -> Reachability {
        Reachability(
            made.report, at: made.at, now: moment.now,
            took: took ?? made.report.sources.map(\.took).max() ?? .zero)
    }
}

extension PortMapping {
    /// What became of a request.
    init(_ outcome: MappingOutcome, expiresAt: WallTime?) {
        self.init(code: outcome.code, expiresAt: expiresAt, detail: outcome.detail)
        switch outcome {
        case .active(let grant):
            state = "ours"
            target = "\(grant.wish.lan):\(grant.wish.insidePort)"
        case .toThisHost: state = "toThisHost"
        default: break
        }
    }
}

extension Moment {
    /// When a monotonic time is, on the wall as it goes now.
    func wallTime(of time: MonotonicTime) -> WallTime {
        WallTime(milliseconds: wall.milliseconds + (time - now).wholeNanoseconds / 1_000_000)
    }
}
