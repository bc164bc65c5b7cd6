// SPDX-License-Identifier: Apache-2.0

import Testing
import Wire

@testable import LatchkeyDevice

/// 06 B4 and B7 through the keeper: whole histories of a session.
@Suite("Session keeper")
struct SessionKeeperTests {
    typealias History = KeeperHistory

    static let host: SavedHost = KeeperHistory.host

    static func row(
        _ id: String = "r", at address: String = "192.168.1.20", host: String? = KeeperHistory.host.id,
        peer: Bool = false,
        tls: Bool = true, wired: String? = nil
    ) -> BrowsedRow {
        let row = ListedRow(
            id: id, name: id, hostID: host, isPeerToPeer: peer, isTLS: tls, wiredInterface: wired)
        return BrowsedRow(row: row, endpoints: (try? Endpoint("\(address):1")).map { [$0] } ?? [])
    }

    static let quick: SimulatedNetwork.Answer = .serves(ready: 0.1, list: 0.1)
    static let refused: SimulatedNetwork.Answer = .ends(.closed, after: 0)

    static func goodbye(_ reason: String, reconnect: Bool? = nil) -> SessionGoodbye {
        SessionGoodbye(Goodbye(reason: reason, reconnect: reconnect))
    }

    // MARK: After a loss (B4)

