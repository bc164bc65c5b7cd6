// SPDX-License-Identifier: Apache-2.0

/// Kind 23: what a device says first in every session (file 01 §8.1). Every field is optional; `{}` is one.
package struct Hello: Equatable, Sendable {
    /// The device app's version, which the floor compares.
    package var appVersion: String?
    /// For logs only.
    package var build: String?
    /// For example `iPad (iPad14,1)`; the label rule is still to be applied.
    package var device: String?
    /// `protocol`, the generation; for logs only.
    package var protocolGeneration: Int?
    /// Codecs the device plays, best first; nil: none.
    package var audio: [String]?

    /// A hello.
    package init(
        appVersion: String? = nil, build: String? = nil, device: String? = nil,
        protocolGeneration: Int? = nil,
        audio: [String]? = nil
    ) {
        self.appVersion = appVersion
        self.build = build
        self.device = device
        self.protocolGeneration = protocolGeneration
        self.audio = audio
    }

    /// Reads a payload; throws when it is no such object.
    package init(payload: [UInt8]) throws(JSONError) {
        try self.init(json: JSON.parse(payload))
    }

    /// The same from JSON that is read already.
    package init(json: JSON) throws(JSONError) {
        appVersion = try json.optionalString("appVersion")
        build = try json.optionalString("build")
        device = try json.optionalString("device")
        protocolGeneration = try json.optionalInt("protocol")
        guard let codecs = try json.optionalArray("audio") else { return }
        var names: [String] = []
        for codec in codecs {
            guard let name = codec.string else {
                throw JSONError(field: "audio", message: "holds something that is not a string")
            }
            names.append(name)
        }
        audio = names
    }

    /// The payload. Absent fields are left out.
    package func encode() -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.field("appVersion", ifPresent: appVersion)
            writer.field("build", ifPresent: build)
            writer.field("protocol", ifPresent: protocolGeneration)
            writer.field("device", ifPresent: device)
            if let audio {
                writer.array("audio") { writer in
                    for codec in audio { writer.element(codec) }
                }
            }
        }
        return writer.bytes
    }

    /// The version that the floor compares: zero when the device sent none, or one that does not parse (file 01 §8.3).
    package var versionOrZero: Version {
        appVersion.flatMap { Version($0) } ?? .zero
    }
}
