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
                services.withOrigin(query) { query in
                    responder.send(Answer(200, .json, AdmissionBody.write(core.admission(query))))
                }
            }
        ]
    }
}

/// The call's body and answer.
enum AdmissionBody {
    /// Reads the question. Throws a `JSONError` or a 400 that names the member.
    static func read(_ body: [UInt8]) throws -> AdmissionQuery {
        if let flat = AdmissionText(body.span), let door = flat[.door], let remote = flat[.remote] {
            let text: (Range<Int>) -> String = { String(decoding: body[$0], as: UTF8.self) }
            let span = body.span
            var key: Key?
            if let place = flat[.fingerprint] { key = Key(span.extracting(place)) }
            var query = try query(
                door: self.door(span.extracting(door)), remote: EndpointText.read(body[remote]),
                local: flat[.local].map { EndpointText.read(body[$0]) },
                interface: flat[.interface].map(text))
            query.handshake = try handshake(alpn: flat[.alpn].map(text), key: key)
            return query
        }
        let json = try JSON.parse(body)
        guard case .object = json else {
            throw JSONError(field: nil, message: "the body must be a JSON object")
        }
        let request = try AdmissionRequest(json: json)
        var query = try query(
            door: Door(rawValue: request.door), remote: EndpointText.read(request.remote),
            local: request.local.map { EndpointText.read($0) }, interface: request.interface)
        query.handshake = try handshake(
            alpn: request.alpn, key: request.fingerprint.map { Key(Array($0.utf8).span) })
        return query
    }

    /// An address as it was read, and the zone it named.
    typealias Endpoint = (address: SocketAddress, zoneName: String?)

    /// The member `fingerprint`.
    private enum Key {
        case none
        case some(Fingerprint)
        case invalid

        init(_ text: Span<UInt8>) {
            if text.isEmpty {
                self = .none
            } else if let key = Fingerprint(base64url: text) {
                self = .some(key)
            } else {
                self = .invalid
            }
        }
    }

    private static func door(_ text: Span<UInt8>) -> Door? {
        guard let name = ShortName(text) else { return nil }
        return switch (name.count, name.high) {
        case (4, 0x686F_6D65): .home
        case (6, 0x7265_6D6F_7465): .remote
        default: nil
        }
    }

    /// What every call says about a connection, without its handshake. nil stands for what could not be read.
    static func query(
        door: Door?, remote: Endpoint?, local: Endpoint??, interface: String?
    ) throws(Problem) -> AdmissionQuery {
        guard let door else {
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
        return query
    }

    /// An empty `alpn` is none, an empty `fingerprint` no P-256 key; one without the other is 400.
    private static func handshake(
        alpn: String?, key: Key?
    ) throws(Problem) -> AdmissionQuery.Handshake? {
        switch (alpn, key) {
        case (nil, nil): return nil
        case (nil, _): throw APIProblems.invalid("alpn", "alpn must be given with fingerprint")
        case (_, nil): throw APIProblems.invalid("fingerprint", "fingerprint must be given with alpn")
        case (_, .invalid?):
            throw APIProblems.invalidFingerprint
        case (let alpn?, .none?):
            return AdmissionQuery.Handshake(alpn: alpn.isEmpty ? nil : alpn, fingerprint: nil)
        case (let alpn?, .some(let key)?):
            return AdmissionQuery.Handshake(alpn: alpn.isEmpty ? nil : alpn, fingerprint: key)
        }
    }

    /// The answer as JSON. Its texts are this service's own words, but for the device's name and the goodbye's message.
    static func write(_ answer: AdmissionAnswer) -> [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(256)
        switch answer.decision {
        case .proceed: out += #"{"decision":"continue","origin":""#.utf8
        case .session: out += #"{"decision":"session","origin":""#.utf8
        case .pairing: out += #"{"decision":"pairing","origin":""#.utf8
        case .goodbye: out += #"{"decision":"goodbye","origin":""#.utf8
        case .refuse: out += #"{"decision":"refuse","origin":""#.utf8
        }
        out += answer.origin.rawValue.utf8
        out += (answer.cable ? #"","cable":true"# : #"","cable":false"#).utf8
        switch answer.decision {
        case .refuse(let word):
            out += #","reason":""#.utf8
            out += word.rawValue.utf8
            out.append(UInt8(ascii: "\""))
        case .goodbye(let goodbye):
            out += #","goodbye":"#.utf8
            out += GoodbyeItem(goodbye).jsonBytes
        case .proceed, .session, .pairing: break
        }
        if let device = answer.device {
            out += #","device":{"id":""#.utf8
            device.id.append(to: &out)
            out += #"","name":"#.utf8
            appendText(device.name, to: &out)
            out += #"},"route":"#.utf8
        } else {
            out += #","device":null,"route":"#.utf8
        }
        appendText(answer.route, to: &out)
        out += (answer.away ? #","away":true}"# : #","away":false}"#).utf8
        return out
    }

    /// A quoted text, escaped when it needs to be.
    private static func appendText(_ text: String, to out: inout [UInt8]) {
        let start = out.count
        out.append(UInt8(ascii: "\""))
        out += text.utf8
        for index in (start + 1)..<out.count
        where out[index] < 0x20 || out[index] == UInt8(ascii: "\"") || out[index] == UInt8(ascii: "\\") {
            out.removeLast(out.count - start)
            var writer = JSONWriter()
            writer.array { $0.element(text) }
            out += writer.bytes.dropFirst().dropLast()
            return
        }
        out.append(UInt8(ascii: "\""))
    }
}
