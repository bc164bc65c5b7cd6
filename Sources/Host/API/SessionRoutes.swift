// SPDX-License-Identifier: Apache-2.0

internal import APITypes
internal import Core
internal import LocalAPI
internal import Policy
internal import Wire

/// Sessions: list, show, end; and whose a connection is.
enum SessionRoutes {
    static func routes(_ services: APIServices) -> [APIRoute] {
        [
            APIRoute(.get, "/v1/sessions", .host) { request, responder in
                responder.send(page(services, after: request.after, limit: try request.limit()))
            },
            APIRoute(.get, "/v1/sessions/{id}", .host) { request, responder in
                let id = SessionID(text: request.parameter(0))
                guard let view = services.core.enter({ core, _ in core.session(id) }) else {
                    throw APIProblems.sessionNotFound
                }
                responder.send(SessionItem(view))
            },
            APIRoute(.post, "/v1/sessions/{id}/close", .admin) { request, responder in
                let message = try request.json(emptyIsObject: true).optionalString("message")
                let id = SessionID(text: request.parameter(0))
                let found = services.core.enter { core, moment in
                    core.disconnect(id, message: message, actor: Actor(request), moment)
                }
                guard found else { throw APIProblems.sessionNotFound }
                responder.send(WindowClosed(closed: true))
            },
            APIRoute(.get, "/v1/whois", .host) { request, responder in
                guard let text = request.text("remote"), let remote = EndpointText.read(text) else {
                    throw APIProblems.invalid("remote", "remote must be an address with a port")
                }
                responder.send(try whois(services, remote))
            },
        ]
    }

    /// A page in the order the sessions came. Its `next` is the last one's ID: IDs grow, so it stays good when that
    /// session has ended.
    private static func page(_ services: APIServices, after: String?, limit: Int) -> SessionPage {
        var views = services.core.enter { core, _ in core.sessions() }
        if let after { views = Array(views.drop { !isAfter($0.id.text, after) }) }
        let items = views.prefix(limit).map { SessionItem($0) }
        return SessionPage(items: Array(items), next: views.count > limit ? items.last?.id : nil)
    }

    /// Of two IDs with one beginning the longer number is the later.
    private static func isAfter(_ id: String, _ other: String) -> Bool {
        id.utf8.count == other.utf8.count ? id > other : id.utf8.count > other.utf8.count
    }

    private static func whois(
        _ services: APIServices, _ remote: (address: SocketAddress, zoneName: String?)
    ) throws(Problem) -> Whois {
        let found = services.core.enter { core, _ -> Whois? in
            guard let view = core.session(remote: remote.address, zoneName: remote.zoneName) else {
                return nil
            }
            let device = view.device.flatMap { core.device($0.id) }.map { record in
                Device(record, connected: core.connectedCount(record.fingerprint))
            }
            return Whois(session: SessionItem(view), device: device)
        }
        guard let found else { throw APIProblems.noSuchConnection }
        return found
    }
}
