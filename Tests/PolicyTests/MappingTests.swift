// SPDX-License-Identifier: Apache-2.0

import Testing
import Wire

@testable import Policy

@Suite("What a router may be asked to map")
struct MappingPolicyTests {
    @Test("only where a forward can work", arguments: RouterCode.allCases)
    func obstacle(_ code: RouterCode) {
        let entry = MappingEntry(
            client: ip("192.168.1.20"), port: 80, isEnabled: true, description: "", lease: 0)
        let found = MappingPolicy.obstacle(code, mapping: .entry(entry), advice: "Do this.")
        switch code {
        case .publicMapped, .publicUnmapped, .publicMappingUnknown: #expect(found == nil)
        case .publicMappedElsewhere: #expect(found == .conflict("192.168.1.20:80"))
        default: #expect(found == .notPossible("Do this."))
        }
    }

    @Test("a conflict names the other machine, a carrier's address masked")
    func conflicts() {
        let rows = [
            ("192.168.1.20", "192.168.1.20:7000"), ("100.72.14.9", "100.72.x.x:7000"),
            ("100.128.0.1", "100.128.0.1:7000"),
        ]
        let wish = MappingWish(
            gateway: ip("192.168.1.1"), lan: ip("192.168.1.5"), outsidePort: 7455, insidePort: 7455)
        for (client, shown) in rows {
            let answer = MappingAnswer.entry(
                MappingEntry(client: ip(client), port: 7000, isEnabled: true, description: "", lease: 0))
            let found = MappingPolicy.obstacle(.publicMappedElsewhere, mapping: answer, advice: "")
            #expect(found == .conflict(shown))
            #expect(found?.detail?.contains(shown) == true)
            #expect(MappingPolicy.before(wish, existing: answer) == .stop(.conflict(shown)))
            #expect(MappingPolicy.after(wish, lease: 60, shown: answer) == .conflict(shown))
        }
    }

