// SPDX-License-Identifier: Apache-2.0

package import Wire

/// When the router is asked, and how much (05 B6, B12; 09.36). Pure: time is an argument, and nothing is due while nothing
/// is wanted and nobody asked.
package struct ProbeSchedule: Sendable, Equatable {
    /// What a probe is about: another one of these is another router, or another place behind it.
    package struct Target: Sendable, Hashable {
        /// The next hop; nil when none is known.
        package var gateway: IPAddress?
        /// The primary LAN IPv4.
        package var lan: IPAddress

        package init(gateway: IPAddress?, lan: IPAddress) {
            self.gateway = gateway
            self.lan = lan
        }
    }

    /// One probe to be made now.
    package enum Probe: Sendable, Hashable {
        /// Every witness, with the usual limits.
        case whole
        /// Every witness, with the limits for a router that was silent.
        case patient
        /// NAT-PMP alone, whether the address is still the same.
        case light
    }

    /// After a silent probe, once.
    package static let patience = Duration.seconds(10)
    /// NAT-PMP is asked again this long after the last probe.
    package static let lightInterval = Duration.seconds(15 * 60)
    /// Everything is asked again this long after everything was asked.
    package static let wholeInterval = Duration.seconds(60 * 60)
    /// Between the begins of two probes that only a change asks for.
    package static let changeInterval = Duration.seconds(30)

    private struct Due: Sendable, Equatable {
        var at: MonotonicTime
        var probe: Probe
    }

    /// Whether the router is asked without anybody asking: the effective internet switch, while watched.
    package private(set) var isWanted = false
    /// The probe that runs.
    package private(set) var running: Probe?
    private var target: Target?
    /// What the last probe that began was about.
    private var lastTarget: Target?
    private var lastBegin: MonotonicTime?
    private var lastWholeEnd: MonotonicTime?
    /// When what the service had it do was to be seen last.
    private var lastForwards: MonotonicTime?
    private var due: Due?
    /// Somebody waits for the probe that is due.
    private var isAsked = false

    package init() {}

    /// The moment of the next probe; nil while one runs, and when none is to be made.
    package var nextDeadline: MonotonicTime? { running == nil && target != nil ? due?.at : nil }

    /// The switch is this now. Switching on asks at once; switching off leaves nothing due but what somebody asked for.
    package mutating func want(_ isWanted: Bool, now: MonotonicTime) {
        guard isWanted != self.isWanted else { return }
        self.isWanted = isWanted
        if isWanted {
            due = Due(at: now, probe: .whole)
        } else if !isAsked {
            due = nil
        }
    }

    /// The network is this now; nil: there is no router to ask. Another gateway is asked at once, another address of this
    /// host no sooner than 30 s after the last probe began.
    package mutating func aim(_ target: Target?, now: MonotonicTime) {
        let isChange = target != self.target
        self.target = target
        if isWanted, isChange, let target { change(to: target, now) }
    }

    /// What was answered may not hold any more: the gateway says that its address changed. That is never believed by itself;
    /// it only asks.
    package mutating func announced(now: MonotonicTime) {
        if isWanted { hasten(Due(at: afterChange(now), probe: .whole)) }
    }

    /// The router was made to forward otherwise: everything is asked now, but for that no sooner than 30 s after the last
    /// time, whatever a router makes of requests.
    package mutating func forwardsChanged(now: MonotonicTime) {
        guard isWanted else { return }
        let at = lastForwards.map { max(now, $0 + Self.changeInterval) } ?? now
        lastForwards = at
        hasten(Due(at: at, probe: .whole))
    }

    /// Somebody wants an answer now, whatever the switch says. A probe of everything that runs is shared.
    package mutating func asked(now: MonotonicTime) {
        guard target != nil, running == nil || running == .light else { return }
        isAsked = true
        hasten(Due(at: now, probe: .whole))
    }

    /// The probe to begin now; nil when none is due.
    package mutating func begin(now: MonotonicTime) -> Probe? {
        guard running == nil, let target, let due, due.at <= now else { return nil }
        running = due.probe
        lastTarget = target
        lastBegin = now
        isAsked = false
        self.due = nil
        return due.probe
    }

    /// The probe that ran has ended; `isSilent`: nothing answered.
    package mutating func ended(isSilent: Bool, now: MonotonicTime) {
        guard let probe = running else { return }
        running = nil
        if probe != .light { lastWholeEnd = now }
        guard isWanted, let target else { return }
        // What changed meanwhile was not asked about.
        if target != lastTarget { return change(to: target, now) }
        if isSilent && probe == .whole { return hasten(Due(at: now + Self.patience, probe: .patient)) }
        let whole = Due(at: (lastWholeEnd ?? now) + Self.wholeInterval, probe: .whole)
        let light = Due(at: now + Self.lightInterval, probe: .light)
        hasten(target.gateway == nil || whole.at <= light.at ? whole : light)
    }

    /// The last answer is not about this any more, because NAT-PMP alone gave another one, or the owner changed what is
    /// asked about: everything is asked now.
    package mutating func foundOther(now: MonotonicTime) {
        if isWanted { hasten(Due(at: now, probe: .whole)) }
    }

    private mutating func change(to target: Target, _ now: MonotonicTime) {
        // The end of a probe that runs looks at this again.
        guard running == nil else { return }
        let isOther = lastTarget.map { $0.gateway != target.gateway } ?? true
        hasten(Due(at: isOther ? now : afterChange(now), probe: .whole))
    }

    /// The sooner of what is due and `new`; at one moment the whole probe.
    private mutating func hasten(_ new: Due) {
        guard let due else { return self.due = new }
        if new.at < due.at || new.at == due.at && due.probe == .light { self.due = new }
    }

    private func afterChange(_ now: MonotonicTime) -> MonotonicTime {
        guard let lastBegin else { return now }
        return max(now, lastBegin + Self.changeInterval)
    }
}

extension RouterEvidence {
    /// Whether nothing answered. A gateway that says it does not know the question did answer (09.44).
    package var isSilent: Bool {
        isFinished && igd == nil && otherIGDs.isEmpty && (natpmp == nil || natpmp == .silent)
    }

    /// This evidence with what a probe of NAT-PMP alone brought; nil when that answer is another one, so that the rest is
    /// not to be trusted either.
    package func confirmed(by light: RouterEvidence) -> RouterEvidence? {
        light.gateway == gateway && light.natpmp == natpmp ? self : nil
    }
}

/// When the address name is looked up: at most every 5 min, unless it or the network is another one (05 B10).
package struct NameSchedule: Sendable, Equatable {
    /// Between two look-ups of one name.
    package static let interval = Duration.seconds(5 * 60)

    private var last: (text: String, place: ProbeSchedule.Target?, at: MonotonicTime)?

    package init() {}

    package static func == (left: NameSchedule, right: NameSchedule) -> Bool {
        left.last?.text == right.last?.text && left.last?.place == right.last?.place
            && left.last?.at == right.last?.at
    }

    /// Whether to look it up now; counts as done when it says yes.
    package mutating func begin(_ text: String, at place: ProbeSchedule.Target?, now: MonotonicTime) -> Bool {
        if let last, last.text == text, last.place == place, now < last.at + Self.interval { return false }
        last = (text, place, now)
        return true
    }

}
