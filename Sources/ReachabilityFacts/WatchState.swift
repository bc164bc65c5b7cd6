// SPDX-License-Identifier: Apache-2.0

internal import Policy
internal import RouterProbe
internal import Wire

/// What the watcher knows and what it does next (05 A5, B6; 09.36). Does nothing itself: events and the time go in, effects
/// come out.
struct WatchState: Sendable {
    /// What happened.
    enum Event: Sendable {
        case want(ReachabilityWanted)
        case network(InterfaceTable)
        /// Tailscale says that something changed.
        case vpnChanged
        /// The gateway says that its address changed.
        case announced
        /// The router does something else now, at this service's request.
        case forwardsChanged
        /// Somebody wants a whole look.
        case look(UInt64)
        case hostEnded(HostFacts)
        case routerEnded(RouterQuestion, RouterFacts)
    }

    /// What is to be done, in this order.
    enum Effect: Sendable, Equatable {
        case lookAtHost(InterfaceTable, port: Int, name: String?)
        case askRouter(RouterQuestion)
        case publish(ReachabilityEvidence)
        case answer(UInt64, ReachabilityEvidence)
        case followVPN(Bool)
        /// Nil: no longer.
        case followGateway(RouterQuestion?)
    }

    /// Between a change and the look at it; what changes meanwhile is seen by the same look (05 A5).
    static let coalescing = Duration.milliseconds(500)

    private struct Ask {
        var id: UInt64
        var deadline: MonotonicTime
        var waitsForHost = true
        var waitsForRouter = true
    }

    private var wanted = ReachabilityWanted()
    /// The interfaces of this moment.
    private var table: InterfaceTable
    private var facts: ReachabilityFactSet
    /// The first whole look since the watching began is done, or somebody asked for one.
    private var hasLooked = false
    private var isLooking = false
    private var lookDue: MonotonicTime?
    private var schedule = ProbeSchedule()
    private var names = NameSchedule()
    private var seen = SeenGateways()
    private var question: RouterQuestion?
    /// What the router's facts answer.
    private var answered: RouterQuestion?
    private var asks: [Ask] = []
    private var followsVPN = false
    private var followed: RouterQuestion?

    init(_ table: InterfaceTable, now: MonotonicTime) {
        self.table = table
        facts = ReachabilityFactSet(table: table, at: now, took: .zero)
    }

    /// When ``step(now:)`` has something to do without an event; nil: never.
    var nextDeadline: MonotonicTime? {
        ([isLooking ? nil : lookDue, schedule.nextDeadline] + asks.map(\.deadline)).compactMap { $0 }.min()
    }

    /// Takes an event in. ``step(now:)`` follows.
    mutating func take(_ event: Event, now: MonotonicTime) -> [Effect] {
        switch event {
        case .want(let wanted): return want(wanted, now)
        case .network(let table):
            self.table = table
            if wanted.watches { hastenLook(now + Self.coalescing) }
        case .vpnChanged: if wanted.watches { hastenLook(now + Self.coalescing) }
        case .announced: schedule.announced(now: now)
        case .forwardsChanged: schedule.forwardsChanged(now: now)
        case .look(let id):
            asks.append(Ask(id: id, deadline: now + ReachabilityGatherer.hardEnd))
            aim(now)
            schedule.asked(now: now)
            if !isLooking { lookDue = now }
        case .hostEnded(let found):
            isLooking = false
            // It was for somebody who is gone.
            guard wanted.watches || !asks.isEmpty else { return [] }
            hasLooked = true
            facts.host = found.after(facts.host)
            for index in asks.indices { asks[index].waitsForHost = false }
            return [.publish(evidence)]
        case .routerEnded(let question, let found): return routerEnded(question, found, now)
        }
        return []
    }

    /// Begins what is due, and answers who has waited long enough.
    mutating func step(now: MonotonicTime) -> [Effect] {
        var effects: [Effect] = []
        if let due = lookDue, due <= now, !isLooking { effects.append(beginLook(now)) }
        if let probe = schedule.begin(now: now), var question {
            question.isPatient = probe == .patient
            question.asksUPnP = probe != .light
            // What no notification tells, the rest of the host, is looked at as often as the router.
            if probe == .light { hastenLook(now) }
            effects.append(.askRouter(question))
            if let due = lookDue, due <= now, !isLooking { effects.append(beginLook(now)) }
        }
        for ask in asks where (!ask.waitsForHost && !ask.waitsForRouter) || ask.deadline <= now {
            effects.append(.answer(ask.id, ask.deadline <= now ? evidence.decided : evidence))
        }
        asks.removeAll { (!$0.waitsForHost && !$0.waitsForRouter) || $0.deadline <= now }
        return effects + follow()
    }