    @Test("every outcome has its code")
    func codes() {
        let wish = MappingWish(gateway: ip("10.0.0.1"), lan: ip("10.0.0.2"), outsidePort: 1, insidePort: 2)
        let grant = MappingGrant(wish: wish, way: .upnp, lease: 1, isSeen: true)
        let all: [MappingOutcome] = [
            .active(grant), .pending, .refused(""), .portDiffers(1), .conflict(""), .notPossible(""),
            .permanentOnly,
            .toThisHost,
        ]
        #expect(
            all.map(\.code) == [
                "mappingActive", "mappingPending", "mappingRefused", "mappingPortDiffers", "mappingConflict",
                "mappingNotPossible", "mappingPermanentOnly", "toThisHost",
            ])
    }

    @Test("a grant without time is none")
    func noTime() {
        let wish = MappingWish(gateway: ip("10.0.0.1"), lan: ip("10.0.0.2"), outsidePort: 1, insidePort: 2)
        #expect(MappingPolicy.granted(wish, outsidePort: 1, lifetime: 0).code == "mappingRefused")
    }

    @Test(
        "names of pinholes",
        arguments: [
            ("42", "42"), (" 7\n", "7"), ("65535", "65535"), ("65536", nil), ("", nil), ("-1", nil),
            ("4<x/>", nil), ("000000", nil),
        ] as [(String, String?)])
    func pinholeNames(_ text: String, _ expected: String?) { #expect(PinholePolicy.id(text) == expected) }

    @Test(
        "the outside port is the address name's own, else the remote port",
        arguments: [
            (nil, 7455), ("home.example.net", 7455), ("home.example.net:17455", 17455), ("no name", 7455),
        ] as [(String?, Int)])
    func outsidePort(_ name: String?, _ want: Int) {
        #expect(MappingPolicy.outsidePort(addressName: name, remotePort: 7455) == want)
    }

    @Test(
        "every error has words",
        arguments: [
            401, 402, 501, 606, 701, 702, 703, 704, 714, 715, 716, 718, 724, 725, 726, 727, 728, 729, 999,
        ])
    func words(_ code: Int) { #expect(MappingPolicy.words(code).contains("\(code)")) }
}

/// A keeper that can be asked inside an expectation, which may change nothing that is a value.
private final class Kept {
    var keeper: MappingKeeper
    init(_ keeper: MappingKeeper = MappingKeeper()) { self.keeper = keeper }

    var mapping: MappingOutcome? { keeper.mapping }
    var mappingExpires: MonotonicTime? { keeper.mappingExpires }
    var pinhole: PinholeOutcome? { keeper.pinhole }
    var pinholeExpires: MonotonicTime? { keeper.pinholeExpires }

    func next(_ situation: MappingKeeper.Situation, at now: MonotonicTime) -> MappingKeeper.Operation? {
        keeper.next(situation, at: now)
    }
    func nextTime() -> MonotonicTime? { keeper.nextTime() }
    func finished(_ outcome: MappingOutcome, at now: MonotonicTime) { keeper.finished(outcome, at: now) }
    func finished(_ outcome: UnmappingOutcome, at now: MonotonicTime) { keeper.finished(outcome, at: now) }
    func finished(_ outcome: PinholeOutcome, at now: MonotonicTime) { keeper.finished(outcome, at: now) }
    func pinholeClosed(_ outcome: UnmappingOutcome, at now: MonotonicTime) {
        keeper.pinholeClosed(outcome, at: now)
    }
}

@Suite("Looking after a mapping")
struct MappingKeeperTests {
    /// What the router shows for the port.
    private static func shown(
        _ situation: MappingKeeper.Situation, client: IPAddress? = nil, text: String = "Latchkey",
        lease: Int = 1000
    ) -> MappingKeeper.Situation {
        var situation = situation
        situation.router = .publicMapped
        situation.mapping = .entry(
            MappingEntry(
                client: client ?? situation.lan ?? IPAddress(v4: 0), port: situation.insidePort,
                isEnabled: true,
                description: text, lease: lease))
        return situation
    }

    @Test("what the router did not answer for, the next probe tells")
    func adopted() {
        let kept = Kept()
        let wanted = Self.situation()
        guard case .map = kept.next(wanted, at: .seconds(0)) else { return #expect(Bool(false)) }
        kept.finished(MappingOutcome.pending, at: .seconds(6))
        #expect(kept.next(Self.shown(wanted), at: .seconds(7)) == nil)
        guard case .active(let grant)? = kept.mapping else { return #expect(Bool(false)) }
        #expect(grant.isSeen && grant.lease == 1000 && kept.mappingExpires == .seconds(1007))
    }

    @Test("one of ours that is not wanted is taken away, once for each time it is shown")
    func leftBehind() {
        let kept = Kept()
        let unwanted = Self.situation { $0.wantsMapping = false }
        #expect(kept.next(unwanted, at: .seconds(0)) == nil)
        #expect(kept.next(Self.shown(unwanted, text: "mine"), at: .seconds(0)) == nil)
        #expect(kept.next(Self.shown(unwanted, client: IPAddress(v4: 1)), at: .seconds(0)) == nil)
        let left = Self.shown(unwanted)
        guard case .unmap = kept.next(left, at: .seconds(1)) else { return #expect(Bool(false)) }
        kept.finished(UnmappingOutcome.removed, at: .seconds(2))
        // The same old news.
        #expect(kept.next(left, at: .seconds(3)) == nil && kept.mapping == nil)
        #expect(kept.next(unwanted, at: .seconds(4)) == nil)
        guard case .unmap = kept.next(left, at: .seconds(5)) else { return #expect(Bool(false)) }
    }

    @Test("what was just taken away is not taken for a leftover while nobody has looked again")
    func ownEnd() {
        let kept = Kept()
        let wanted = Self.situation()
        guard case .map(let wish) = kept.next(wanted, at: .seconds(0)) else { return #expect(Bool(false)) }
        kept.finished(
            MappingOutcome.active(MappingGrant(wish: wish, way: .upnp, lease: 3600, isSeen: true)),
            at: .seconds(1))
        var unwanted = Self.shown(wanted)
        unwanted.wantsMapping = false
        guard case .unmap = kept.next(unwanted, at: .seconds(2)) else { return #expect(Bool(false)) }
        kept.finished(UnmappingOutcome.removed, at: .seconds(3))
        #expect(kept.next(unwanted, at: .seconds(4)) == nil)
    }

    static func situation(_ change: (inout MappingKeeper.Situation) -> Void = { _ in })
        -> MappingKeeper.Situation
    {
        var situation = MappingKeeper.Situation()
        situation.wantsMapping = true
        situation.router = .publicUnmapped
        situation.mapping = .none
        situation.gateway = ip("192.168.1.1")
        situation.lan = ip("192.168.1.5")
        change(&situation)
        return situation
    }

    static let wish = MappingWish(
        gateway: ip("192.168.1.1"), lan: ip("192.168.1.5"), outsidePort: 7455, insidePort: 7455)
    static let grant = MappingGrant(wish: wish, way: .upnp, lease: 3600, isSeen: true)

    private func active(at time: MonotonicTime = .seconds(0)) -> Kept {
        let keeper = Kept()
        #expect(keeper.next(Self.situation(), at: time) == .map(Self.wish))
        keeper.finished(MappingOutcome.active(Self.grant), at: time)
        return keeper
    }

    @Test("nothing is asked without the owner's word")
    func off() {
        let keeper = Kept()
        #expect(keeper.next(Self.situation { $0.wantsMapping = false }, at: .seconds(0)) == nil)
        #expect(keeper.mapping == nil)
        #expect(keeper.nextTime() == nil)
    }

    @Test("one request at a time; renewed at half its time")
    func renewed() {
        let keeper = Kept()
        #expect(keeper.next(Self.situation(), at: .seconds(0)) == .map(Self.wish))
        #expect(keeper.next(Self.situation(), at: .seconds(1)) == nil)
        keeper.finished(MappingOutcome.active(Self.grant), at: .seconds(2))
        #expect(keeper.mapping == .active(Self.grant))
        #expect(keeper.mappingExpires == .seconds(3602))
        #expect(keeper.nextTime() == .seconds(1802))
        #expect(keeper.next(Self.situation(), at: .seconds(1801)) == nil)
        // A probe that came out badly in between does not stop it.
        #expect(keeper.next(Self.situation { $0.router = .noAnswer }, at: .seconds(1802)) == .map(Self.wish))
        keeper.finished(MappingOutcome.active(Self.grant), at: .seconds(1802))
        #expect(keeper.nextTime() == .seconds(3602))
    }

    @Test("a renewal without a word is tried again, and its end is the end")
    func fading() {
        let keeper = active()
        #expect(keeper.next(Self.situation(), at: .seconds(1800)) == .map(Self.wish))
        keeper.finished(MappingOutcome.pending, at: .seconds(1806))
        #expect(keeper.mapping == .active(Self.grant))
        #expect(keeper.next(Self.situation(), at: .seconds(1860)) == nil)
        #expect(keeper.next(Self.situation(), at: .seconds(1866)) == .map(Self.wish))
        keeper.finished(MappingOutcome.refused("no"), at: .seconds(1867))
        #expect(keeper.mapping == .refused("no"))
        #expect(keeper.mappingExpires == nil)
    }

    @Test("what ended unnoticed is asked for again")
    func ended() {
        let keeper = active()
        #expect(keeper.next(Self.situation(), at: .seconds(3600)) == .map(Self.wish))
    }

    @Test("a permanent one is not renewed, but taken away")
    func permanent() {
        let keeper = Kept()
        var grant = Self.grant
        grant.lease = 0
        _ = keeper.next(Self.situation(), at: .seconds(0))
        keeper.finished(MappingOutcome.active(grant), at: .seconds(0))
        #expect(keeper.mappingExpires == nil)
        #expect(keeper.next(Self.situation(), at: .seconds(1e6)) == nil)
        #expect(keeper.next(Self.situation { $0.wantsMapping = false }, at: .seconds(1e6)) == .unmap(grant))
        // Nothing else ends it, so a refusal is no end.
        keeper.finished(UnmappingOutcome.refused("no"), at: .seconds(1e6))
        let off = Self.situation { $0.wantsMapping = false }
        #expect(keeper.next(off, at: .seconds(1e6 + 10)) == nil)
        #expect(keeper.next(off, at: .seconds(1e6 + 1800)) == .unmap(grant))
        keeper.finished(UnmappingOutcome.removed, at: .seconds(1e6 + 1800))
        #expect(keeper.next(off, at: .seconds(1e6 + 1801)) == nil)
        #expect(keeper.nextTime() == nil)
    }

    @Test(
        "switching off takes it away",
        arguments: [
            (.removed, nil), (.wasGone, nil), (.leftAlone, nil), (.refused("no"), nil), (.pending, 61),
        ] as [(UnmappingOutcome, Double?)])
    func switchedOff(_ outcome: UnmappingOutcome, _ again: Double?) {
        let keeper = active()
        let off = Self.situation { $0.wantsMapping = false }
        #expect(keeper.next(off, at: .seconds(1)) == .unmap(Self.grant))
        keeper.finished(outcome, at: .seconds(1))
        #expect(keeper.next(off, at: .seconds(2)) == nil)
        if let again {
            #expect(keeper.next(off, at: .seconds(again)) == .unmap(Self.grant))
            // It ended by itself in the end.
            keeper.finished(UnmappingOutcome.pending, at: .seconds(again))
            #expect(keeper.next(off, at: .seconds(3600)) == nil)
        }
        #expect(keeper.mapping == nil)
        #expect(keeper.nextTime() == nil)
    }

    @Test("an earlier removal that got no word does not hold up a later one")
    func removedAgain() {
        let keeper = active()
        let off = Self.situation { $0.wantsMapping = false }
        _ = keeper.next(off, at: .seconds(1))
        keeper.finished(UnmappingOutcome.pending, at: .seconds(1))
        #expect(keeper.next(Self.situation(), at: .seconds(61)) == .map(Self.wish))
        keeper.finished(MappingOutcome.active(Self.grant), at: .seconds(61))
        #expect(keeper.next(off, at: .seconds(62)) == .unmap(Self.grant))
    }

    @Test("another address, or another port: the old one goes first")
    func moved() {
        let keeper = active()
        let moved = Self.situation { $0.lan = ip("192.168.1.9") }
        #expect(keeper.next(moved, at: .seconds(5)) == .unmap(Self.grant))
        // A strict router lets only the old address take it away; it is still known as ours.
        keeper.finished(UnmappingOutcome.refused("606"), at: .seconds(5))
        guard case .map(let wish) = keeper.next(moved, at: .seconds(6)) else { return #expect(Bool(false)) }
        #expect(wish.lan == ip("192.168.1.9"))
        #expect(wish.formerLANs == [ip("192.168.1.5")])

        let other = active()
        let port = Self.situation { $0.outsidePort = 17_455 }
        #expect(other.next(port, at: .seconds(5)) == .unmap(Self.grant))
        other.finished(UnmappingOutcome.removed, at: .seconds(5))
        guard case .map(let second) = other.next(port, at: .seconds(6)) else { return #expect(Bool(false)) }
        #expect(second.outsidePort == 17_455)
        #expect(second.formerLANs == [])
    }

    @Test("another gateway: the old one cannot be asked any more")
    func otherGateway() {
        let keeper = active()
        let moved = Self.situation {
            $0.gateway = ip("10.0.0.1")
            $0.lan = ip("10.0.0.5")
        }
        guard case .map(let wish) = keeper.next(moved, at: .seconds(5)) else { return #expect(Bool(false)) }
        #expect(wish.gateway == ip("10.0.0.1"))
    }

    @Test("without a network it waits")
    func noNetwork() {
        let keeper = active()
        let gone = Self.situation {
            $0.gateway = nil
            $0.lan = nil
        }
        #expect(keeper.next(gone, at: .seconds(5)) == nil)
        #expect(keeper.next(gone, at: .seconds(1800)) == nil)
        #expect(keeper.mapping == .active(Self.grant))
        #expect(keeper.next(Self.situation(), at: .seconds(1900)) == .map(Self.wish))
    }

    @Test("a refusal is not repeated before its time, unless something changes or somebody asks")
    func refused() {
        let keeper = Kept()
        _ = keeper.next(Self.situation(), at: .seconds(0))
        keeper.finished(MappingOutcome.refused("no"), at: .seconds(0))
        #expect(keeper.next(Self.situation(), at: .seconds(1799)) == nil)
        #expect(keeper.nextTime() == .seconds(1800))
        let changed = Kept(keeper.keeper)
        #expect(changed.next(Self.situation { $0.allowsPermanent = true }, at: .seconds(5)) != nil)
        let asked = Kept(keeper.keeper)
        asked.keeper.isAskedAgain()
        #expect(asked.next(Self.situation(), at: .seconds(5)) == .map(Self.wish))
        #expect(keeper.next(Self.situation(), at: .seconds(1800)) == .map(Self.wish))
    }

    @Test("no word is tried again soon")
    func pending() {
        let keeper = Kept()
        _ = keeper.next(Self.situation(), at: .seconds(0))
        keeper.finished(MappingOutcome.pending, at: .seconds(6))
        #expect(keeper.mapping == .pending)
        #expect(keeper.next(Self.situation(), at: .seconds(65)) == nil)
        #expect(keeper.next(Self.situation(), at: .seconds(66)) == .map(Self.wish))
    }

    @Test(
        "verdicts that forbid it are the state",
        arguments: [
            (.carrierNAT, "mappingNotPossible"), (.publicMappedElsewhere, "mappingConflict"),
            (.asking, "mappingPending"),
        ] as [(RouterCode, String)])
    func forbidden(_ code: RouterCode, _ expected: String) {
        let keeper = Kept()
        #expect(keeper.next(Self.situation { $0.router = code }, at: .seconds(0)) == nil)
        #expect(keeper.mapping?.code == expected)
    }

    // MARK: Pinholes

    static let pinholeWish = PinholeWish(
        gateway: ip("192.168.1.1"), lan: ip("192.168.1.5"), address: ip("2001:db8::20"), port: 7455)
    static let pinhole = PinholeGrant(wish: pinholeWish, id: "42", lease: 3600, isWorking: true)

    static func six(_ change: (inout MappingKeeper.Situation) -> Void = { _ in }) -> MappingKeeper.Situation {
        situation {
            $0.wantsMapping = false
            $0.wantsPinhole = true
            $0.ipv6 = .v6PinholePossible
            $0.stableIPv6 = ip("2001:db8::20")
            change(&$0)
        }
    }

    @Test("a pinhole is opened, renewed and closed")
    func pinholes() {
        let keeper = Kept()
        #expect(keeper.next(Self.six(), at: .seconds(0)) == .openPinhole(Self.pinholeWish))
        keeper.finished(PinholeOutcome.open(Self.pinhole), at: .seconds(0))
        #expect(keeper.pinhole == .open(Self.pinhole))
        #expect(keeper.pinholeExpires == .seconds(3600))
        #expect(keeper.next(Self.six { $0.ipv6 = .v6PinholeActive }, at: .seconds(1799)) == nil)
        #expect(keeper.next(Self.six(), at: .seconds(1800)) == .renewPinhole(Self.pinhole))
        keeper.finished(PinholeOutcome.open(Self.pinhole), at: .seconds(1800))
        #expect(
            keeper.next(Self.six { $0.wantsPinhole = false }, at: .seconds(1801))
                == .closePinhole(Self.pinhole))
        keeper.pinholeClosed(.removed, at: .seconds(1801))
        #expect(keeper.next(Self.six { $0.wantsPinhole = false }, at: .seconds(1802)) == nil)
        #expect(keeper.pinhole == nil)
    }

    @Test("a new address gets a new pinhole")
    func newAddress() {
        let keeper = Kept()
        _ = keeper.next(Self.six(), at: .seconds(0))
        keeper.finished(PinholeOutcome.open(Self.pinhole), at: .seconds(0))
        let moved = Self.six { $0.stableIPv6 = ip("2001:db8::21") }
        #expect(keeper.next(moved, at: .seconds(1)) == .closePinhole(Self.pinhole))
        keeper.pinholeClosed(.refused("no"), at: .seconds(1))
        guard case .openPinhole(let wish) = keeper.next(moved, at: .seconds(2)) else {
            return #expect(Bool(false))
        }
        #expect(wish.address == ip("2001:db8::21"))
    }

    @Test("a pinhole is asked for only where it has a use", arguments: IPv6Code.allCases)
    func useful(_ code: IPv6Code) {
        let keeper = Kept()
        let asks = keeper.next(Self.six { $0.ipv6 = code }, at: .seconds(0)) != nil
        #expect(asks == (code == .v6PinholePossible || code == .v6PinholeActive))
        if !asks { #expect(keeper.pinhole == .notPossible) }
    }

    @Test("a refused pinhole is not asked for at once again")
    func refusedPinhole() {
        let keeper = Kept()
        _ = keeper.next(Self.six(), at: .seconds(0))
        keeper.finished(PinholeOutcome.refused("no"), at: .seconds(0))
        #expect(keeper.next(Self.six(), at: .seconds(100)) == nil)
        #expect(keeper.next(Self.six(), at: .seconds(1800)) == .openPinhole(Self.pinholeWish))
        keeper.finished(PinholeOutcome.pending, at: .seconds(1800))
        #expect(keeper.next(Self.six(), at: .seconds(1860)) == .openPinhole(Self.pinholeWish))
    }
}
