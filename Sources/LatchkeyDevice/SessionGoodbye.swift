// SPDX-License-Identifier: Apache-2.0

internal import Wire

/// Why a host ended a session (01 section 7).
public struct SessionGoodbye: Sendable, Equatable {
    /// `removed`, `remoteOff`, `internetOff`, `quit`, `busy`, `pairingRequired`, `update`, or a later host's word; empty
    /// for a goodbye that could not be read, or has a word that could not be shown.
    public let reason: String
    /// The host's own words, cleaned, for reasons that have none here.
    public let message: String?
    /// With `update`: the oldest device version served.
    public let minimumVersion: String?
    /// Whether the host said that coming back by itself makes sense.
    public let reconnect: Bool?

    private static let messageLimit = 300

    /// A goodbye as the wire has it, made safe to show.
    init(_ goodbye: Goodbye) {
        // It is shown too. A word that needed cleaning is none that this side knows.
        let word = Label.clean(goodbye.reason)
        reason = word == goodbye.reason ? word : ""
        let cleaned = goodbye.message.map { Label.clean($0, limit: Self.messageLimit) }
        message = cleaned?.isEmpty == true ? nil : cleaned
        minimumVersion = goodbye.minimumVersion.map { Label.clean($0) }
        reconnect = goodbye.reconnect
    }

    /// Where a device looks for a host by itself after a session.
    public enum ComingBack: Sendable, Equatable {
        /// On its networks and, when it is not there, at its remote addresses.
        case everywhere
        /// On its networks alone.
        case homeOnly
        /// Nowhere: a person has to.
        case never
    }

    /// What this goodbye makes a device do: the six reasons of generation 1 keep their own rule, every other one follows
    /// the host's word (06 B4).
    public var comingBack: ComingBack {
        switch reason {
        case "quit", "busy": .everywhere
        case "remoteOff", "internetOff": .homeOnly
        case "removed", "pairingRequired": .never
        default: reconnect == true ? .everywhere : .never
        }
    }

    /// Whether a device comes back by itself at all.
    public var comesBack: Bool { comingBack != .never }

    /// One sentence for people.
    public var words: String {
        switch reason {
        case "removed": "this device was removed on the host; pair again"
        case "remoteOff": "remote access is switched off on the host"
        case "internetOff": "internet access is switched off on the host"
        case "quit": "the host is shutting down"
        case "busy": "the host already serves as many remote sessions as it can"
        case "pairingRequired": "the host requires pairing now"
        default:
            message
                ?? (reason.isEmpty ? "the host ended the session" : "the host ended the session (\(reason))")
        }
    }
}
