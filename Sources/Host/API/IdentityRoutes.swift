// SPDX-License-Identifier: Apache-2.0

internal import APITypes
internal import Core
internal import LocalAPI
internal import Wire

/// Who the host is, and the signed host info of kind 18.
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
        ]
    }
}
