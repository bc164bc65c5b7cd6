// SPDX-License-Identifier: Apache-2.0

/// Kind 18: a host's own description, signed with its key (file 01 §6.1, "SignedMacInfo").
package struct SignedHostInfo: Equatable, Sendable {
    /// The exact bytes that were signed; ``HostInfo`` reads them. Never encoded again to check the signature.
    package var info: [UInt8]
    /// The signer's uncompressed point. Not yet judged: 65 bytes on P-256 is the receiver's check.
    package var key: [UInt8]
    /// The DER signature over ``info``.
    package var signature: [UInt8]

    /// A description and its proof.
    package init(info: [UInt8], key: [UInt8], signature: [UInt8]) {
        self.info = info
        self.key = key
        self.signature = signature
    }

    /// Reads a payload; throws unless all three fields are strict standard base64.
    package init(payload: [UInt8]) throws(JSONError) {
        let json = try JSON.parse(payload)
        func bytes(_ key: String) throws(JSONError) -> [UInt8] {
            guard let bytes = Base64.decode(try json.requiredString(key)) else {
                throw JSONError(field: key, message: "is not base64")
            }
            return bytes
        }
        info = try bytes("info")
        key = try bytes("key")
        signature = try bytes("sig")
    }

    /// The payload.
    package func encode() -> [UInt8] {
        var writer = JSONWriter(capacity: info.count * 4 / 3 + 256)
        writer.object { writer in
            writer.field("info", Base64.encode(info))
            writer.field("key", Base64.encode(key))
            writer.field("sig", Base64.encode(signature))
        }
        return writer.bytes
    }
}
