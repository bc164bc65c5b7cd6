// SPDX-License-Identifier: Apache-2.0

package import Policy

/// What became of a connection at ready.
package enum AdmissionOutcome: String, Sendable, CaseIterable, Hashable {
    /// A session, by way of the gate.
    case session
    /// One kind 19 is read.
    case pairing
    /// Told why not.
    case goodbye
    /// Closed without a word.
    case refuse
}

/// Everything the core counted since it started; label values are the enums' raw values.
package struct CoreCounters: Sendable, Equatable {
    // Flat, since the API's hot call counts too: a slot per door and case.
    private var outcomes = [UInt64](repeating: 0, count: 8)
    private var words = [UInt64](repeating: 0, count: 12)

    /// Handshakes that failed, by reason.
    package internal(set) var handshakeFailures: [HandshakeFailure: UInt64] = [:]
    /// Answers to kind 19: `ok` or the reason.
    package internal(set) var pairings: [String: UInt64] = [:]
    /// Goodbyes by reason.
    package internal(set) var goodbyes: [String: UInt64] = [:]
    /// Sessions registered.
    package internal(set) var sessions: UInt64 = 0
    /// Bytes that ended sessions had from their devices.
    package internal(set) var endedBytesIn: UInt64 = 0
    /// Bytes that ended sessions had for their devices.
    package internal(set) var endedBytesOut: UInt64 = 0
    /// Signatures made for streaming processes.
    package internal(set) var signatures: UInt64 = 0
    /// Commits that failed.
    package internal(set) var failedCommits: UInt64 = 0

    /// Connections by what became of them.
    package func admissions(_ door: Door, _ outcome: AdmissionOutcome) -> UInt64 {
        outcomes[Self.slot(door, outcome)]
    }

    /// Refusals by word; the summary's numbers, never reset.
    package func refusals(_ door: Door, _ word: RefusalWord) -> UInt64 { words[Self.slot(door, word)] }

    mutating func count(_ door: Door, _ outcome: AdmissionOutcome) { outcomes[Self.slot(door, outcome)] += 1 }
    mutating func count(_ door: Door, _ word: RefusalWord) { words[Self.slot(door, word)] += 1 }

    private static func slot(_ door: Door, _ outcome: AdmissionOutcome) -> Int {
        let offset = door == .home ? 0 : 4
        return switch outcome {
        case .session: offset
        case .pairing: offset + 1
        case .goodbye: offset + 2
        case .refuse: offset + 3
        }
    }

    private static func slot(_ door: Door, _ word: RefusalWord) -> Int {
        let offset = door == .home ? 0 : 6
        return switch word {
        case .unpaired: offset
        case .vpn: offset + 1
        case .internet: offset + 2
        case .older: offset + 3
        case .limit: offset + 4
        case .direct: offset + 5
        }
    }
}
