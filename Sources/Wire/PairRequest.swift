// SPDX-License-Identifier: Apache-2.0

/// Kind 19: the one thing a device says on a pairing connection (file 02 §5.3).
package struct PairRequest: Equatable, Sendable {
    /// `v`, 1 in this generation; another value is answered `closed`.
    package var version: Int
    /// `qr`, `code`, `ask` or `cancel`; any other word is judged as a wrong proof.
    package var method: String
    /// base64url of the device's proof, empty with `ask` and `cancel`. As sent: not yet decoded or judged.
    package var proof: String
    /// The device's name as it sent it; the label rule is still to be applied.
    package var name: String
    /// For example `iPad14,1`; the label rule is still to be applied.
    package var model: String?
    /// Whether the device takes this connection for the USB cable to the host.
    package var cable: Bool?

    /// A request.
    package init(
        version: Int = 1, method: String, proof: String = "", name: String, model: String? = nil,
        cable: Bool? = nil
    ) {
        self.version = version
        self.method = method
        self.proof = proof
        self.name = name
        self.model = model
        self.cable = cable
    }

    /// Reads a payload; throws when it is no such object.
    package init(payload: [UInt8]) throws(JSONError) {
        try self.init(json: JSON.parse(payload))
    }

    /// The same from JSON that is read already.
    package init(json: JSON) throws(JSONError) {
        version = try json.requiredInt("v")
        method = try json.requiredString("method")
        proof = try json.requiredString("proof")
        name = try json.requiredString("name")
        model = try json.optionalString("model")
        cable = try json.optionalBool("cable")
    }

    /// The payload. `cable` is never sent as false.
    package func encode() -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.field("v", version)
            writer.field("method", method)
            writer.field("proof", proof)
            writer.field("name", name)
            writer.field("model", ifPresent: model)
            if cable == true { writer.field("cable", true) }
        }
        return writer.bytes
    }
}
