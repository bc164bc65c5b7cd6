// SPDX-License-Identifier: Apache-2.0

internal import Policy
internal import Sockets
internal import Synchronization
internal import Wire

/// One probe: every witness on a thread of its own, one end for all (05 B6, B12).
final class Probe: Sendable {
    private enum Testimony: Sendable {
        case upnp(UPnPWitness.Testimony)
        case natpmp(NATPMPAnswer)
        case pcpAsked
        case pcp
        case stun(STUNWitness.Outcome)
    }

    private let question: RouterQuestion
    private let ports: RouterPorts
    private let lookups: NameLookups
    private let remembered: WebLocation?
    private let limits: Limits
    private let crew: Crew<Void>
    private let came: WakeUp
    private let testimonies = Mutex<[(Testimony, MonotonicTime)]>([])

    init(
        _ question: RouterQuestion, ports: RouterPorts, lookups: NameLookups, times: RouterTimes,
        remembered: WebLocation?
    ) throws(SocketError) {
        self.question = question
        self.ports = ports
        self.lookups = lookups
        self.remembered = remembered
        limits = try Limits(times, from: monotonicNow())
        crew = try Crew()
        came = try WakeUp()
    }

    /// What it brought, and where the gateway's description is.
    func run() -> (facts: RouterFacts, place: WebLocation?) {
        var record = ProbeRecord(question, at: limits.start, enough: limits.times.enough)
        startUPnP(&record)
        startNATPMP(&record)
        startSTUN(&record)
        while !record.isComplete(at: monotonicNow(), start: limits.start) {
            guard came.wait(until: record.nextLook(start: limits.start) ?? limits.deadline) else {
                if monotonicNow() >= limits.deadline { break }
                continue
            }
            came.clear()
            take(&record)
        }
        limits.stop.signal()
        crew.join()
        // What came while they ended still counts: the stopped ones say that they heard nothing.
        take(&record)
        return (record.facts, record.place)
    }

    private func startUPnP(_ record: inout ProbeRecord) {
        guard question.asksUPnP else { return }
        record.waits(for: .upnp)
        let witness = UPnPWitness(
            discovery: question.discovery(ports, limits.times, remembered: remembered),
            outsidePort: question.outsidePort)
        crew.start("ask upnp") { [self] in tell(.upnp(witness.ask(limits))) }
    }

    private func startNATPMP(_ record: inout ProbeRecord) {
        guard let gateway = question.gateway else { return }
        record.waits(for: .natpmp)
        let witness = NATPMPWitness(
            gateway: SocketAddress(ip: gateway, port: ports.mapping), local: question.local,
            schedule: question.isPatient ? limits.times.patientNATPMP : limits.times.natpmp)
        crew.start("ask nat-pmp") { [self] in
            witness.ask(
                limits, answer: { self.tell(.natpmp($0)) }, pcpAsked: { self.tell(.pcpAsked) },
                pcp: { self.tell(.pcp) })
        }
    }

    private func startSTUN(_ record: inout ProbeRecord) {
        guard let text = question.stunServer else { return }
        record.waits(for: .stun)
        guard let server = STUNServer(text) else { return tell(.stun(.unresolved)) }
        let witness = STUNWitness(server: server, local: question.local, lookups: lookups)
        crew.start("ask stun") { [self] in tell(.stun(witness.ask(limits))) }
    }

    private func tell(_ testimony: Testimony) {
        testimonies.withLock { $0.append((testimony, monotonicNow())) }
        came.signal()
    }

    private func take(_ record: inout ProbeRecord) {
        let taken = testimonies.withLock { list in
            let taken = list
            list = []
            return taken
        }
        for (testimony, time) in taken {
            switch testimony {
            case .pcpAsked: record.pcpAsked(at: time)
            case .pcp: record.pcpAnswered(at: time)
            case .upnp(let said): record.upnp(said, at: time)
            case .natpmp(let said): record.natpmp(said, at: time)
            case .stun(let said): record.stun(said, at: time)
            }
        }
    }
}

extension RouterQuestion {
    /// The end on this machine that every question leaves from.
    var local: LocalEnd { LocalEnd(ip: lan, interface: interface.isEmpty ? nil : interface) }

    func discovery(_ ports: RouterPorts, _ times: RouterTimes, remembered: WebLocation?) -> Discovery {
        Discovery(
            gateway: gateway, network: Network(address: lan, bits: prefixBits), local: local,
            interfaceIndex: interfaceIndex, ports: ports,
            schedule: isPatient ? times.patientSearch : times.search, remembered: remembered)
    }
}