    /// Whoever still waits gets what is known; nothing is followed any more.
    mutating func stop() -> [Effect] {
        let answers = asks.map { Effect.answer($0.id, evidence.decided) }
        asks = []
        wanted = ReachabilityWanted()
        return answers + follow()
    }

    private mutating func want(_ new: ReachabilityWanted, _ now: MonotonicTime) -> [Effect] {
        let old = wanted
        guard new != old else { return [] }
        wanted = new
        var effects: [Effect] = []
        if new.watches != old.watches {
            // What was seen before nobody watched says nothing of now (05 A1 rule 3).
            if hasLooked { effects.append(.publish(ReachabilityEvidence())) }
            hasLooked = false
            facts = ReachabilityFactSet(table: table, at: now, took: .zero)
            answered = nil
            names = NameSchedule()
            lookDue = new.watches || !asks.isEmpty ? now : nil
        } else if new.watches {
            hastenLook(now)
        }
        if new.addressName != old.addressName { (facts.host.name, facts.host.nameSource) = (nil, nil) }
        aim(now)
        schedule.want(new.watches && new.asksRouter, now: now)
        return effects
    }

    private mutating func beginLook(_ now: MonotonicTime) -> Effect {
        isLooking = true
        lookDue = nil
        facts.table = table
        facts.at = now
        facts.took = .zero
        aim(now)
        var name: String?
        let isAsked = !asks.isEmpty || wanted.watches && wanted.asksRouter
        if let text = wanted.addressName, isAsked, names.begin(text, at: question?.target, now: now) {
            name = text
        }
        return .lookAtHost(table, port: wanted.port, name: name)
    }

    private mutating func routerEnded(
        _ question: RouterQuestion, _ found: RouterFacts, _ now: MonotonicTime
    ) -> [Effect] {
        schedule.ended(isSilent: found.evidence.isSilent, now: now)
        guard let current = self.question, question.asksTheSame(as: current) else {
            // It was about another network or port. Whoever waits wants to know of this one.
            schedule.foundOther(now: now)
            if asks.contains(where: \.waitsForRouter) { schedule.asked(now: now) }
            return []
        }
        if !question.asksUPnP {
            guard let known = facts.router, answered?.asksTheSame(as: question) == true,
                known.evidence.confirmed(by: found.evidence) != nil
            else {
                schedule.foundOther(now: now)
                return []
            }
            // The rest of what is known is as old as it is.
            facts.router?.sources = known.sources.map { row in
                found.sources.first { $0.fact == row.fact && $0.state != "notAsked" } ?? row
            }
        } else {
            facts.router = found
            answered = question
            for index in asks.indices { asks[index].waitsForRouter = false }
        }
        return hasLooked ? [.publish(evidence)] : []
    }

    /// Finds out which router is meant now.
    private mutating func aim(_ now: MonotonicTime) {
        seen.note(table)
        let before = question
        question = RouterQuestion(
            table, seen: seen,
            outsidePort: MappingPolicy.outsidePort(addressName: wanted.addressName, remotePort: wanted.port),
            stunServer: wanted.stunServer)
        schedule.aim(question?.target, now: now)
        // The same router, asked about something else.
        if let before, let question, before.target == question.target, !before.asksTheSame(as: question) {
            schedule.foundOther(now: now)
        }
        if question == nil { for index in asks.indices { asks[index].waitsForRouter = false } }
    }

    private mutating func hastenLook(_ time: MonotonicTime) {
        lookDue = lookDue.map { min($0, time) } ?? time
    }

    private mutating func follow() -> [Effect] {
        var effects: [Effect] = []
        if wanted.watches != followsVPN {
            followsVPN = wanted.watches
            effects.append(.followVPN(followsVPN))
        }
        let gateway = wanted.watches && wanted.asksRouter ? question : nil
        if gateway != followed {
            followed = gateway
            effects.append(.followGateway(gateway))
        }
        return effects
    }

    /// What is known now. A router's answer counts for the router that was asked.
    private var evidence: ReachabilityEvidence {
        var facts = facts
        if question == nil {
            facts.router = .notAsked(at: facts.at)
        } else if let question, answered?.asksTheSame(as: question) != true {
            var evidence = RouterEvidence()
            evidence.gateway = question.gateway
            let isAsked = schedule.running != nil || schedule.nextDeadline != nil
            facts.router = isAsked ? RouterFacts(evidence: evidence, sources: []) : nil
        }
        return facts.evidence
    }
}

extension ReachabilityEvidence {
    /// With what is undecided read as silent.
    fileprivate var decided: ReachabilityEvidence {
        var evidence = self
        var router = evidence.router ?? RouterEvidence()
        if !router.isFinished { router.natpmp = router.natpmp ?? (router.gateway == nil ? nil : .silent) }
        router.isFinished = true
        evidence.router = router
        return evidence
    }
}
