// SPDX-License-Identifier: Apache-2.0

internal import APITypes
internal import Core
internal import LocalAPI
internal import Policy
internal import Wire

/// The bodies of delegated mode as the core's questions. Whatever is not valid is a 400 that names the member.
enum DelegatedBody {
    /// `POST /v1/admissions/failures`.
    struct Failure {
        let query: AdmissionQuery
        let failure: HandshakeFailure
        let key: Fingerprint?
    }

    /// Reads a failure.
    static func failure(_ request: Request) throws -> Failure {
        let body = try FailureRequest(json: request.json())
        guard let failure = HandshakeFailure(rawValue: body.failure) else {
            let words = HandshakeFailure.allCases.map(\.rawValue).joined(separator: ", ")
            throw APIProblems.invalid("failure", "failure must be one of \(words)")
        }
        return Failure(
            query: try query(body.connection, handshake: nil), failure: failure,
            key: try body.fingerprint.flatMap { text throws(Problem) in try fingerprint(text) })
    }

    /// Reads a pairing message; its request is nil when the payload is none (02 section 5.2).
    static func pairing(_ request: Request) throws -> (query: AdmissionQuery, message: PairRequest?) {
        let body = try PairingMessageRequest(json: request.json())
        let query = try query(
            body.connection,
            handshake: handshake(body.alpn, .pairing, body.fingerprint, "answered as a pairing connection"))
        var writer = JSONWriter()
        writer.value(body.payload)
        guard writer.bytes.count <= MessageCaps.pairing else { return (query, nil) }
        return (query, try? PairRequest(json: body.payload))
    }

    /// Reads a registration. A hello that is an object and no hello counts as none: it is the device's, not the caller's.
    static func session(_ request: Request) throws -> (query: AdmissionQuery, hello: Hello?) {
        let body = try SessionRequest(json: request.json())
        let query = try query(
            body.connection, handshake: handshake(body.alpn, .session, body.fingerprint, "a session"))
        return (query, body.hello.flatMap { try? Hello(json: $0) })
    }

    /// Reads what is to be signed: 32 bytes.
    static func digest(_ request: Request) throws -> [UInt8] {
        let body = try SignatureRequest(json: request.json())
        guard body.algorithm == SignatureRequest.algorithm else {
            throw APIProblems.invalid("algorithm", "algorithm must be \(SignatureRequest.algorithm)")
        }
        guard let digest = Base64URL.decode(body.digest), digest.count == 32 else {
            throw APIProblems.invalid("digest", "digest must be 32 bytes in base64url")
        }
        return digest
    }

    private static func handshake(
        _ alpn: String?, _ wanted: ALPN, _ key: String, _ what: String
    ) throws(Problem) -> AdmissionQuery.Handshake {
        guard alpn == nil || alpn == wanted.rawValue else {
            throw APIProblems.invalid("alpn", "alpn must be \(wanted.rawValue): nothing else is \(what)")
        }
        return AdmissionQuery.Handshake(alpn: wanted.rawValue, fingerprint: try fingerprint(key))
    }

    /// Empty: no P-256 key.
    private static func fingerprint(_ text: String) throws(Problem) -> Fingerprint? {
        if text.isEmpty { return nil }
        guard let key = Fingerprint(base64url: text) else { throw APIProblems.invalidFingerprint }
        return key
    }

    private static func query(
        _ facts: ConnectionFacts, handshake: AdmissionQuery.Handshake?
    ) throws(Problem) -> AdmissionQuery {
        var query = try AdmissionBody.query(
            door: Door(rawValue: facts.door), remote: EndpointText.read(facts.remote),
            local: facts.local.map { EndpointText.read($0) }, interface: facts.interface)
        query.handshake = handshake
        return query
    }
}
