// SPDX-License-Identifier: Apache-2.0

package import Policy
internal import Wire

/// Asks, cancels and kind 21 (03 §12).
extension Core {
    /// A device that asks, by a pairing connection or inside a session.
    struct Asker {
        var key: Fingerprint
        var source: IPAddress
        /// Cleaned.
        var name: String
        var origin: Origin
        var cableClaimed: Bool
        /// The cable it came over.
        var cable: CableFinding?
        /// Cleaned, such as `iPad14,1`.
        var model: String?
    }

    /// Kind 21 (03 §12.7): only at home, only from an unpaired session, once in 30 s; a try that comes too early does
    /// not move the timer. Nothing is answered.
    package mutating func pairingWanted(_ id: SessionID, _ moment: Moment) {
        settle(moment)
        guard let session = table[id], session.view.door == .home, let key = session.view.fingerprint,
            !devices.contains(key)
        else { return }
        if let last = session.wantedAt, moment.now - last < .seconds(30) { return }
        table.update(id) { $0.wantedAt = moment.now }
        _ = ask(
            Asker(
                key: key, source: Source.of(session.view.remote.ip), name: session.view.hello?.device ?? "",
                origin: session.view.origin, cableClaimed: false),
            by: nil, moment)
    }

    /// `PUT /v1/lock`: what it says, and the verdict it leads to.
    package mutating func setLock(_ locked: Bool, actor: Actor, _ moment: Moment) -> LockState {
        settle(moment)
        lockWord.say(locked: locked, at: moment.now)
        touchDeadlines()
        refreshLock(moment)
        return lockState(moment)
    }

    /// What logind says about the desktop; silent until somebody reads it.
    package mutating func logindSays(_ witness: LockPolicy.Witness, _ moment: Moment) {
        settle(moment)
        logind = witness
        refreshLock(moment)
    }

    /// Fresh secrets for the next window that an ask opens, since none can be made here.
    package mutating func supply(_ entropy: WindowEntropy) { spareEntropy = entropy }

    /// `DELETE /v1/pairing/quiet`: quiet keys and sources, and the windows that asks opened.
    package mutating func forgetQuiet(actor: Actor, _ moment: Moment) {
        changeLockouts(moment) { $0.askLimits.clear() }
        audit(AuditRow(at: moment.wall, actor: actor.text, action: "pairing.quiet.clear", outcome: "ok"))
    }

    /// The rule of 03 §12.2 with what follows from it. The kind 20 is for the connection that asked, which is nil for
    /// a kind 21; nil: it follows when the store has answered.
    mutating func ask(_ asker: Asker, by connection: ConnectionID?, _ moment: Moment) -> PairResult? {
        // What would be shown or promised now would be the old identity's.
        if rotation != nil { return .refused(.busy, retryAfter: 1) }
        var facts = AskPolicy.Facts()
        facts.isUnlocked = lockState(moment) == .unlocked
        facts.cableSeen = asker.cable != nil
        facts.cableClaimed = asker.cableClaimed
        facts.hasOtherKey = asker.cable.map { cables.hasOther($0.device, than: asker.key) } ?? false
        facts.windowOpen = opened != nil
        facts.isFromThisHost = AskPolicy.isFromThisHost(asker.source, table: interfaces)
        let quietSince = askLimits.quietSince(key: asker.key, source: asker.source, at: moment.now)
        facts.isQuiet = quietSince != nil
        facts.recentWindows = askLimits.recentWindows(at: moment.now)
        let decision = AskPolicy.decide(facts, allowsCable: connection != nil)
        if decision == .shownOpened && spareEntropy == nil {
            return .refused(.busy, retryAfter: 1)
        }
        logAsk(asker, decision, facts, quietSince, moment)
        if let state = AskPolicy.request(for: decision), !facts.isFromThisHost { keep(asker, state, moment) }
        switch decision {
        case .locked: return .refused(.locked)
        case .shownNotOpened: return .refused(.shown)
        case .shownOpened:
            openWindow(for: asker, moment)
            return .refused(.shown)
        case .openOnHost: return .refused(.openOnMac)
        case .pairNow:
            guard let connection, let cable = asker.cable else { return .refused(.openOnMac) }
            return pairByCable(asker, cable, connection, moment)
        }
    }

