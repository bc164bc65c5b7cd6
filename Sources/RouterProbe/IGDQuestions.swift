// SPDX-License-Identifier: Apache-2.0

internal import Policy
internal import Wire

/// What an IGD says about its connection, the port's mapping and its IPv6 firewall (05 B6 step 4).
struct IGDQuestions: Sendable {
    let igd: FoundIGD
    let isGateway: Bool
    let outsidePort: Int

    struct Result: Sendable, Equatable {
        var evidence: IGDEvidence
        /// The answer to the question for the mapping, as it came.
        var mappingReply: SOAPReply
        /// The connection that the evidence is of.
        var connection: ControlPoint
        /// Whether every question got an answer.
        var isWhole: Bool
    }

    func ask(_ asker: SOAPAsker) -> Result {
        let connections = igd.description.connections
        let first = connections[0]
        var calls = Self.calls(outsidePort).map { (call: $0, point: first) }
        if let firewall = igd.description.firewall { calls.append((IGDReading.firewallCall, firewall)) }
        let replies = asker.ask(calls)
        var result = Result(
            evidence: evidence(replies), mappingReply: replies[2], connection: first,
            isWhole: !replies.prefix(4).contains(.silent))
        if replies.count > 4 { result.evidence.firewall = IGDReading.firewall(replies[4]) }
        guard connections.count > 1, result.evidence.status != .connected else { return result }
        return second(connections[1], asker, instead: result)
    }

    /// The other WAN connection, taken when it is the one that is connected.
    private func second(_ point: ControlPoint, _ asker: SOAPAsker, instead result: Result) -> Result {
        let calls = Self.calls(outsidePort)
        let (status, address) = (calls[0], calls[1])
        var replies = asker.ask([(status, point), (address, point)])
        guard IGDReading.status(replies[0]) == .connected else { return result }
        replies += asker.ask([(calls[2], point), (calls[3], point)])
        var taken = Result(
            evidence: evidence(replies), mappingReply: replies[2], connection: point,
            isWhole: !replies.contains(.silent))
        taken.evidence.firewall = result.evidence.firewall
        return taken
    }

    private static func calls(_ outsidePort: Int) -> [SOAPCall] {
        [
            IGDReading.statusCall, IGDReading.addressCall, IGDReading.mappingCall(outsidePort: outsidePort),
            IGDReading.typeCall,
        ]
    }

    private func evidence(_ replies: [SOAPReply]) -> IGDEvidence {
        var evidence = IGDEvidence(host: igd.host, isGateway: isGateway)
        evidence.status = IGDReading.status(replies[0])
        evidence.address = IGDReading.address(replies[1])
        evidence.mapping = IGDReading.mapping(replies[2])
        evidence.connectionType = IGDReading.type(replies[3])
        evidence.name = igd.description.name
        return evidence
    }
}
