// SPDX-License-Identifier: Apache-2.0

package import Wire

/// What a device wants changed (kind 17, 06 A4): absolute values, each on its own.
package struct QualityChange: Sendable, Equatable {
    /// The device's name for the change. The streaming process's own: its kind 16 answers with it.
    package var token: JSON?
    /// Frame rate limit.
    package var maxFPS: Int?
    /// Bits per second per 60 frames a second.
    package var bitrate: Int?
    /// 1 or 2.
    package var captureScale: Double?
    /// The streaming process's own.
    package var prioritizeSpeed: Bool?
    /// The streaming process's own.
    package var virtualDisplay: Bool?
    /// Has no counterpart here (06 C4.3).
    package var directWireless: Bool?

    package init(
        maxFPS: Int? = nil, bitrate: Int? = nil, captureScale: Double? = nil, directWireless: Bool? = nil
    ) {
        self.maxFPS = maxFPS
        self.bitrate = bitrate
        self.captureScale = captureScale
        self.directWireless = directWireless
    }

    /// Throws when a field has a wrong type: such a change is ignored without an answer.
    package init(json: JSON) throws(JSONError) {
        maxFPS = try json.optionalInt("maxFPS")
        bitrate = try json.optionalInt("bitrate")
        captureScale = try json.optionalDouble("captureScale")
        prioritizeSpeed = try json.optionalBool("prioritizeSpeed")
        virtualDisplay = try json.optionalBool("virtualDisplay")
        directWireless = try json.optionalBool("directWireless")
        token = json["token"].flatMap { $0.isNull ? nil : $0 }
    }
}

/// What a device may set, and what comes of it (06 A2 last column, A4).
package enum QualityChangePolicy {
    /// The frame rates a device may choose.
    package static let frameRates = [60, 120]

    /// What came of a change.
    package struct Result: Sendable, Equatable {
        /// The settings after it.
        package var settings: Settings
        /// The fields that were taken, in the order of the change log, whether or not they changed anything.
        package var applied: [String]
        /// The fields that were dropped, in the same order.
        package var refused: [String]
        /// Whether bitrate and scale went to the away pair.
        package var isAwayPair: Bool

        package init(settings: Settings, applied: [String], refused: [String], isAwayPair: Bool) {
            self.settings = settings
            self.applied = applied
            self.refused = refused
            self.isAwayPair = isAwayPair
        }
    }

    /// Each field is checked alone: what is refused is dropped and named, the rest applies. Bitrate and scale go to the
    /// pair that the connection's controls set, and to no other.
    package static func apply(_ change: QualityChange, fromAway: Bool, to settings: Settings) -> Result {
        var result = Result(settings: settings, applied: [], refused: [], isAwayPair: fromAway)
        func field(_ name: String, _ isAllowed: Bool, _ set: (inout Settings) -> Void) {
            if isAllowed {
                set(&result.settings)
                result.applied.append(name)
            } else {
                result.refused.append(name)
            }
        }
        let pair = pair(fromAway)
        if let fps = change.maxFPS {
            field("maxFPS", frameRates.contains(fps)) { $0.maxFPS = fps }
        }
        if let bitrate = change.bitrate {
            field("bitrate", QualityPreset(rawValue: bitrate) != nil) { $0[keyPath: pair].bitrate = bitrate }
        }
        if let scale = change.captureScale {
            field("captureScale", scale == 1 || scale == 2) {
                $0[keyPath: pair].captureScale = scale == 2 ? 2 : 1
            }
        }
        if change.directWireless != nil { field("directWireless", false) { _ in } }
        return result
    }

    /// The pair that a connection's controls set.
    package static func pair(_ isAway: Bool) -> WritableKeyPath<Settings, Quality> {
        isAway ? \.away : \.home
    }
}

/// How many changes one connection may make: four in any second (06 A4). Those over it are answered and change nothing.
package struct QualityChangeLimit: Sendable {
    /// What to do with a change.
    package enum Verdict: Sendable, Equatable {
        /// Apply it.
        case apply
        /// Answer with the state as it is; `log` at most once a second.
        case tooMany(log: Bool)
    }

    /// In one second.
    package static let count = 4
    /// It slides.
    package static let window: Duration = .seconds(1)

    /// Of the last changes that were let through, oldest first.
    private var times: [MonotonicTime] = []
    private var loggedAt: MonotonicTime?

    package init() {}

    /// Takes one.
    package mutating func take(at now: MonotonicTime) -> Verdict {
        times.removeAll { now - $0 >= Self.window }
        if times.count < Self.count {
            times.append(now)
            return .apply
        }
        if let loggedAt, now - loggedAt < Self.window { return .tooMany(log: false) }
        loggedAt = now
        return .tooMany(log: true)
    }
}
