// SPDX-License-Identifier: Apache-2.0

package import Policy
package import Wire

/// A pairing message that a streaming process read (03 §6, step F).
extension Core {
    /// What becomes of it.
    package enum DelegatedPairing: Sendable, Equatable {
        /// Effect `answerPairing` names this connection, at once or when its record is durable.
        case waiting(ConnectionID)
        /// Closed without an answer, and counted under this word already.
        case refused(RefusalWord)
        /// It was no pairing message; one failure was counted.
        case badMessage
    }

    /// `POST /v1/pairing/requests`. `request` is nil for a payload that did not decode. A process that never asked
    /// whether the connection may pair is asked A's and C's questions first, so that leaving a call out gains nothing.
    package mutating func delegatedPairing(
        _ query: AdmissionQuery, _ request: PairRequest?, cable: CableVerdict = .not(.notLinkLocal),
        _ moment: Moment
    ) -> DelegatedPairing {
        settle(moment)
        switch takeJudged(query, moment) {
        case .failure(let not):
            if case .refuse(let word) = not.decision { return .refused(word) }
            return .refused(.unpaired)
        case .success(let id):
            guard let request else {
                connectionFailed(id, .badMessage, moment)
                return .badMessage
            }
            noteCable(cable)
            return takePairingMessage(id, request, cable: cable, moment).map { .refused($0) } ?? .waiting(id)
        }
    }

    /// Why something that could have been the cable was not, for `debug` (04 §8).
    mutating func noteCable(_ cable: CableVerdict) {
        if case .not(let reason) = cable, reason != .notLinkLocal {
            log(.debug, "not the cable", [("why", reason.rawValue)])
        }
    }
}
