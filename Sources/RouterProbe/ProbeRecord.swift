// SPDX-License-Identifier: Apache-2.0

internal import Policy
internal import Wire

/// What a probe knows so far, and whether it may end. Pure: times are told.
struct ProbeRecord: Sendable {
    enum Witness: String, Sendable { case upnp, natpmp, pcp, stun }

    private let question: RouterQuestion
    private let start: MonotonicTime
    private let enough: Duration
    private var evidence = RouterEvidence()
    private var open: Set<Witness> = []
    private var isUPnPWhole = false
    private var rows: [Witness: FactSource] = [:]
    /// The gateway's description.
    private(set) var place: WebLocation?

    init(_ question: RouterQuestion, at start: MonotonicTime, enough: Duration = RouterTimes().enough) {
        self.question = question
        self.start = start
        self.enough = enough
        evidence.gateway = question.gateway
        evidence.isFinished = true
    }

    /// A witness is being asked; until it answers it is silent.
    mutating func waits(for witness: Witness) {
        open.insert(witness)
        if witness == .natpmp { evidence.natpmp = .silent }
        note(witness, "silent", at: start)
    }

    /// 05 B12: everybody has answered, or UPnP said everything and the others have had their 300 ms.
    func isComplete(at now: MonotonicTime, start: MonotonicTime) -> Bool {
        if open.isEmpty { return true }
        return isUPnPWhole && now >= start + enough
    }

    /// When the answer to that may change without anybody's word.
    func nextLook(start: MonotonicTime) -> MonotonicTime? { isUPnPWhole ? start + enough : nil }

    mutating func upnp(_ said: UPnPWitness.Testimony, at now: MonotonicTime) {
        open.remove(.upnp)
        evidence.igd = said.evidence
        evidence.otherIGDs = said.others
        isUPnPWhole = said.isWhole
        place = said.place
        note(.upnp, said.evidence == nil ? "silent" : "answered", at: now)
    }

    mutating func natpmp(_ said: NATPMPAnswer, at now: MonotonicTime) {
        open.remove(.natpmp)
        evidence.natpmp = said
        switch said {
        case .answered, .withheld: note(.natpmp, "answered", at: now)
        case .refused, .unsupported: note(.natpmp, "refused", at: now)
        case .silent: note(.natpmp, "silent", at: now)
        }
    }

    mutating func stun(_ said: STUNWitness.Outcome, at now: MonotonicTime) {
        open.remove(.stun)
        switch said {
        case .address(let seen):
            evidence.stun = seen
            note(.stun, "answered", at: now)
        case .unresolved: note(.stun, "unreadable", at: now)
        case .refused: note(.stun, "refused", at: now)
        case .silent: note(.stun, "silent", at: now)
        }
    }

    /// It never keeps a probe going.
    mutating func pcpAsked(at now: MonotonicTime) { note(.pcp, "silent", at: now) }

    mutating func pcpAnswered(at now: MonotonicTime) {
        evidence.speaksPCP = true
        note(.pcp, "answered", at: now)
    }

    /// All of it; who has not answered by now reads as silent.
    var facts: RouterFacts {
        RouterFacts(
            evidence: evidence, sources: [Witness.upnp, .natpmp, .pcp, .stun].compactMap { rows[$0] })
    }

    private mutating func note(_ witness: Witness, _ state: String, at now: MonotonicTime) {
        rows[witness] = FactSource(
            fact: "router.\(witness.rawValue)", source: words(witness), state: state, at: now,
            took: now - start)
    }

    /// Where it was asked, for people; a carrier's address masked.
    private func words(_ witness: Witness) -> String {
        let gateway = question.gateway.map { " at \(ReachabilityAdvice.shown($0))" } ?? ""
        switch witness {
        case .upnp:
            guard let igd = evidence.igd else { return "UPnP search on \(Label.clean(question.interface))" }
            let name = igd.name.map { " (\($0))" } ?? ""
            let others = evidence.otherIGDs.map { ", and at \(ReachabilityAdvice.shown($0))" }.joined()
            return "UPnP at \(ReachabilityAdvice.shown(igd.host))\(name)\(others)"
        case .natpmp: return "NAT-PMP\(gateway)"
        case .pcp: return "PCP\(gateway)"
        case .stun: return "STUN server \(Label.clean(question.stunServer ?? "", limit: 255))"
        }
    }
}
