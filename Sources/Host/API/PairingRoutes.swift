// SPDX-License-Identifier: Apache-2.0

internal import APITypes
internal import Core
internal import LocalAPI
internal import QRCode
internal import Wire

/// The pairing window, its pictures, and what keeps devices quiet.
enum PairingRoutes {
    private static let path = "/v1/pairing/window"

    static func routes(_ services: APIServices) -> [APIRoute] {
        [
            APIRoute(.post, path, .host) { request, responder in try open(services, request, responder) },
            APIRoute(.get, path, .host) { _, responder in
                show(services, responder) { .object(Window($0)) }
            },
            APIRoute(.delete, path, .host) { request, responder in
                let closed = services.core.enter { core, moment in
                    core.closeWindow(actor: Actor(request), moment)
                }
                responder.send(WindowClosed(closed: closed))
            },
            APIRoute(.get, path + "/qr.svg", .host) { _, responder in
                show(services, responder) { offer in picture(offer) { Answer(200, .svg, Array($0.svg.utf8)) }
                }
            },
            APIRoute(.get, path + "/qr.txt", .host) { _, responder in
                show(services, responder) { offer in
                    picture(offer) { Answer(200, .text, Array($0.halfBlocks.utf8)) }
                }
            },
            APIRoute(.get, path + "/qr.json", .host) { _, responder in
                show(services, responder) { offer in
                    picture(offer) { Answer(200, .json, Array($0.json().utf8)) }
                }
            },
            APIRoute(.delete, "/v1/pairing/quiet", .admin) { request, responder in
                services.core.enter { core, moment in core.forgetQuiet(actor: Actor(request), moment) }
                responder.send(Cleared())
            },
            APIRoute(.delete, "/v1/lockouts", .admin) { request, responder in
                let lockouts = try lockouts(request)
                services.core.enter { core, moment in
                    for which in lockouts { core.forgetLockouts(which, actor: Actor(request), moment) }
                }
                responder.send(Cleared())
            },
        ]
    }

    /// Everybody's, or with `?source=` and `?device=` only theirs (spec 09.32b).
    private static func lockouts(_ request: Request) throws(Problem) -> [Core.Lockouts] {
        var lockouts: [Core.Lockouts] = []
        if let text = request.text("source") {
            guard let source = IPAddress(text) else {
                throw APIProblems.invalid("source", "source must be an address, as in 192.168.1.20")
            }
            lockouts.append(.source(source))
        }
        if let text = request.text("device") {
            guard let id = SillID(text) else {
                throw APIProblems.invalid("device", "device must be a whole ID of 16 characters")
            }
            lockouts.append(.device(id))
        }
        return lockouts.isEmpty ? [.all] : lockouts
    }

    /// Seconds a window may last (spec 07).
    private static let lifetimes = 30.0...600.0

    private static func open(_ services: APIServices, _ request: Request, _ responder: Responder) throws {
        let wanted = try WindowRequest(json: request.json(emptyIsObject: true))
        let replace = try request.flag("replace")
        let lifetime = wanted.lifetime ?? 300
        guard lifetimes.contains(lifetime) else {
            throw APIProblems.invalid("lifetime", "lifetime must be from 30 to 600 seconds")
        }
        let order = OpenWindow(
            actor: Actor(request), openedBy: request.role == .admin ? .admin : .host,
            requestedBy: wanted.requestedBy, lifetime: .seconds(lifetime), remote: wanted.remote ?? true,
            replace: replace, entropy: try services.windowEntropy())
        services.core.enter { core, moment in
            switch core.openWindow(order, moment) {
            case .alreadyOpen: responder.refuse(APIProblems.windowOpen)
            case .opened(let id): answerWhenReady(services, &core, moment, id, status: 201, responder)
            case .takenOver(let id): answerWhenReady(services, &core, moment, id, status: 200, responder)
            }
        }
    }

    /// Answers with window `id` once its link is complete. A window that closes before that is a 409.
    private static func answerWhenReady(
        _ services: APIServices, _ core: inout Core, _ moment: Moment, _ id: String, status: Int,
        _ responder: Responder
    ) {
        whenReady(services, &core, moment, responder) { offer in
            guard let offer, offer.id == id else {
                return .problem(
                    Problem(
                        409, "windowClosed", "The window is closed again",
                        detail: "It was closed or replaced before it was ready."))
            }
            return secret(.object(Window(offer), status: status))
        }
    }

    /// Answers with the open window once its link is complete, or says that there is none.
    private static func show(
        _ services: APIServices, _ responder: Responder, _ answer: @escaping @Sendable (WindowOffer) -> Answer
    ) {
        services.core.enter { core, moment in
            let last = core.lastWindow
            whenReady(services, &core, moment, responder) { offer in
                guard let offer else {
                    // Closed while we waited: then the last one is newer than the one seen before.
                    let newest = services.core.enter { core, _ in core.lastWindow }
                    return .problem(APIProblems.noWindow(last: newest ?? last))
                }
                return secret(answer(offer))
            }
        }
    }

    private static func whenReady(
        _ services: APIServices, _ core: inout Core, _ moment: Moment, _ responder: Responder,
        _ answer: @escaping @Sendable (WindowOffer?) -> Answer
    ) {
        let promise: @Sendable (WindowOffer?) -> Void = { offer in responder.send(later: { answer(offer) }) }
        let offer = core.window(moment)
        guard let offer, !offer.isReady else { return promise(offer) }
        services.windows.expect(offer.id, promise)
    }

    private static func picture(
        _ offer: WindowOffer, _ draw: (QRMatrix) -> Answer
    ) -> Answer {
        do {
            return draw(try QRMatrix.encode(offer.link.text))
        } catch {
            return .problem(
                Problem(
                    503, "pictureUnavailable", "The QR code could not be drawn",
                    detail: "\(error). The link itself is in GET /v1/pairing/window."))
        }
    }

    /// The answers that carry a window's secrets are kept nowhere.
    private static func secret(_ answer: Answer) -> Answer {
        var answer = answer
        answer.headers.append(("Cache-Control", "no-store"))
        return answer
    }
}
