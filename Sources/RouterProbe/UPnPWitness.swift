// SPDX-License-Identifier: Apache-2.0

internal import Policy
internal import Sockets
internal import Wire

/// UPnP on the LAN (05 B6): the search, then the questions to the IGD that counts.
struct UPnPWitness: Sendable {
    let discovery: Discovery
    let outsidePort: Int

    struct Testimony: Sendable, Equatable {
        var evidence: IGDEvidence?
        var others: [IPAddress] = []
        /// The gateway's description, to be remembered.
        var place: WebLocation?
        /// The gateway answered every question.
        var isWhole = false
    }

    func ask(_ limits: Limits) -> Testimony {
        let found = discovery.find(limits)
        guard let chosen = Self.choose(found, gateway: discovery.gateway) else { return Testimony() }
        let asked = IGDQuestions(igd: chosen.igd, isGateway: chosen.isGateway, outsidePort: outsidePort)
            .ask(SOAPAsker(local: discovery.local, limits: limits))
        return Testimony(
            evidence: asked.evidence,
            others: ([found.gateway].compactMap { $0 } + found.others).map(\.host)
                .filter { $0 != chosen.igd.host },
            place: found.gateway?.origin, isWhole: chosen.isGateway && asked.isWhole)
    }

    /// The gateway's, else the first that answered. Without a known gateway a single one counts as the gateway's.
    static func choose(
        _ found: Discovery.Found, gateway: IPAddress?
    ) -> (igd: FoundIGD, isGateway: Bool)? {
        if let igd = found.gateway { return (igd, true) }
        guard let igd = found.others.first else { return nil }
        return (igd, gateway == nil && found.others.count == 1)
    }
}