    @Test("a loss at 100, nothing listed: remote dials at 103, then after 2, 4, 8, 10 s, none from 220")
    func remoteDials() {
        var history = History(at: 100)
        history.network.answers["1.0.0.1"] = Self.refused
        history.agenda = [(100, .ends(nil))]
        history.live(until: 400)
        #expect(
            history.dialled.map { $0.replacing(" 1.0.0.1", with: "") } == [
                "103.0", "105.0", "109.0", "117.0", "127.0", "137.0", "147.0", "157.0", "167.0", "177.0",
                "187.0",
                "197.0", "207.0", "217.0",
            ])
        #expect(history.log.prefix(3) == ["100.0 lost lost", "103.0 dialling", "103.0 failed refused"])
        // A browser may still find it.
        #expect(!history.log.contains { $0.hasSuffix("end") })
    }

    @Test("without a browser, nothing is left at the end")
    func nothingLeft() {
        var history = History(at: 100) { $0.hasRows = false }
        history.network.answers["1.0.0.1"] = Self.refused
        history.agenda = [(100, .ends(nil))]
        history.live(until: 400)
        #expect(history.log.suffix(2) == ["217.0 over nothingLeft", "217.0 end"])
    }

    @Test("the network stopped listing it at 99: not before 109; with another path at 103")
    func left() {
        for pathChanges in [false, true] {
            var history = History(door: .home, at: 90)
            history.network.answers["1.0.0.1"] = Self.quick
            history.agenda = [(91, .rows([Self.row()])), (99, .rows([])), (100, .ends(nil))]
            // What changed before the loss is not since the loss.
            history.agenda.append((99.5, .path))
            if pathChanges { history.agenda.append((101, .path)) }
            history.live(until: 300)
            #expect(history.dialled == [pathChanges ? "103.0 1.0.0.1" : "109.0 1.0.0.1"])
            #expect(history.log.last?.hasSuffix("connected") == true)
        }
    }

    @Test("its row comes first, by its tag, and at once")
    func rowFirst() {
        var history = History(door: .home, at: 90)
        history.network.answers["192.168.1.20"] = Self.quick
        history.agenda = [
            (91, .rows([Self.row("other", at: "192.168.1.9", host: "X"), Self.row()])), (100, .ends(nil)),
        ]
        history.live(until: 300)
        #expect(history.log == ["100.0 lost lost", "100.0 dialling r", "100.2 connected r"])
        #expect(history.dialled == ["100.0 192.168.1.20"])
    }

    @Test("a host that serves and closes at once, again and again, is dialled with growing pauses")
    func brief() {
        var history = History(door: .home, at: 90)
        history.network.answers["192.168.1.20"] = .serves(ready: 0, list: 0)
        history.talks["192.168.1.20"] = History.Talk(info: .none, endsAfter: 0.1)
        history.agenda = [(91, .rows([Self.row()])), (101, .ends(nil))]
        history.live(until: 140)
        // A row that comes anew does not shorten them.
        history.agenda = [(140.5, .rows([])), (140.6, .rows([Self.row()]))]
        history.live(until: 152)
        let times = history.dialled.map { $0.replacing(" 192.168.1.20", with: "") }
        #expect(times == ["101.0", "101.1", "103.2", "107.3", "115.4", "125.5", "135.6", "145.7"])
    }

    @Test("rows that say its tag and do not answer do not take every turn")
    func silentRows() {
        var history = History(door: .home, at: 90)
        let silent = ["192.168.1.8", "192.168.1.9"]
        for address in silent { history.network.answers[address] = .ends(.silent, after: 9) }
        history.network.answers["192.168.1.20"] = Self.quick
        let rows = silent.map { Self.row($0, at: $0) } + [Self.row()]
        history.agenda = [(91, .rows(rows)), (100, .ends(nil))]
        history.live(until: 300)
        #expect(history.dialled == ["100.0 192.168.1.8", "109.0 192.168.1.9", "118.0 192.168.1.20"])
        #expect(history.log.last?.hasSuffix("connected r") == true)
    }

    @Test("a session that lasts ends the pauses")
    func lasting() {
        var history = History(door: .home, at: 90)
        history.network.answers["192.168.1.20"] = .serves(ready: 0, list: 0)
        history.agenda = [
            (91, .rows([Self.row()])), (101, .ends(nil)), (102, .ends(nil)), (103, .ends(nil)),
            (116, .ends(nil)), (117, .ends(nil)),
        ]
        history.live(until: 140)
        let times = history.dialled.map { $0.replacing(" 192.168.1.20", with: "") }
        #expect(times == ["101.0", "102.0", "105.0", "116.0", "117.0"])
    }

    @Test("a move whose new connection ends before it is accepted leaves nothing open")
    func abandonedMove() {
        var history = History()
        history.network.answers["192.168.1.20"] = Self.quick
        history.talks["192.168.1.20"] = History.Talk(info: .none, endsAfter: 1)
        history.agenda = [(1, .rows([Self.row()]))]
        history.live(until: 5)
        #expect(history.log.last?.contains("stayed") == true)
        #expect(history.closed == [1])
    }

    @Test("a row that appears before the window list takes over from the remote dial")
    func takesOver() {
        var history = History(at: 100)
        history.network.answers = ["1.0.0.1": .serves(ready: 0.5, list: 2), "192.168.1.20": Self.quick]
        history.agenda = [(100, .ends(nil)), (104, .rows([Self.row()]))]
        history.live(until: 105)
        #expect(history.closed == [1, 0])
        history.live(until: 300)
        #expect(
            history.log == [
                "100.0 lost lost", "103.0 dialling", "104.0 dialling r", "104.2 connected r",
            ])
    }

    @Test("after a quit a row of before is held back three seconds")
    func quit() {
        var history = History(door: .home, at: 90)
        history.network.answers["192.168.1.20"] = Self.quick
        history.agenda = [(91, .rows([Self.row()])), (100, .ends(Self.goodbye("quit")))]
        history.live(until: 300)
        #expect(history.dialled == ["103.0 192.168.1.20"])
    }

    @Test(
        "a row whose dial fails is dialled again after 2, 4, 8, 10 s; remote addresses never while it is listed"
    )
    func rowRetries() {
        var history = History(door: .home, at: 90)
        history.network.answers = ["192.168.1.20": Self.refused, "1.0.0.1": Self.quick]
        history.agenda = [(91, .rows([Self.row()])), (100, .ends(nil))]
        history.live(until: 140)
        #expect(
            history.dialled == [
                "100.0 192.168.1.20", "102.0 192.168.1.20", "106.0 192.168.1.20", "114.0 192.168.1.20",
                "124.0 192.168.1.20", "134.0 192.168.1.20",
            ])
    }

    @Test("a row without a tag by the name it was last reached under, and by no other")
    func byName() {
        let nameless = ListedRow(id: "n", name: "r", hostID: nil)
        let named = BrowsedRow(row: nameless, endpoints: Self.row(at: "192.168.1.30").endpoints)
        var history = History(door: .home, at: 90)
        history.network.answers = ["192.168.1.20": Self.quick, "192.168.1.30": Self.quick]
        // Reached by the row "r", then lost again when only its name is listed.
        history.agenda = [
            (91, .rows([named])), (100, .ends(nil)), (101, .rows([Self.row()])), (110, .rows([named])),
            (120, .ends(nil)),
        ]
        history.live(until: 125)
        #expect(history.dialled == ["101.0 192.168.1.20", "120.0 192.168.1.30"])
    }

    @Test("a row that vanishes during its dial is no loss")
    func vanishes() {
        var history = History(door: .home, at: 90)
        history.network.answers["192.168.1.20"] = Self.quick
        history.agenda = [(91, .rows([Self.row()])), (100, .ends(nil)), (100.1, .rows([]))]
        history.live(until: 300)
        #expect(history.log.last == "100.2 connected r")
        var failing = History(door: .home, at: 90)
        failing.network.answers = ["1.0.0.1": Self.quick]
        failing.agenda = [(91, .rows([Self.row()])), (100, .ends(nil)), (100.1, .rows([]))]
        failing.live(until: 300)
        // Its dial ends after ten seconds, and then the remote addresses are due.
        #expect(
            failing.dialled == ["100.0 192.168.1.20", "110.1 1.0.0.1"]
                || failing.dialled == ["100.0 192.168.1.20", "110.0 1.0.0.1"])
        #expect(failing.log.last?.hasSuffix("connected") == true)
    }

    struct Ended: Sendable, CustomTestStringConvertible {
        var testDescription: String { reason }
        let reason: String
        var reconnect: Bool?
        /// A remote dial comes; a row's dial comes.
        let remote: Bool
        let row: Bool
    }

    static let goodbyes: [Ended] = [
        Ended(reason: "quit", remote: true, row: true), Ended(reason: "busy", remote: true, row: true),
        Ended(reason: "remoteOff", remote: false, row: true),
        Ended(reason: "internetOff", remote: false, row: true),
        Ended(reason: "removed", remote: false, row: false),
        Ended(reason: "removed", reconnect: true, remote: false, row: false),
        Ended(reason: "pairingRequired", remote: false, row: false),
        Ended(reason: "later", remote: false, row: false),
        Ended(reason: "later", reconnect: true, remote: true, row: true),
        Ended(reason: "update", reconnect: false, remote: false, row: false),
    ]

    @Test("goodbyes", arguments: goodbyes)
    func afterGoodbye(_ row: Ended) {
        var history = History(at: 100)
        history.network.answers = ["1.0.0.1": Self.refused, "192.168.1.20": Self.quick]
        history.agenda = [
            (100, .ends(Self.goodbye(row.reason, reconnect: row.reconnect))), (104, .rows([Self.row()])),
        ]
        history.live(until: 130)
        #expect(history.dialled.contains("103.0 1.0.0.1") == row.remote)
        #expect(history.dialled.contains("104.0 192.168.1.20") == row.row)
        #expect(history.log.contains("100.0 end") == !row.row)
    }

    @Test("goodbyes of a dial count as those of a session", arguments: goodbyes)
    func dialGoodbyes(_ row: Ended) {
        guard row.reconnect == nil else { return }
        var history = History(at: 100)
        history.network.answers = ["1.0.0.1": .leaves(ready: 0, .goodbye(row.reason), after: 0)]
        history.agenda = [(100, .ends(nil))]
        history.live(until: 130)
        #expect((history.dialled.count > 1) == row.remote)
        #expect(history.log.contains("103.0 end") == !row.row)
    }

    @Test("the pinned host that turns the key away at home ends it")
    func revokedAtHome() {
        var history = History(door: .home, at: 90)
        history.network.answers["192.168.1.20"] = .leaves(ready: 0, .keyRefused, after: 0)
        history.agenda = [(91, .rows([Self.row()])), (100, .ends(nil))]
        history.live(until: 300)
        #expect(history.log.suffix(2) == ["100.0 over removed", "100.0 end"])
    }

    // MARK: Coming home (B7)

    @Test("listed for two seconds: made before broken, through the fence")
    func comesHome() {
        var history = History(at: 0)
        history.network.answers["192.168.1.20"] = Self.quick
        history.talks["192.168.1.20"] = .init(info: .issued(101), infoAfter: 0.1)
        history.agenda = [(10, .rows([Self.row()]))]
        history.live(until: 60)
        #expect(history.log == ["12.0 moving r", "12.3 fence", "12.35 moved r"])
        #expect(history.current == 1)
        #expect(history.closed == [0])
    }

    @Test("the fence waits three seconds, and no longer")
    func fence() {
        var history = History(at: 0)
        history.network.answers["192.168.1.20"] = Self.quick
        history.fenceAfter = nil
        history.agenda = [(10, .rows([Self.row()]))]
        history.live(until: 60)
        #expect(history.log == ["12.0 moving r", "12.2 fence", "15.2 moved r"])
    }

    @Test("the worked examples: every move fails; another launch; a look-alike first")
    func examples() {
        var failing = History(at: 0)
        failing.network.answers["192.168.1.20"] = Self.refused
        failing.agenda = [(10, .rows([Self.row()]))]
        failing.live(until: 300)
        #expect(
            failing.dialled.map { $0.replacing(" 192.168.1.20", with: "") } == [
                "12.0", "22.0", "42.0", "82.0", "142.0", "202.0", "262.0",
            ])

        var launch = History(at: 0)
        launch.network.answers["192.168.1.20"] = Self.quick
        launch.talks["192.168.1.20"] = .init(launch: "M")
        launch.agenda = [(10, .rows([Self.row()]))]
        launch.live(until: 300)
        #expect(launch.dialled == ["12.0 192.168.1.20"])
        #expect(launch.log == ["12.0 moving r", "12.2 stayed r launch"])
        #expect(launch.closed == [1])

        var fake = History(at: 0)
        fake.network.answers = ["192.168.1.66": .ends(.pinMismatch, after: 0), "192.168.1.20": Self.quick]
        let imitation = Self.row("fake", at: "192.168.1.66")
        fake.agenda = [(4.85, .rows([imitation])), (20, .rows([imitation, Self.row()]))]
        fake.live(until: 300)
        #expect(fake.dialled == ["6.85 192.168.1.66", "20.0 192.168.1.20"])
        #expect(fake.log.last == "20.25 moved r")
    }

    struct Refused: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var talk: KeeperHistory.Talk = .init()
        var answer: SimulatedNetwork.Answer = .serves(ready: 0.1, list: 0.1)
        let reason: String
        /// Dialled once for as long as it is listed.
        var isFinal = true
    }

    static let refusals: [Refused] = [
        Refused(testDescription: "another key", answer: .ends(.pinMismatch, after: 0), reason: "wrongHost"),
        Refused(testDescription: "another launch", talk: .init(launch: "M"), reason: "launch"),
        Refused(testDescription: "no launch", talk: .init(launch: nil), reason: "launch"),
        Refused(testDescription: "an older info", talk: .init(info: .issued(99.9)), reason: "hostInfo"),
        Refused(testDescription: "an info that does not hold", talk: .init(info: .bad), reason: "hostInfo"),
        Refused(
            testDescription: "a goodbye after the window list",
            talk: .init(info: .none, endsAfter: 1, goodbye: goodbye("quit")), reason: "quit"),
        Refused(
            testDescription: "a goodbye before it", answer: .leaves(ready: 0, .goodbye("busy"), after: 0),
            reason: "busy"),
        Refused(testDescription: "nobody", answer: .silence, reason: "noAnswer", isFinal: false),
        Refused(
            testDescription: "no info for ten seconds", talk: .init(info: .none), reason: "noAnswer",
            isFinal: false),
        Refused(
            testDescription: "it breaks off", talk: .init(info: .none, endsAfter: 1), reason: "lost",
            isFinal: false),
    ]

    @Test("what is not taken, and whether it is dialled again while it is listed", arguments: refusals)
    func refuses(_ row: Refused) {
        var history = History(at: 0)
        history.network.answers["192.168.1.20"] = row.answer
        history.talks["192.168.1.20"] = row.talk
        history.agenda = [(10, .rows([Self.row()]))]
        history.live(until: 60)
        #expect(history.log.first == "12.0 moving r")
        #expect(history.log.dropFirst().first?.hasSuffix(" stayed r \(row.reason)") == true)
        #expect((history.dialled.count == 1) == row.isFinal)
        #expect(history.current == 0)
        #expect(!history.closed.contains(0))
    }

    @Test("the newest info counts as it was when the move began")
    func newestInfo() {
        var history = History(at: 0)
        history.network.answers["192.168.1.20"] = Self.quick
        history.talks["192.168.1.20"] = .init(info: .issued(150))
        history.agenda = [
            (1, .info(0, History.info(150))), (10, .rows([Self.row()])), (12.1, .info(0, History.info(160))),
        ]
        history.live(until: 60)
        #expect(history.log.last == "12.25 moved r")
        var older = History(at: 0)
        older.network = history.network
        older.talks = history.talks
        older.agenda = [(1, .info(0, History.info(151))), (10, .rows([Self.row()]))]
        older.live(until: 60)
        #expect(older.log.last == "12.2 stayed r hostInfo")
    }

    static let stays: [(String, @Sendable (inout SessionKeeper.Facts) -> Void)] = [
        ("asked for the remote door", { $0.isConnectRemotely = true }),
        ("revoked", { $0.host.revoked = true }),
        ("set up again", { $0.host.newKey = true }),
    ]

    @Test("sessions that stay", arguments: stays)
    func remains(_ what: String, _ change: @Sendable (inout SessionKeeper.Facts) -> Void) {
        var history = History(at: 0, facts: change)
        history.agenda = [(10, .rows([Self.row()]))]
        history.live(until: 60)
        #expect(history.log == [])
    }

    @Test(
        "a session at home, or whose host names no launch, does not move; nor to a plain or peer-to-peer row")
    func noMove() {
        for (door, launch, row) in [
            (HostDoor.home, "L", Self.row()), (.remote, nil, Self.row()),
            (.remote, "L", Self.row(peer: true)),
            (.remote, "L", Self.row(tls: false)), (.remote, "L", Self.row(host: nil)),
        ] {
            var history = History(door: door, at: 0, launch: launch)
            history.agenda = [(10, .rows([row]))]
            history.live(until: 60)
            #expect(history.log == [])
        }
    }

    @Test("the wired interface first, for two and a half seconds")
    func wired() {
        var history = History(at: 0)
        history.network.answers["192.168.1.20"] = Self.quick
        history.agenda = [(10, .rows([Self.row(wired: "eth0")]))]
        history.live(until: 60)
        #expect(history.dialled == ["12.0 192.168.1.200", "14.5 192.168.1.20"])
        #expect(history.log.last == "14.75 moved r")
        // Another key on the wire is another key.
        var fake = History(at: 0)
        fake.network.answers = ["192.168.1.20": Self.quick, "192.168.1.200": .ends(.pinMismatch, after: 0)]
        fake.agenda = [(10, .rows([Self.row(wired: "eth0")]))]
        fake.live(until: 60)
        #expect(fake.dialled == ["12.0 192.168.1.200"])
        // Five seconds more, and then it is over.
        var silent = History(at: 0)
        silent.agenda = [(10, .rows([Self.row(wired: "eth0")]))]
        silent.live(until: 21)
        #expect(silent.log == ["12.0 moving r", "19.5 stayed r noAnswer"])
    }

    @Test("the remote connection dies during the move: the move carries the session, without a fence")
    func diesDuringMove() {
        var history = History(at: 0)
        history.network.answers["192.168.1.20"] = Self.quick
        history.agenda = [(10, .rows([Self.row()])), (12.1, .ends(nil))]
        history.live(until: 60)
        #expect(history.log == ["12.0 moving r", "12.2 moved r"])
        // At the fence it is passed.
        var fenced = History(at: 0)
        fenced.network = history.network
        fenced.fenceAfter = nil
        fenced.agenda = [(10, .rows([Self.row()])), (13, .ends(nil))]
        fenced.live(until: 60)
        #expect(fenced.log == ["12.0 moving r", "12.2 fence", "13.0 moved r"])
        // When the move comes to nothing, the session is lost since it died.
        var lost = History(at: 0)
        lost.network.answers["1.0.0.1"] = Self.quick
        lost.agenda = [(10, .rows([Self.row()])), (12.1, .ends(nil)), (13, .rows([]))]
        lost.live(until: 60)
        #expect(
            lost.log.prefix(4) == [
                "12.0 moving r", "17.0 stayed r noAnswer", "17.0 lost lost", "23.0 dialling",
            ])
        // Removed is removed.
        var removed = History(at: 0)
        removed.network = history.network
        removed.agenda = [(10, .rows([Self.row()])), (12.1, .ends(Self.goodbye("removed")))]
        removed.live(until: 60)
        #expect(removed.log == ["12.0 moving r", "12.1 over removed", "12.1 end"])
        #expect(removed.closed == [1])
    }

    @Test("the new connection dies at the fence: the session goes on where it was")
    func newOneDies() {
        var history = History(at: 0)
        history.network.answers["192.168.1.20"] = Self.quick
        history.talks["192.168.1.20"] = .init(endsAfter: 1)
        history.fenceAfter = nil
        history.agenda = [(10, .rows([Self.row()]))]
        history.live(until: 20)
        #expect(history.log == ["12.0 moving r", "12.2 fence", "13.2 lift", "13.2 stayed r lost"])
        #expect(history.current == 0)
    }

    @Test(
        "a look-alike is dialled once for as long as it is listed: by a move, a loss, and the move after it")
    func lookAlike() {
        var history = History(at: 0)
        history.network.answers = ["192.168.1.66": .ends(.pinMismatch, after: 0.1), "1.0.0.1": Self.quick]
        let fake = Self.row("fake", at: "192.168.1.66")
        history.agenda = [(10, .rows([fake])), (30, .ends(nil)), (60, .ends(nil))]
        history.live(until: 200)
        #expect(history.dialled.filter { $0.hasSuffix("66") } == ["12.0 192.168.1.66"])
        // It counts as no listing: the remote addresses are dialled beside it.
        #expect(history.dialled.filter { $0.hasSuffix("1.0.0.1") } == ["33.0 1.0.0.1", "63.0 1.0.0.1"])
        // By a loss first.
        var atHome = History(door: .home, at: 0)
        atHome.network = history.network
        atHome.agenda = [(10, .rows([fake])), (30, .ends(nil))]
        atHome.live(until: 200)
        #expect(atHome.dialled.filter { $0.hasSuffix("66") } == ["30.0 192.168.1.66"])
        // Gone and back, it is another row.
        var back = History(at: 0)
        back.network = history.network
        back.agenda = [(10, .rows([fake])), (20, .rows([])), (21, .rows([fake]))]
        back.live(until: 60)
        #expect(back.dialled == ["12.0 192.168.1.66", "23.0 192.168.1.66"])
        var later = History(at: 0)
        later.network = history.network
        later.agenda = [(10, .rows([fake])), (20, .rows([])), (29.5, .rows([fake])), (30, .ends(nil))]
        later.live(until: 31)
        #expect(later.dialled == ["12.0 192.168.1.66", "30.0 192.168.1.66"])
    }

    @Test("a plain door is never dialled by its row, and counts as no listing")
    func plainDoor() {
        var history = History(at: 90)
        history.network.answers = ["1.0.0.1": Self.quick, "192.168.1.20": Self.quick]
        history.agenda = [(91, .rows([Self.row(tls: false)])), (100, .ends(nil))]
        history.live(until: 200)
        #expect(history.dialled == ["103.0 1.0.0.1"])
    }

    @Test("a row of another launch is the host all the same: after a loss it is dialled")
    func otherLaunchAfterLoss() {
        var history = History(at: 0)
        history.network.answers["192.168.1.20"] = Self.quick
        history.talks["192.168.1.20"] = .init(launch: "M")
        history.agenda = [(10, .rows([Self.row()])), (30, .ends(nil))]
        history.live(until: 200)
        #expect(history.dialled == ["12.0 192.168.1.20", "30.0 192.168.1.20"])
        #expect(history.log.last == "30.2 connected r")
    }

    @Test("back by a remote address it comes home again")
    func homeAfterRemote() {
        var history = History(door: .home, at: 0)
        history.network.answers = ["1.0.0.1": Self.quick, "192.168.1.20": Self.quick]
        history.talks = ["1.0.0.1": .init(launch: "M"), "192.168.1.20": .init(launch: "M")]
        history.agenda = [(10, .ends(nil)), (20, .rows([Self.row()]))]
        history.live(until: 60)
        #expect(
            history.log == [
                "10.0 lost lost", "13.0 dialling", "13.2 connected", "22.0 moving r", "22.2 fence",
                "22.25 moved r",
            ])
    }
}
