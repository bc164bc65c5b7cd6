// SPDX-License-Identifier: Apache-2.0

/// Kind 20: the host's one answer on a pairing connection (file 02 §5.4).
package struct PairResult: Equatable, Sendable {
    /// Whether the device is paired now.
    package var ok: Bool
    /// base64url of the host's proof; with ok, except over the cable.
    package var proof: String?
    /// The host's ID, with ok. A text, because a device compares it with what it expects, whatever it is.
    package var macID: String?
    /// The host's name, with ok.
    package var name: String?
    /// base64url of the 32-byte recognition key, with ok. Sent nowhere else.
    package var recognitionKey: String?
    /// `cable` with an ok over the cable.
    package var method: String?
    /// Why not; one of ``Reason`` or a later host's word.
    package var reason: String?
    /// Wrong proofs the window still takes, with reason `code`.
    package var triesLeft: Int?
    /// Seconds, with reason `busy`.
    package var retryAfter: Double?
    /// Words for a reason that generation 1 does not know; the label rule is still to be applied.
    package var message: String?

    /// The reasons of generation 1, as they stand on the wire.
    package enum Reason: String, Sendable, CaseIterable {
        /// A wrong proof.
        case code
        /// No window takes this.
        case closed
        /// The window's time ran out.
        case expired
        /// This proof was the last wrong one.
        case stopped
        /// Not judged now.
        case busy
        /// A code is on the host's screen.
        case shown
        /// The host's user has to open the window.
        case openOnMac
        /// The host is locked.
        case locked
    }

    /// An answer.
    package init(
        ok: Bool, proof: String? = nil, macID: String? = nil, name: String? = nil,
        recognitionKey: String? = nil,
        method: String? = nil, reason: String? = nil, triesLeft: Int? = nil, retryAfter: Double? = nil,
        message: String? = nil
    ) {
        self.ok = ok
        self.proof = proof
        self.macID = macID
        self.name = name
        self.recognitionKey = recognitionKey
        self.method = method
        self.reason = reason
        self.triesLeft = triesLeft
        self.retryAfter = retryAfter
        self.message = message
    }

    /// The answer "no", with what belongs to its reason.
    package static func refused(
        _ reason: Reason, triesLeft: Int? = nil, retryAfter: Double? = nil
    ) -> PairResult {
        PairResult(
            ok: false, reason: reason.rawValue, triesLeft: triesLeft,
            retryAfter: retryAfter.map { roundedUp(retryAfter: $0) })
    }

    /// Seconds as they go on the wire: rounded up to a tenth, so that a device that waits as told is not early. Negative
    /// ones and NaN become 0.
    package static func roundedUp(retryAfter seconds: Double) -> Double {
        guard seconds > 0, seconds.isFinite else { return 0 }
        // Judged after the division: 0.7 × 10 is a little more than 7 in binary, and 0.7 must stay 0.7.
        let tenths = Int64(min(seconds, 1e9) * 10)
        return Double(tenths) / 10 >= seconds ? Double(tenths) / 10 : Double(tenths + 1) / 10
    }

    /// Reads a payload; throws when it is no such object.
    package init(payload: [UInt8]) throws(JSONError) {
        let json = try JSON.parse(payload)
        ok = try json.requiredBool("ok")
        proof = try json.optionalString("proof")
        macID = try json.optionalString("macID")
        name = try json.optionalString("name")
        recognitionKey = try json.optionalString("recognitionKey")
        method = try json.optionalString("method")
        reason = try json.optionalString("reason")
        triesLeft = try json.optionalInt("triesLeft")
        retryAfter = try json.optionalDouble("retryAfter")
        message = try json.optionalString("message")
    }

    /// The payload. Absent fields are left out.
    package func encode() -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.field("ok", ok)
            writer.field("proof", ifPresent: proof)
            writer.field("method", ifPresent: method)
            writer.field("macID", ifPresent: macID)
            writer.field("name", ifPresent: name)
            writer.field("recognitionKey", ifPresent: recognitionKey)
            writer.field("reason", ifPresent: reason)
            writer.field("triesLeft", ifPresent: triesLeft)
            writer.field("retryAfter", ifPresent: retryAfter)
            writer.field("message", ifPresent: message)
        }
        return writer.bytes
    }
}
