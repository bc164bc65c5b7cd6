// SPDX-License-Identifier: Apache-2.0

internal import APITypes
internal import Core
internal import LocalAPI
internal import Policy
internal import Wire

/// What a streaming process does with connections it holds itself, once they were admitted (spec 03 section 6).
enum DelegatedRoutes {
    static func routes(_ services: APIServices) -> [APIRoute] {
        let core = services.core
        return [
            APIRoute(.post, "/v1/admissions/failures", .host) { request, responder in
                let body = try DelegatedBody.failure(request)
                services.withOrigin(body.query) { query in
                    core.enter { core, moment in
                        core.delegatedFailed(query, body.failure, key: body.key, moment)
                    }
                    responder.send(Answer(204, .json, []))
                }
            },
            APIRoute(.post, "/v1/pairing/requests", .host) { request, responder in
                let (query, message) = try DelegatedBody.pairing(request)
                services.withOrigin(query) { query in
                    services.withCable(query, isWanted: message?.method == "ask") { cable in
                        pair(services, query, message, cable, responder)
                    }
                }
            },
            APIRoute(.post, "/v1/sessions", .host) { request, responder in
                let (query, hello) = try DelegatedBody.session(request)
                services.withOrigin(query) { query in
                    services.withCable(query, isWanted: true) { cable in
                        register(services, query, hello, cable, responder)
                    }
                }
            },
            APIRoute(.delete, "/v1/sessions", .host) { _, responder in
                let count = core.enter { core, moment in core.deleteDelegatedSessions(moment) }
                responder.send(SessionsClosed(closedSessions: count))
            },
            APIRoute(.delete, "/v1/sessions/{id}", .host) { request, responder in
                let id = SessionID(text: request.parameter(0))
                try check(core.enter { core, moment in core.deleteSession(id, moment) })
                responder.send(WindowClosed(closed: true))
            },
            APIRoute(.post, "/v1/sessions/{id}/hello", .host) { request, responder in
                let hello = try Hello(json: request.json())
                let id = SessionID(text: request.parameter(0))
                try check(core.enter { core, moment in core.delegatedHello(id, hello, moment) })
                responder.send(Answer(204, .json, []))
            },
            APIRoute(.post, "/v1/sessions/{id}/pairing-wanted", .host) { request, responder in
                let id = SessionID(text: request.parameter(0))
                try check(core.enter { core, moment in core.delegatedPairingWanted(id, moment) })
                responder.send(Answer(204, .json, []))
            },
        ]
    }

    private static func check(_ call: Core.DelegatedCall) throws(Problem) {
        switch call {
        case .done: return
        case .notFound: throw APIProblems.sessionNotFound
        case .relayed: throw APIProblems.notDelegated
        }
    }

    /// Answers when the core has; a pairing waits for its record to be durable.
    private static func pair(
        _ services: APIServices, _ query: AdmissionQuery, _ message: PairRequest?, _ cable: CableVerdict,
        _ responder: Responder
    ) {
        services.core.enter { core, moment in
            switch core.delegatedPairing(query, message, cable: cable, moment) {
            case .badMessage: responder.refuse(APIProblems.badPairingMessage)
            case .refused(let word):
                responder.send(PairingMessageReply(payload: nil, reason: word.rawValue))
            case .waiting(let id):
                services.pairings.expect(id) { result in
                    responder.send(later: { result.map(answer) ?? .problem(APIProblems.stopping) })
                }
            }
        }
    }

    private static func answer(_ result: PairResult) -> Answer {
        var answer = Answer.object(PairingMessageReply(payload: try? JSON.parse(result.encode())))
        // With an ok comes the key that devices recognise the host by.
        answer.headers.append(("Cache-Control", "no-store"))
        return answer
    }

    private static func register(
        _ services: APIServices, _ query: AdmissionQuery, _ hello: Hello?, _ cable: CableVerdict,
        _ responder: Responder
    ) {
        // Signed first: a session that cannot be told about must not be in the table.
        guard let info = (try? services.hostInfo()).flatMap({ try? JSON.parse($0) }) else {
            return responder.refuse(APIProblems.cannotSign)
        }
        let (registration, quality) = services.core.enter {
            core, moment -> (Core.DelegatedRegistration, QualityReport?) in
            let registration = core.registerDelegated(
                query, hello: hello, cable: cable, counters: SessionCounters(), moment)
            let report: QualityReport? =
                if case .session(let view) = registration { core.qualityReport(of: view) } else { nil }
            return (registration, report)
        }
        switch registration {
        case .session(let view):
            guard let quality else { return }
            responder.send(
                SessionReply(
                    SessionReply.Registered(
                        session: SessionItem(view), hostInfo: info, quality: QualityItem(quality))),
                status: 201)
        case .goodbye(let goodbye, let delay):
            responder.send(
                SessionReply(
                    goodbye: GoodbyeItem(goodbye), delay: delay > .zero ? delay.seconds : nil))
        case .refuse(let word): responder.send(SessionReply(reason: word.rawValue))
        case .full: responder.refuse(APIProblems.sessionLimit)
        }
    }
}

extension APIServices {
    /// Reads the cable rule where it can hold at all, a link-local source of the home door (04 section 3.1), and goes on
    /// with its verdict, at once or from another thread. Not wanted: it says nothing about this call.
    fileprivate func withCable(
        _ query: AdmissionQuery, isWanted: Bool, _ then: @escaping @Sendable (CableVerdict) -> Void
    ) {
        guard isWanted, query.door == .home, query.remote.ip.family == .v6, query.remote.ip.isLinkLocal else {
            return then(.not(.notLinkLocal))
        }
        let source = core.enter { core, _ in core.resolved(query.remote, zoneName: query.zoneName) }
        guard source.ip.scope != 0 else { return then(.not(.noZone)) }
        cable(source.ip, then)
    }
}
