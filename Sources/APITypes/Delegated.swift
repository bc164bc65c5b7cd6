// What a streaming process says about connections it holds itself. SPDX-License-Identifier: Apache-2.0

package import Wire

/// What every call of delegated mode says about a connection (spec 03 section 6).
package struct ConnectionFacts: Sendable, Equatable {
    /// `home` or `remote`.
    package var door: String
    /// The device's address and port.
    package var remote: String
    /// The door's own address and port.
    package var local: String?
    /// The interface it came in on.
    package var interface: String?

    /// One connection.
    package init(door: String, remote: String, local: String? = nil, interface: String? = nil) {
        self.door = door
        self.remote = remote
        self.local = local
        self.interface = interface
    }

    /// Reads the members; throws `JSONError`.
    package init(json: JSON) throws(JSONError) {
        door = try json.requiredString("door")
        remote = try json.requiredString("remote")
        local = try json.optionalString("local")
        interface = try json.optionalString("interface")
    }

    /// Writes the members into an object that is open.
    package func encode(into writer: inout JSONWriter) {
        writer.field("door", door)
        writer.field("remote", remote)
        writer.field("local", ifPresent: local)
        writer.field("interface", ifPresent: interface)
    }
}

/// The body of `POST /v1/admissions/failures`.
package struct FailureRequest: APIObject {
    /// Which connection.
    package var connection: ConnectionFacts
    /// One of the words of spec 03 section 8.
    package var failure: String
    /// The key it showed, when it got so far.
    package var fingerprint: String?

    /// A connection that failed.
    package init(connection: ConnectionFacts, failure: String, fingerprint: String? = nil) {
        self.connection = connection
        self.failure = failure
        self.fingerprint = fingerprint
    }

    package init(json: JSON) throws(JSONError) {
        connection = try ConnectionFacts(json: json)
        failure = try json.requiredString("failure")
        fingerprint = try json.optionalString("fingerprint")
    }

    package func encode(into writer: inout JSONWriter) {
        connection.encode(into: &writer)
        writer.field("failure", failure)
        writer.field("fingerprint", ifPresent: fingerprint)
    }
}

/// The body of `POST /v1/pairing/requests`.
package struct PairingMessageRequest: APIObject {
    /// Which connection.
    package var connection: ConnectionFacts
    /// What was negotiated; nil stands for `sill-pair/1`.
    package var alpn: String?
    /// The device's key, base64url; empty: no P-256 key.
    package var fingerprint: String
    /// The payload of its kind 19, as it came.
    package var payload: JSON

    /// A message of a pairing connection.
    package init(connection: ConnectionFacts, alpn: String? = nil, fingerprint: String, payload: JSON) {
        self.connection = connection
        self.alpn = alpn
        self.fingerprint = fingerprint
        self.payload = payload
    }

    package init(json: JSON) throws(JSONError) {
        connection = try ConnectionFacts(json: json)
        alpn = try json.optionalString("alpn")
        fingerprint = try json.requiredString("fingerprint")
        guard let payload = json["payload"], payload != .null else {
            throw JSONError(field: "payload", message: "payload is missing")
        }
        self.payload = payload
    }

    package func encode(into writer: inout JSONWriter) {
        connection.encode(into: &writer)
        writer.field("alpn", ifPresent: alpn)
        writer.field("fingerprint", fingerprint)
        writer.field("payload", payload)
    }
}

/// The answer to `POST /v1/pairing/requests`.
package struct PairingMessageReply: APIObject {
    /// The payload of the kind 20 to send; nil: close without a word.
    package var payload: JSON?
    /// Whether the connection ends after it; always.
    package var close: Bool
    /// Why there is none: `unpaired`, `vpn`, `internet`, `limit` or `direct`.
    package var reason: String?

    /// What to answer.
    package init(payload: JSON?, close: Bool = true, reason: String? = nil) {
        self.payload = payload
        self.close = close
        self.reason = reason
    }

    package init(json: JSON) throws(JSONError) {
        payload = json["payload"].flatMap { $0 == .null ? nil : $0 }
        close = try json.requiredBool("close")
        reason = try json.optionalString("reason")
    }

    package func encode(into writer: inout JSONWriter) {
        if let payload { writer.field("payload", payload) } else { writer.null("payload") }
        writer.field("close", close)
        writer.field("reason", ifPresent: reason)
    }
}

