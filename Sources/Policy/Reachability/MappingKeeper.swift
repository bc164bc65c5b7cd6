// SPDX-License-Identifier: Apache-2.0

package import Wire

/// Looks after the mapping and the pinhole that the owner asked for: what to ask the router next, and how things stand
/// (05 B8, B9). It decides; whoever owns it asks the router and tells it the outcome. One request at a time.
package struct MappingKeeper: Sendable {
    /// All that it decides from.
    package struct Situation: Sendable, Equatable {
        /// Internet access is on, so that one may be asked for by name.
        package var isAllowed = false
        /// The setting `portMapping` is `upnp`, and internet access is on.
        package var wantsMapping = false
        /// The setting `ipv6Pinhole` is on, and internet access is.
        package var wantsPinhole = false
        package var allowsPermanent = false
        /// The IPv4 verdict as if internet access were on, its mapping, and what it advises.
        package var router = RouterCode.asking
        package var mapping = MappingAnswer.unreadable
        package var advice = ""
        package var ipv6 = IPv6Code.v6None
        package var gateway: IPAddress?
        package var lan: IPAddress?
        package var stableIPv6: IPAddress?
        package var outsidePort = 7455
        package var insidePort = 7455

        package init() {}
    }

    /// What to ask the router.
    package enum Operation: Sendable, Hashable {
        case map(MappingWish)
        case unmap(MappingGrant)
        case openPinhole(PinholeWish)
        case renewPinhole(PinholeGrant)
        case closePinhole(PinholeGrant)
    }

    /// How the mapping stands; nil while none is wanted and none is left.
    package private(set) var mapping: MappingOutcome?
    /// When it ends unless it is renewed; nil without one, or when it has no end.
    package var mappingExpires: MonotonicTime? { mapped?.expires }
    /// How the pinhole stands.
    package private(set) var pinhole: PinholeOutcome?
    package var pinholeExpires: MonotonicTime? { opened?.expires }
    /// What is being asked; nothing else is until it is finished.
    package private(set) var running: Operation?

    /// After no word.
    static let soon: Duration = .seconds(60)
    /// After a refusal.
    static let later: Duration = .seconds(1800)

    private var mapped: Held<MappingGrant>?
    /// Its removal was asked for and is not through: the next try has its time.
    private var isRetryingRemoval = false
    private var mapTry: Try<MappingKey>?
    private var formerLANs: [IPAddress] = []
    private var opened: Held<PinholeGrant>?
    private var isRetryingClosing = false
    private var openTry: Try<PinholeKey>?

    package init() {}

    /// Something that the router granted.
    private struct Held<Grant: Sendable & Hashable>: Sendable {
        var grant: Grant
        /// nil: never.
        var expires: MonotonicTime?
        /// When to ask again for it, or to try its removal again.
        var next: MonotonicTime?

        init(_ grant: Grant, lease: Int, at now: MonotonicTime) {
            self.grant = grant
            guard lease > 0 else { return }
            expires = now + .seconds(lease)
            next = now + .milliseconds(lease * 500)
        }

        func isOver(at now: MonotonicTime) -> Bool { expires.map { now >= $0 } ?? false }
        func isDue(at now: MonotonicTime) -> Bool { next.map { now >= $0 } ?? false }
    }

    /// A request that brought nothing: not repeated before its time unless what it depends on changes.
    private struct Try<Key: Sendable & Hashable>: Sendable {
        var key: Key
        var until: MonotonicTime
    }

    private struct MappingKey: Sendable, Hashable {
        var wish: MappingWish
        var router: RouterCode
        /// The entry without its lease.
        var target: String
    }

    private struct PinholeKey: Sendable, Hashable {
        var wish: PinholeWish
        var code: IPv6Code
    }

    // MARK: What to do

    /// What to ask the router now; nil when nothing is to be done, or something is being asked.
    package mutating func next(_ situation: Situation, at now: MonotonicTime) -> Operation? {
        guard running == nil else { return nil }
        running = nextMapping(situation, at: now) ?? nextPinhole(situation, at: now)
        return running
    }

    /// When to ask for the next operation again if nothing changes before; nil when only a change can matter.
    package func nextTime() -> MonotonicTime? {
        [
            mapped?.next, mapped?.expires, mapTry?.until, opened?.next, opened?.expires, openTry?.until,
        ].compactMap { $0 }.min()
    }

    /// Somebody asks for it by name: earlier refusals do not count.
    package mutating func isAskedAgain() {
        mapTry = nil
        openTry = nil
    }

    private mutating func nextMapping(_ situation: Situation, at now: MonotonicTime) -> Operation? {
        if let held = mapped {
            if held.isOver(at: now) {
                mapped = nil
                mapping = nil
            } else if let operation = keep(held, situation, at: now) {
                return operation
            }
        }
        guard mapped == nil else { return nil }
        let ours = shownAsOurs(situation)
        if ours == nil { leftover = nil }
        guard situation.wantsMapping else {
            mapping = nil
            mapTry = nil
            // One that nobody answered for, or that an earlier run left: once for each time the router shows it.
            guard let ours, leftover != ours.wish else { return nil }
            mapped = Held(ours, lease: ours.lease, at: now)
            return .unmap(ours)
        }
        if mapping == .pending, let ours, wish(situation)?.isSame(as: ours.wish) == true {
            // The probe has told what the router did not answer (05 B8).
            mapping = .active(ours)
            mapped = Held(ours, lease: ours.lease, at: now)
            return nil
        }
        if situation.router == .asking {
            mapping = mapping ?? .pending
            return nil
        }
        if let obstacle = MappingPolicy.obstacle(
            situation.router, mapping: situation.mapping, advice: situation.advice)
        {
            // Silence proves nothing about what is there: as long as somebody has answered, his word stands.
            mapping = obstacle
            return nil
        }
        guard let wish = wish(situation) else { return nil }
        let key = key(wish, situation)
        if let mapTry, mapTry.key == key, now < mapTry.until { return nil }
        mapTry = Try(key: key, until: now + Self.later)
        return .map(wish)
    }

    /// What a mapping that is there needs; may let go of it.
    private mutating func keep(
        _ held: Held<MappingGrant>, _ situation: Situation, at now: MonotonicTime
    ) -> Operation? {
        let grant = held.grant
        let wish = wish(situation)
        if let gateway = situation.gateway, gateway != grant.wish.gateway {
            // The old router cannot be asked any more; there it ends with its lease.
            mapped = nil
            mapping = nil
            formerLANs = []
            return nil
        }
        let isWanted = situation.wantsMapping && (wish.map { $0.isSame(as: grant.wish) } ?? true)
        if !isWanted {
            // Without a network nobody can be asked.
            guard situation.gateway != nil, situation.lan != nil else { return nil }
            if isRetryingRemoval, !held.isDue(at: now) { return nil }
            return .unmap(grant)
        }
        guard held.isDue(at: now), let wish else { return nil }
        return .map(wish)
    }

    /// What the router still showed as ours when it was taken away last: the next probe shows what became of it.
    private var leftover: MappingWish?

    /// The mapping to this machine that carries our name in what the router showed last.
    private func shownAsOurs(_ situation: Situation) -> MappingGrant? {
        guard case .entry(let entry) = situation.mapping, entry.description == MappingPolicy.description,
            entry.client == situation.lan, let gateway = situation.gateway
        else { return nil }
        let wish = MappingWish(
            gateway: gateway, lan: entry.client, outsidePort: situation.outsidePort, insidePort: entry.port)
        return MappingGrant(wish: wish, way: .upnp, lease: entry.lease, isSeen: true)
    }

    private func wish(_ situation: Situation) -> MappingWish? {
        guard let gateway = situation.gateway, let lan = situation.lan, situation.insidePort > 0,
            situation.outsidePort > 0
        else { return nil }
        var wish = MappingWish(
            gateway: gateway, lan: lan, outsidePort: situation.outsidePort, insidePort: situation.insidePort)
        wish.allowsPermanent = situation.allowsPermanent
        wish.formerLANs = formerLANs.filter { $0 != lan }
        return wish
    }

    private func key(_ wish: MappingWish, _ situation: Situation) -> MappingKey {
        var target = ""
        if case .entry(let entry) = situation.mapping {
            target = "\(entry.client):\(entry.port) \(entry.isEnabled) \(entry.description)"
        }
        return MappingKey(wish: wish, router: situation.router, target: target)
    }

    private mutating func nextPinhole(_ situation: Situation, at now: MonotonicTime) -> Operation? {
        let wish = pinholeWish(situation)
        if let held = opened {
            if held.isOver(at: now) || situation.gateway.map({ $0 != held.grant.wish.gateway }) ?? false {
                opened = nil
                pinhole = nil
            } else if !situation.wantsPinhole || wish.map({ $0.address != held.grant.wish.address }) ?? false
                || wish.map({ $0.port != held.grant.wish.port }) ?? false
            {
                guard situation.gateway != nil, situation.lan != nil else { return nil }
                if isRetryingClosing, !held.isDue(at: now) { return nil }
                return .closePinhole(held.grant)
            } else {
                return held.isDue(at: now) && wish != nil ? .renewPinhole(held.grant) : nil
            }
        }
        guard situation.wantsPinhole else {
            pinhole = nil
            openTry = nil
            return nil
        }
        guard let wish, PinholePolicy.mayAsk(situation.ipv6) else {
            pinhole = situation.router == .asking ? pinhole ?? .pending : .notPossible
            return nil
        }
        let key = PinholeKey(wish: wish, code: situation.ipv6)
        if let openTry, openTry.key == key, now < openTry.until { return nil }
        openTry = Try(key: key, until: now + Self.later)
        return .openPinhole(wish)
    }

    private func pinholeWish(_ situation: Situation) -> PinholeWish? {
        guard let gateway = situation.gateway, let lan = situation.lan, let address = situation.stableIPv6
        else { return nil }
        return PinholeWish(gateway: gateway, lan: lan, address: address, port: situation.insidePort)
    }

    // MARK: What came of it

    /// `map` has ended.
    package mutating func finished(_ outcome: MappingOutcome, at now: MonotonicTime) {
        guard case .map = running else { return }
        running = nil
        switch outcome {
        case .active(let grant):
            mapping = outcome
            mapped = Held(grant, lease: grant.lease, at: now)
            isRetryingRemoval = false
            mapTry = nil
            formerLANs = []
        case .pending where mapped != nil:
            // The old grant holds on; its renewal is tried again well before its end.
            mapped?.next = now + Self.soon
        default:
            mapping = outcome
            mapped = nil
            if outcome == .pending { mapTry?.until = now + Self.soon }
        }
    }

    /// `unmap` has ended.
    package mutating func finished(_ outcome: UnmappingOutcome, at now: MonotonicTime) {
        guard case .unmap(let grant) = running else { return }
        running = nil
        isRetryingRemoval = !outcome.isDone && (outcome == .pending || grant.lease == 0)
        if isRetryingRemoval {
            mapped?.next = now + (outcome == .pending ? Self.soon : Self.later)
            return
        }
        // A refusal leaves it to its lease; until then it may be in the way of the next one, and is known as ours.
        if !outcome.isDone { formerLANs = [grant.wish.lan] }
        leftover = MappingWish(
            gateway: grant.wish.gateway, lan: grant.wish.lan, outsidePort: grant.wish.outsidePort,
            insidePort: grant.wish.insidePort)
        mapped = nil
        mapping = nil
    }

    /// `openPinhole` or `renewPinhole` has ended.
    package mutating func finished(_ outcome: PinholeOutcome, at now: MonotonicTime) {
        switch running {
        case .openPinhole, .renewPinhole: running = nil
        default: return
        }
        switch outcome {
        case .open(let grant):
            pinhole = outcome
            opened = Held(grant, lease: grant.lease, at: now)
            isRetryingClosing = false
            openTry = nil
        case .pending where opened != nil: opened?.next = now + Self.soon
        default:
            pinhole = outcome
            opened = nil
            if outcome == .pending { openTry?.until = now + Self.soon }
        }
    }

    /// `closePinhole` has ended.
    package mutating func pinholeClosed(_ outcome: UnmappingOutcome, at now: MonotonicTime) {
        guard case .closePinhole = running else { return }
        running = nil
        isRetryingClosing = outcome == .pending
        if isRetryingClosing {
            opened?.next = now + Self.soon
            return
        }
        opened = nil
        pinhole = nil
    }
}
