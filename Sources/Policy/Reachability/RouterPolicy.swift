// SPDX-License-Identifier: Apache-2.0

package import Wire

/// What IPv4 from the internet finds at this host, from the witnesses of one probe (05 B7).
package enum RouterPolicy {
    /// All that the verdict depends on.
    package struct Facts: Sendable, Equatable {
        /// The effective internet switch.
        package var internet = false
        /// The usable IPv4 of the primary LAN service; nil without one.
        package var lanIPv4: IPAddress?
        /// A LAN interface has an IPv4 that is no use because it lies in 100.64.0.0/10.
        package var hasCarrierLAN = false
        /// What the witnesses said; nil while nobody asked them.
        package var evidence: RouterEvidence?
        /// The port the remote door listens at.
        package var port = 7455

        package init() {}
    }

    /// The verdict and what it rests on.
    package struct Verdict: Sendable, Equatable {
        package var code: RouterCode
        /// The router's internet address, if a witness gave one.
        package var wan: IPAddress?
        /// The mapping of the port, of the IGD that counts.
        package var mapping: MappingAnswer
        /// In the order people read them.
        package var notes: [ReachabilityNote]
    }

    /// The verdict with the switches as they are: `off` while internet access is.
    package static func judge(_ facts: Facts) -> Verdict {
        var verdict = judgeIfOn(facts)
        if !facts.internet { verdict.code = .off }
        return verdict
    }

    /// What it would be with internet access on. First match wins, as in 05 B7 rows 2 to 20.
    package static func judgeIfOn(_ facts: Facts) -> Verdict {
        let evidence = facts.evidence ?? RouterEvidence()
        let igd = igdThatCounts(evidence)
        let wan = wan(evidence, igd)
        let code = code(facts, evidence, igd, wan)
        // Rows 7 to 10: a public address of this machine's own is not the router's.
        let isUnknown = wan == nil && code != .directPublic && code != .natAboveRouter
        var verdict = Verdict(
            code: code, wan: wan, mapping: igd?.mapping ?? .unreadable,
            notes: notes(evidence, igd, isUnknown: isUnknown))
        if verdict.code.isPublic { verdict.notes.append(.hairpin) }
        return verdict
    }

    private static func code(
        _ facts: Facts, _ evidence: RouterEvidence, _ igd: IGDEvidence?, _ wan: IPAddress?
    ) -> RouterCode {
        guard let lan = facts.lanIPv4 else { return facts.hasCarrierLAN ? .directCarrier : .noLAN }
        if !lan.isPrivate && !lan.isCarrier {
            // What the internet sees may still say otherwise.
            if !(facts.evidence?.isFinished ?? !facts.internet) { return .asking }
            if let seen = evidence.stun, seen != lan { return .natAboveRouter }
            return .directPublic
        }
        if !evidence.isFinished { return .asking }
        guard let wan else { return withoutAddress(evidence, igd) }
        if isNowhere(wan) { return .noWAN }
        if wan.isInside(prefix: IPAddress(v4: 0xC000_0000), bits: 29) { return .carrierNATDSLite }
        if wan.isCarrier { return .carrierNAT }
        if wan.isPrivate { return .doubleNAT }
        if let seen = evidence.stun, seen != wan { return .natAboveRouter }
        switch igd?.mapping ?? .unreadable {
        case .entry(let entry):
            if entry.client != lan || entry.port != facts.port { return .publicMappedElsewhere }
            return entry.isEnabled ? .publicMapped : .publicMappingDisabled
        case .none: return .publicUnmapped
        case .unreadable: return .publicMappingUnknown
        }
    }

    /// Rows 7 to 10.
    private static func withoutAddress(_ evidence: RouterEvidence, _ igd: IGDEvidence?) -> RouterCode {
        let status = igd.map { $0.isGateway ? $0.status : .unknown } ?? .unknown
        if status == .disconnected { return .noWAN }
        if status == .connected && igd?.address == .withheld || evidence.natpmp == .withheld {
            return .wanHidden
        }
        if evidence.natpmp == .refused && igd == nil { return .routerMappingOff }
        return .noAnswer
    }

    /// An IGD that is not the gateway counts only while NAT-PMP says nothing (05 B6).
    private static func igdThatCounts(_ evidence: RouterEvidence) -> IGDEvidence? {
        guard let igd = evidence.igd else { return nil }
        return igd.isGateway || evidence.natpmp == nil || evidence.natpmp == .silent ? igd : nil
    }

    /// NAT-PMP's address, since it is the gateway's own; else UPnP's.
    private static func wan(_ evidence: RouterEvidence, _ igd: IGDEvidence?) -> IPAddress? {
        if case .answered(let address) = evidence.natpmp { return address }
        if case .address(let address) = igd?.address { return address }
        return nil
    }

    private static func notes(
        _ evidence: RouterEvidence, _ igd: IGDEvidence?, isUnknown: Bool
    ) -> [ReachabilityNote] {
        var notes: [ReachabilityNote] = []
        if case .answered(let one) = evidence.natpmp, case .address(let other) = igd?.address, one != other {
            notes.append(.wanWitnessesDiffer)
        }
        if isUnknown && evidence.stun != nil { notes.append(.wanFromSTUN) }
        if case .answered = evidence.natpmp, igd?.status == .disconnected { notes.append(.igdDisconnected) }
        if let any = evidence.igd, !any.isGateway { notes.append(.igdNotGateway) }
        if let type = igd?.connectionType, type != "IP_Routed" { notes.append(.igdNotRouting) }
        if evidence.speaksPCP { notes.append(.pcpPresent) }
        return notes
    }

    /// 0/8, 127/8, 169.254/16 and 224/3: no address of the internet.
    package static func isNowhere(_ ip: IPAddress) -> Bool {
        ip.isInside(prefix: IPAddress(v4: 0), bits: 8) || ip.isLoopback || ip.isLinkLocal
            || ip.isInside(prefix: IPAddress(v4: 0xE000_0000), bits: 3)
    }
}
