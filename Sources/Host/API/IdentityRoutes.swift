// SPDX-License-Identifier: Apache-2.0

internal import APITypes
internal import Core
internal import LocalAPI
internal import Wire

/// Who the host is, the signed host info of kind 18, signatures for handshakes of a streaming process, and the way to
/// another key.
enum IdentityRoutes {
    static func routes(_ services: APIServices) -> [APIRoute] {
        [
            APIRoute(.get, "/v1/identity", .host) { _, responder in responder.send(identity(services)) },
            APIRoute(.get, "/v1/identity/host-info", .host) { _, responder in
                responder.send(Answer(200, .json, try services.hostInfo()))
            },
            APIRoute(.post, "/v1/identity/signatures", .host) { request, responder in
                let digest = try DelegatedBody.digest(request)
                let actor = Actor(request)
                let wait = services.core.enter { core, moment in core.signature(for: actor, moment) }
                guard wait == nil else {
                    var answer = Answer.problem(APIProblems.rateLimited)
                    // Whole seconds are all the header has; the next one is free much sooner.
                    answer.headers.append(("Retry-After", "1"))
                    return responder.send(answer)
                }
                // Here on the server's thread: one takes less than a tenth of a millisecond, and they are few.
                guard let signature = try? services.sign(digest) else { throw APIProblems.cannotSign }
                responder.send(SignatureReply(signature: Base64URL.encode(signature)))
            },
            APIRoute(.post, "/v1/identity/rotate", .admin) { request, responder in
                let confirm = try request.json().requiredString("confirm")
                // Told before a key is made for nothing; the core looks again.
                guard confirm == services.identity.current().fingerprint.id.text else {
                    throw APIProblems.confirmMismatch
                }
                services.aside { rotate(services, confirm: confirm, request, responder) }
            },
        ]
    }

    private static func rotate(
        _ services: APIServices, confirm: String, _ request: Request, _ responder: Responder
    ) {
        do throws(Problem) {
            let staged = try services.identity.stage().get()
            let isOnItsWay = services.propose(.rotate(staged, confirm: confirm), request, responder) {
                guard case .rotated(let closedSessions) = $0 else { return nil }
                return .object(
                    IdentityRotated(identity: identity(services), closedSessions: closedSessions))
            }
            if !isOnItsWay { services.identity.abandon() }
        } catch {
            responder.refuse(error)
        }
    }

    private static func identity(_ services: APIServices) -> Identity {
        // Both in one entry: a rotation changes them together.
        services.core.enter { core, _ in services.identity.current().body(name: core.hostName) }
    }
}
