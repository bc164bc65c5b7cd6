// SPDX-License-Identifier: Apache-2.0

internal import APITypes
internal import Core
internal import LocalAPI
internal import Wire

/// Who the host is, the signed host info of kind 18, and signatures for handshakes of a streaming process.
enum IdentityRoutes {
    static func routes(_ services: APIServices) -> [APIRoute] {
        [
            APIRoute(.get, "/v1/identity", .host) { _, responder in
                let identity = services.identity
                responder.send(
                    Identity(
                        hostID: identity.fingerprint.id.text, fingerprint: identity.fingerprint.base64url,
                        shortName: identity.fingerprint.shortName,
                        publicKey: Base64URL.encode(identity.publicKey),
                        certificate: Base64URL.encode(identity.certificate),
                        name: services.core.enter { core, _ in core.hostName },
                        createdAt: identity.createdAt, keyStorage: "file"))
            },
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
        ]
    }
}
