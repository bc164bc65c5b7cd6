// SPDX-License-Identifier: Apache-2.0

internal import APITypes
internal import Core
internal import LocalAPI
internal import Policy
internal import Wire

/// `POST /v1/admissions`, the API's hot call (spec 03 section 6, 10 P1).
enum AdmissionRoutes {
    static func routes(_ services: APIServices) -> [APIRoute] {
        let core = services.core
        return [
            APIRoute(.post, "/v1/admissions", .host) { request, responder in
                let query = try AdmissionBody.read(request.body)
                let answer = core.enter { core, moment in core.admission(query, moment) }
                responder.send(Answer(200, .json, AdmissionBody.write(answer)))
            }
        ]
    }
}

/// The call's body and answer.
enum AdmissionBody {
    private static let names = ["door", "remote", "local", "interface", "alpn", "fingerprint"].map {
        Array($0.utf8)
    }

    /// Reads the question. Throws a `JSONError` or a 400 that names the member.
    static func read(_ body: [UInt8]) throws -> AdmissionQuery {
        if let flat = FlatText(body, members: names), let door = flat[0], let remote = flat[1] {
            return try query(
                door: String(decoding: door, as: UTF8.self), remote: EndpointText.read(remote),
                local: flat[2].map { EndpointText.read($0) }, interface: flat.text(3), alpn: flat.text(4),
                fingerprint: flat.text(5))
        }
        let json = try JSON.parse(body)
        guard case .object = json else {
            throw JSONError(field: nil, message: "the body must be a JSON object")
        }
        let request = try AdmissionRequest(json: json)
        return try query(
            door: request.door, remote: EndpointText.read(request.remote),
            local: request.local.map { EndpointText.read($0) }, interface: request.interface,
            alpn: request.alpn, fingerprint: request.fingerprint)
    }

    private typealias Endpoint = (address: SocketAddress, zoneName: String?)

    private static func query(
        door: String, remote: Endpoint?, local: Endpoint??, interface: String?, alpn: String?,
        fingerprint: String?
    ) throws(Problem) -> AdmissionQuery {
        guard let door = Door(rawValue: door) else {
            throw APIProblems.invalid("door", "door must be home or remote")
        }
        guard let remote else {
            throw APIProblems.invalid(
                "remote", "remote must be an address with a port, as in 203.0.113.7:50122")
        }
        var query = AdmissionQuery(door: door, remote: remote.address, zoneName: remote.zoneName)
        if let local {
            guard let local else {
                throw APIProblems.invalid(
                    "local", "local must be an address with a port, as in 192.168.1.20:7455")
            }
            query.local = local.address
        }
        query.interface = interface.flatMap { $0.isEmpty ? nil : $0 }
        query.handshake = try handshake(alpn: alpn, fingerprint: fingerprint)
        return query
    }

    /// An empty `alpn` is none, an empty `fingerprint` no P-256 key; one without the other is 400.
    private static func handshake(
        alpn: String?, fingerprint: String?
    ) throws(Problem) -> AdmissionQuery.Handshake? {
        switch (alpn, fingerprint) {
        case (nil, nil): return nil
        case (nil, _): throw APIProblems.invalid("alpn", "alpn must be given with fingerprint")
        case (_, nil): throw APIProblems.invalid("fingerprint", "fingerprint must be given with alpn")
        case (let alpn?, let text?):
            var key: Fingerprint?
            if !text.isEmpty {
                key = Fingerprint(base64url: text)
                if key == nil {
                    throw APIProblems.invalid(
                        "fingerprint", "fingerprint must be 32 bytes in base64url, or empty")
                }
            }
            return AdmissionQuery.Handshake(alpn: alpn.isEmpty ? nil : alpn, fingerprint: key)
        }
    }

    /// The answer as JSON.
    static func write(_ answer: AdmissionAnswer) -> [UInt8] {
        let decision: String
        switch answer.decision {
        case .proceed: decision = "continue"
        case .session: decision = "session"
        case .pairing: decision = "pairing"
        case .goodbye: decision = "goodbye"
        case .refuse: decision = "refuse"
        }
        var writer = JSONWriter(capacity: 256)
        writer.object { writer in
            writer.field("decision", decision)
            writer.field("origin", answer.origin.rawValue)
            writer.field("cable", answer.cable)
            switch answer.decision {
            case .refuse(let word): writer.field("reason", word.rawValue)
            case .goodbye(let goodbye): writer.object("goodbye") { GoodbyeItem(goodbye).encode(into: &$0) }
            case .proceed, .session, .pairing: break
            }
            if let device = answer.device {
                writer.object("device") { object in
                    object.field("id", device.id.text)
                    object.field("name", device.name)
                }
            } else {
                writer.null("device")
            }
            writer.field("route", answer.route)
            writer.field("away", answer.away)
        }
        return writer.bytes
    }
}
