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
    /// Reads the question. Throws a `JSONError` or a 400 that names the member.
    static func read(_ body: [UInt8]) throws -> AdmissionQuery {
        let json = try JSON.parse(body)
        guard case .object = json else {
            throw JSONError(field: nil, message: "the body must be a JSON object")
        }
        let request = try AdmissionRequest(json: json)
        guard let door = Door(rawValue: request.door) else {
            throw APIProblems.invalid("door", "door must be home or remote")
        }
        guard let remote = EndpointText.read(request.remote) else {
            throw APIProblems.invalid(
                "remote", "remote must be an address with a port, as in 203.0.113.7:50122")
        }
        var query = AdmissionQuery(door: door, remote: remote.address, zoneName: remote.zoneName)
        if let text = request.local {
            guard let local = EndpointText.read(text) else {
                throw APIProblems.invalid(
                    "local", "local must be an address with a port, as in 192.168.1.20:7455")
            }
            query.local = local.address
        }
        query.interface = request.interface.flatMap { $0.isEmpty ? nil : $0 }
        query.handshake = try handshake(request)
        return query
    }

    /// An empty `alpn` is none, an empty `fingerprint` no P-256 key; one without the other is 400.
    private static func handshake(_ request: AdmissionRequest) throws(Problem) -> AdmissionQuery.Handshake? {
        switch (request.alpn, request.fingerprint) {
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
        var reason: String?
        var goodbye: GoodbyeItem?
        let decision: String
        switch answer.decision {
        case .proceed: decision = "continue"
        case .session: decision = "session"
        case .pairing: decision = "pairing"
        case .goodbye(let message):
            decision = "goodbye"
            goodbye = GoodbyeItem(message)
        case .refuse(let word):
            decision = "refuse"
            reason = word.rawValue
        }
        return AdmissionReply(
            decision: decision, origin: answer.origin.rawValue, cable: answer.cable, reason: reason,
            goodbye: goodbye, device: answer.device.map { APIDeviceRef($0) }, route: answer.route,
            away: answer.away
        ).jsonBytes
    }
}

/// An address with a port as streaming processes write it; an IPv6 zone may be an interface's name.
enum EndpointText {
    /// nil for anything else.
    static func read(_ text: String) -> (address: SocketAddress, zoneName: String?)? {
        if let percent = text.utf8.firstIndex(of: UInt8(ascii: "%")) {
            guard let end = text.utf8.lastIndex(of: UInt8(ascii: "]")), percent < end else { return nil }
            let zone = text[text.utf8.index(after: percent)..<end]
            if zone.isEmpty { return nil }
            if UInt32(zone) == nil {
                guard let address = SocketAddress(String(text[..<percent]) + String(text[end...])) else {
                    return nil
                }
                return (address, String(zone))
            }
        }
        return SocketAddress(text).map { ($0, nil) }
    }
}