    /// Kind 19 `cancel`: only for the very key whose ask opened it, and only while it is the home door's alone.
    mutating func withdraw(_ key: Fingerprint, _ moment: Moment) {
        guard let window = opened, !window.isForRemote, window.asker?.key == key else { return }
        closeWindow(.withdrawn, quiets: false, actor: doorActor(.home), moment)
    }

    func lockState(_ moment: Moment) -> LockState {
        LockPolicy.isUnlocked(logind: logind, word: lockWord.witness(at: moment.now)) ? .unlocked : .locked
    }

    /// Tells when the verdict became another one.
    mutating func refreshLock(_ moment: Moment) {
        let state = lockState(moment)
        guard state != lastLock else { return }
        lastLock = state
        log(.info, "lock", [("state", state.rawValue)])
        emit(.event(.lockChanged(state)))
    }

    private mutating func openWindow(for asker: Asker, _ moment: Moment) {
        guard let entropy = spareEntropy else { return }
        spareEntropy = nil
        emit(.needEntropy)
        askLimits.windowOpened(entropy.id, key: asker.key, source: asker.source, at: moment.now)
        keep([lockout(.askedWindow, entropy.id, moment.now + AskLimits.span, moment)], moment)
        open(
            OpenedWindow(
                entropy: entropy,
                judge: PairingWindow(
                    secret: entropy.secret, expiry: moment.now + Self.windowLifetime),
                openedBy: .device,
                asker: OpenedWindow.Asker(key: asker.key, source: asker.source, name: asker.name),
                requestedBy: nil, isForRemote: false,
                expiresAt: WallTime(milliseconds: moment.wall.milliseconds + 300_000), readyBy: moment.now),
            actor: doorActor(.home), moment)
    }

    private mutating func keep(_ asker: Asker, _ state: PairingRequest.State, _ moment: Moment) {
        // A window for it is opened right after this, from the spare secrets.
        let kept = PairingRequest(
            fingerprint: asker.key, name: asker.name, place: Route.place(asker.origin), at: moment.wall,
            ends: moment.now + PairingRequest.lifetime, state: state,
            window: state == .showing ? spareEntropy?.id : nil)
        request = kept
        emit(.event(.requested(kept)))
    }

    private mutating func logAsk(
        _ asker: Asker, _ decision: AskPolicy.Decision, _ facts: AskPolicy.Facts,
        _ quietSince: MonotonicTime?, _ moment: Moment
    ) {
        if decision == .pairNow { return }
        if let last = askLog[asker.source], moment.now - last < .seconds(60) { return }
        askLog[asker.source] = moment.now
        askLog.touch(asker.source)
        if askLog.count > 1_024, let oldest = askLog.first { askLog.remove(oldest.key) }
        let words =
            switch decision {
            case .locked: "locked"
            case .pairNow: "paired"
            case .shownNotOpened: "shown"
            case .shownOpened: "shown, opened"
            case .openOnHost(.thisHost): "from this host"
            case .openOnHost(.often): "too often"
            case .openOnHost(.quiet): "quiet since \(Self.minutes(quietSince.map { moment.now - $0 }))"
            }
        log(
            .info, "ask",
            [("place", Route.place(asker.origin)), ("name", asker.name), ("decision", words)]
                + Self.cableFields(asker.cable, why: decision == .locked ? nil : Self.notByItself(facts)))
    }

    private static func minutes(_ ago: Duration?) -> String {
        let minutes = Int((ago ?? .zero).seconds / 60)
        if minutes < 1 { return "less than a minute" }
        return minutes == 1 ? "1 minute" : "\(minutes) minutes"
    }
}