/// The body of `POST /v1/sessions`.
package struct SessionRequest: APIObject {
    /// Which connection.
    package var connection: ConnectionFacts
    /// What was negotiated; nil stands for `sill/1`.
    package var alpn: String?
    /// The device's key, base64url; empty: no P-256 key.
    package var fingerprint: String
    /// The payload of its first message, when that was a kind 23.
    package var hello: JSON?

    /// A connection that is to be a session.
    package init(
        connection: ConnectionFacts, alpn: String? = nil, fingerprint: String, hello: JSON? = nil
    ) {
        self.connection = connection
        self.alpn = alpn
        self.fingerprint = fingerprint
        self.hello = hello
    }

    package init(json: JSON) throws(JSONError) {
        connection = try ConnectionFacts(json: json)
        alpn = try json.optionalString("alpn")
        fingerprint = try json.requiredString("fingerprint")
        hello = try json.optionalObject("hello")
    }

    package func encode(into writer: inout JSONWriter) {
        connection.encode(into: &writer)
        writer.field("alpn", ifPresent: alpn)
        writer.field("fingerprint", fingerprint)
        if let hello { writer.field("hello", hello) }
    }
}

/// The answer to `POST /v1/sessions`: a session, a goodbye, or neither.
package struct SessionReply: APIObject {
    /// A session that was registered.
    package struct Registered: Sendable, Equatable {
        /// As `GET /v1/sessions/{id}` shows it.
        package var session: SessionItem
        /// The payload of the kind 18 to send.
        package var hostInfo: JSON
        /// What to stream.
        package var quality: QualityItem

        /// All of it.
        package init(session: SessionItem, hostInfo: JSON, quality: QualityItem) {
            self.session = session
            self.hostInfo = hostInfo
            self.quality = quality
        }
    }

    /// nil: it is no session.
    package var registered: Registered?
    /// Send it and close.
    package var goodbye: GoodbyeItem?
    /// How many seconds late the goodbye goes out.
    package var delay: Double?
    /// Why it is closed without a word: `unpaired`, `vpn`, `internet`, `limit` or `direct`.
    package var reason: String?

    /// A session.
    package init(_ registered: Registered) { self.registered = registered }

    /// None, with a goodbye to send.
    package init(goodbye: GoodbyeItem, delay: Double? = nil) {
        self.goodbye = goodbye
        self.delay = delay
    }

    /// None, and no word about it.
    package init(reason: String) { self.reason = reason }

    package init(json: JSON) throws(JSONError) {
        if try json.optionalString("id") != nil {
            registered = Registered(
                session: try json.required("session", SessionItem.init(json:)),
                hostInfo: try json.requiredObject("hostInfo"),
                quality: try json.required("quality", QualityItem.init(json:)))
        }
        goodbye = try json.optional("goodbye", GoodbyeItem.init(json:))
        delay = try json.optionalDouble("delay")
        reason = try json.optionalString("reason")
    }

    package func encode(into writer: inout JSONWriter) {
        writer.field("id", orNull: registered?.session.id)
        if let registered {
            writer.object("session") { registered.session.encode(into: &$0) }
            writer.field("hostInfo", registered.hostInfo)
            writer.object("quality") { registered.quality.encode(into: &$0) }
        }
        writer.object("goodbye", orNull: goodbye)
        writer.field("delay", ifPresent: delay)
        writer.field("reason", ifPresent: reason)
    }
}

/// The answer to `DELETE /v1/sessions`.
package struct SessionsClosed: APIObject {
    /// How many were ended.
    package var closedSessions: Int

    /// So many.
    package init(closedSessions: Int) { self.closedSessions = closedSessions }

    package init(json: JSON) throws(JSONError) { closedSessions = try json.requiredInt("closedSessions") }

    package func encode(into writer: inout JSONWriter) { writer.field("closedSessions", closedSessions) }
}

/// The body of `POST /v1/identity/signatures`.
package struct SignatureRequest: APIObject {
    /// The one there is.
    package static let algorithm = "ecdsa-p256-sha256"

    /// ``algorithm``.
    package var algorithm: String
    /// A SHA-256, base64url.
    package var digest: String

    /// Something to be signed.
    package init(digest: String, algorithm: String = SignatureRequest.algorithm) {
        self.algorithm = algorithm
        self.digest = digest
    }

    package init(json: JSON) throws(JSONError) {
        algorithm = try json.requiredString("algorithm")
        digest = try json.requiredString("digest")
    }

    package func encode(into writer: inout JSONWriter) {
        writer.field("algorithm", algorithm)
        writer.field("digest", digest)
    }
}

/// The answer to `POST /v1/identity/signatures`.
package struct SignatureReply: APIObject {
    /// DER, base64url.
    package var signature: String

    /// A signature.
    package init(signature: String) { self.signature = signature }

    package init(json: JSON) throws(JSONError) { signature = try json.requiredString("signature") }

    package func encode(into writer: inout JSONWriter) { writer.field("signature", signature) }
}
