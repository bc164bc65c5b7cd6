// SPDX-License-Identifier: Apache-2.0

package import APITypes
package import Wire

// The calls of a streaming process that ends TLS itself (spec 03 section 6).
extension Client {
    /// `POST /v1/admissions`.
    package func admission(_ request: AdmissionRequest) throws(ClientError) -> Reply<AdmissionReply> {
        try post("/v1/admissions", request).read(AdmissionReply.self)
    }

    /// `POST /v1/admissions/failures`.
    package func failed(_ request: FailureRequest) throws(ClientError) {
        _ = try post("/v1/admissions/failures", request)
    }

    /// `POST /v1/pairing/requests`; throws `.refused` with `badPairingMessage` for a payload that is none.
    package func pair(_ request: PairingMessageRequest) throws(ClientError) -> Reply<PairingMessageReply> {
        try post("/v1/pairing/requests", request).read(PairingMessageReply.self)
    }

    /// `POST /v1/sessions`.
    package func register(_ request: SessionRequest) throws(ClientError) -> Reply<SessionReply> {
        try post("/v1/sessions", request).read(SessionReply.self)
    }

    /// `POST /v1/sessions/{id}/hello`: a kind 23 that came after registering.
    package func hello(_ hello: Hello, session id: String) throws(ClientError) {
        _ = try send(Request(.post, sessionPath(id) + "/hello", body: hello.encode()))
    }

    /// `POST /v1/sessions/{id}/pairing-wanted`: its kind 21.
    package func pairingWanted(session id: String) throws(ClientError) {
        _ = try send(Request(.post, sessionPath(id) + "/pairing-wanted"))
    }

    /// `DELETE /v1/sessions/{id}`: it is closed.
    package func ended(session id: String) throws(ClientError) -> Reply<WindowClosed> {
        try send(Request(.delete, sessionPath(id))).read(WindowClosed.self)
    }

    /// `DELETE /v1/sessions`: those a former run of this process left.
    package func endSessions() throws(ClientError) -> Reply<SessionsClosed> {
        try send(Request(.delete, "/v1/sessions")).read(SessionsClosed.self)
    }

    /// `POST /v1/identity/signatures`: a DER signature over a SHA-256.
    package func sign(digest: [UInt8]) throws(ClientError) -> Reply<SignatureReply> {
        try post("/v1/identity/signatures", SignatureRequest(digest: Base64URL.encode(digest)))
            .read(SignatureReply.self)
    }

    private func post(_ path: String, _ body: some APIObject) throws(ClientError) -> Answer {
        try send(Request(.post, path, body: body.jsonBytes))
    }

    private func sessionPath(_ id: String) -> String { "/v1/sessions/\(Request.segment(id))" }
}
