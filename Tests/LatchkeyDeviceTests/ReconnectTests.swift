// SPDX-License-Identifier: Apache-2.0

import Testing
import Wire

@testable import LatchkeyDevice

/// 06 B4: whole histories after a loss at 100.
@Suite("Reconnecting")
struct ReconnectTests {
    typealias Step = ReconnectSchedule.Step

    static func at(_ seconds: Double) -> MonotonicTime { .seconds(seconds) }

    static func loss(_ change: (inout ReconnectSchedule.Loss) -> Void = { _ in }) -> ReconnectSchedule.Loss {
        var loss = ReconnectSchedule.Loss(hostID: "H", at: at(100))
        loss.bonjourName = "Desk"
        change(&loss)
        return loss
    }

    static func row(
        _ id: String = "r", host: String? = "H", hasTag: Bool? = nil, name: String = "Desk",
        peer: Bool = false
    ) -> ListedRow {
        ListedRow(id: id, name: name, hostID: host, hasTag: hasTag, isPeerToPeer: peer)
    }

    struct Table: Sendable {
        var leftAt: Double?
        var pathChanged = false
        var peer = false
        var now: Double
        var want: Step
    }

    @Test(arguments: [
        // 06's own.
        Table(now: 102.99, want: .wait(at(103))), Table(now: 103, want: .dialRemote),
        Table(leftAt: 99, now: 103, want: .wait(at(109))),
        Table(leftAt: 99, pathChanged: true, now: 103, want: .dialRemote), Table(now: 220.1, want: .nothing),
        // The bounds around them.
        Table(leftAt: 99, now: 109, want: .dialRemote), Table(now: 219.99, want: .dialRemote),
        Table(now: 220, want: .nothing), Table(leftAt: 93, now: 103, want: .dialRemote),
        Table(leftAt: 99, pathChanged: true, now: 102, want: .wait(at(103))),
        Table(peer: true, now: 105.99, want: .wait(at(106))), Table(peer: true, now: 106, want: .dialRemote),
        // The network stops listing it so late that no dial comes.
        Table(leftAt: 210, now: 215, want: .nothing),
    ])
    func table(_ row: Table) {
        var schedule = ReconnectSchedule(
            Self.loss {
                $0.networkLeftAt = row.leftAt.map { Self.at($0) }
                $0.wasPeerToPeer = row.peer
            })
        if row.pathChanged { schedule.pathHasChanged() }
        #expect(schedule.next(at: Self.at(row.now)) == row.want)
    }

    @Test("failed dials are made again after 2, 4, 8, 10 and 10 seconds, until 120")
    func retries() {
        var schedule = ReconnectSchedule(Self.loss())
        var now = 103.0
        var dials: [Double] = []
        while case .dialRemote = schedule.next(at: Self.at(now)) {
            dials.append(now)
            schedule.remoteDialBegan()
            #expect(schedule.next(at: Self.at(now)) == .nothing)
            schedule.remoteDialFailed(.noAnswer, at: Self.at(now))
            guard case .wait(let due) = schedule.next(at: Self.at(now)) else { break }
            now = Double(due.nanoseconds) / 1e9
        }
        #expect(dials == [103, 105, 109, 117, 127, 137, 147, 157, 167, 177, 187, 197, 207, 217])
        #expect(schedule.next(at: Self.at(217)) == .nothing)
    }

    @Test("what says that it makes no sense stops them", arguments: DialFailure.allCases)
    func stops(_ failure: DialFailure) {
        var schedule = ReconnectSchedule(Self.loss())
        schedule.remoteDialBegan()
        schedule.remoteDialFailed(failure, at: Self.at(104))
        let stopped: Set<DialFailure> = [.revoked, .wrongHost, .remoteOff]
        #expect(schedule.next(at: Self.at(106)) == (stopped.contains(failure) ? .nothing : .dialRemote))
        // Its row on the network is dialled all the same.
        schedule.listed([Self.row()], at: Self.at(107))
        #expect(schedule.next(at: Self.at(107)) == .dialRow("r"))
    }

    static let goodbyes: [(SessionGoodbye.ComingBack, Bool, Bool)] = [
        (.everywhere, true, true), (.homeOnly, false, true), (.never, false, false),
    ]

    @Test("goodbyes", arguments: goodbyes)
    func goodbye(_ comingBack: SessionGoodbye.ComingBack, _ remote: Bool, _ home: Bool) {
        var schedule = ReconnectSchedule(Self.loss { $0.comingBack = comingBack })
        #expect(schedule.next(at: Self.at(110)) == (remote ? .dialRemote : .nothing))
        schedule.listed([Self.row()], at: Self.at(111))
        #expect(schedule.next(at: Self.at(111)) == (home ? .dialRow("r") : .nothing))
    }

    @Test("nothing to dial remotely")
    func noAddresses() {
        let schedule = ReconnectSchedule(Self.loss { $0.hasRemoteAddresses = false })
        #expect(schedule.next(at: Self.at(110)) == .nothing)
    }

    static let matches: [(ListedRow, Bool)] = [
        (row(), true), (row(name: "Any"), true), (row(host: nil, hasTag: false), true),
        (row(host: nil, hasTag: false, name: "Other"), false), (row(host: nil, hasTag: true), false),
        (row(host: "X"), false),
    ]

    @Test("by its tag, or by its name without any", arguments: matches)
    func match(_ row: ListedRow, _ isHost: Bool) {
        var schedule = ReconnectSchedule(Self.loss())
        schedule.listed([row], at: Self.at(101))
        #expect(schedule.next(at: Self.at(101)) == (isHost ? .dialRow("r") : .wait(Self.at(103))))
        var nameless = ReconnectSchedule(Self.loss { $0.bonjourName = nil })
        nameless.listed([Self.row(host: nil, hasTag: false)], at: Self.at(101))
        #expect(nameless.next(at: Self.at(101)) == .wait(Self.at(103)))
    }

    @Test("a row from before a quit is held back three seconds, another is not")
    func quit() {
        let loss = Self.loss { $0.goodbye = "quit" }
        var schedule = ReconnectSchedule(loss, listed: [(Self.row(), Self.at(50))])
        #expect(schedule.next(at: Self.at(102.99)) == .wait(Self.at(103)))
        #expect(schedule.next(at: Self.at(103)) == .dialRow("r"))
        schedule.listed([Self.row(), Self.row("new")], at: Self.at(101))
        #expect(schedule.next(at: Self.at(101)) == .dialRow("new"))
        let busy = ReconnectSchedule(
            Self.loss { $0.goodbye = "busy" }, listed: [(Self.row(), Self.at(50))])
        #expect(busy.next(at: Self.at(100)) == .dialRow("r"))
        // Gone and back: it is another.
        var back = ReconnectSchedule(loss, listed: [(Self.row(), Self.at(50))])
        back.listed([], at: Self.at(101))
        back.listed([Self.row()], at: Self.at(101.5))
        #expect(back.next(at: Self.at(101.5)) == .dialRow("r"))
    }

    @Test("a peer-to-peer row waits six seconds, and ten since the network had the host")
    func peerToPeer() {
        var schedule = ReconnectSchedule(Self.loss())
        schedule.listed([Self.row(peer: true)], at: Self.at(101))
        #expect(schedule.next(at: Self.at(106.99)) == .wait(Self.at(107)))
        #expect(schedule.next(at: Self.at(107)) == .dialRow("r"))
        var left = ReconnectSchedule(Self.loss { $0.networkLeftAt = Self.at(99) })
        left.listed([Self.row(peer: true)], at: Self.at(101))
        #expect(left.next(at: Self.at(108.99)) == .wait(Self.at(109)))
        #expect(left.next(at: Self.at(109)) == .dialRow("r"))
        // The network's row comes first, and no remote dial while either is listed.
        left.listed([Self.row(peer: true), Self.row("net")], at: Self.at(110))
        #expect(left.next(at: Self.at(110)) == .dialRow("net"))
        left.listed([Self.row(peer: true)], at: Self.at(111))
        #expect(left.next(at: Self.at(111)) == .wait(Self.at(121)))
        left.listed([], at: Self.at(112))
        #expect(left.next(at: Self.at(112)) == .wait(Self.at(121)))
        #expect(left.next(at: Self.at(121)) == .dialRemote)
        // As such for six seconds: it was a network's row before.
        var turned = ReconnectSchedule(Self.loss(), listed: [(Self.row(), Self.at(50))])
        turned.listed([Self.row(peer: true)], at: Self.at(105))
        #expect(turned.next(at: Self.at(114.9)) == .wait(Self.at(115)))
    }

    @Test("a row that appears while the remote addresses are dialled takes over")
    func takesOver() {
        var schedule = ReconnectSchedule(Self.loss())
        schedule.remoteDialBegan()
        schedule.listed([Self.row()], at: Self.at(104))
        #expect(schedule.next(at: Self.at(104)) == .dialRow("r"))
        schedule.rowDialBegan("r", at: Self.at(104))
        #expect(schedule.next(at: Self.at(104)) == .nothing)
    }

    @Test("a look-alike is dialled once while it is listed, and stops nobody")
    func lookAlike() {
        var schedule = ReconnectSchedule(Self.loss())
        schedule.listed([Self.row("fake")], at: Self.at(101))
        schedule.rowDialBegan("fake", at: Self.at(101))
        schedule.rowDialFailed("fake", isLookAlike: true, at: Self.at(101.5))
        #expect(schedule.next(at: Self.at(102)) == .wait(Self.at(103)))
        #expect(schedule.next(at: Self.at(103)) == .dialRemote)
        for time in [104.0, 110, 150] {
            schedule.listed([Self.row("fake")], at: Self.at(time))
            #expect(schedule.next(at: Self.at(time)) == .dialRemote)
        }
        // The real one beside it.
        schedule.listed([Self.row("fake"), Self.row("real")], at: Self.at(151))
        #expect(schedule.next(at: Self.at(151)) == .dialRow("real"))
        // Gone and listed again, it may be somebody else.
        schedule.listed([], at: Self.at(152))
        schedule.listed([Self.row("fake")], at: Self.at(153))
        #expect(schedule.next(at: Self.at(153)) == .dialRow("fake"))
    }

    @Test("a row that does not answer is tried again with the same patience")
    func rowRetries() {
        var schedule = ReconnectSchedule(Self.loss())
        schedule.listed([Self.row()], at: Self.at(101))
        var dials: [Double] = []
        var now = 101.0
        for _ in 0..<6 {
            guard case .dialRow("r") = schedule.next(at: Self.at(now)) else { break }
            dials.append(now)
            schedule.rowDialBegan("r", at: Self.at(now))
            schedule.rowDialFailed("r", isLookAlike: false, at: Self.at(now))
            guard case .wait(let due) = schedule.next(at: Self.at(now)) else { break }
            now = Double(due.nanoseconds) / 1e9
        }
        #expect(dials == [101, 103, 107, 115, 125, 135])
        schedule.rowDialFailed("gone", isLookAlike: true, at: Self.at(140))
    }

    @Test("a network full of rows is bounded")
    func bounded() {
        var book = RowBook()
        book.update((0..<1000).map { Self.row("r\($0)") }, at: Self.at(0))
        #expect(book.entries.count == RowBook.limit)
    }

    static let shown: [(Bool, Bool, Double, Bool)] = [
        (false, false, 2.99, false), (false, false, 3, true), (false, true, 0, true), (true, true, 9, false),
        (true, false, 9, false),
    ]

    @Test("when a host that nobody lists shows", arguments: shown)
    func remoteRows(_ isListed: Bool, _ denied: Bool, _ now: Double, _ want: Bool) {
        #expect(
            RemoteRowRule.shows(
                isListed: isListed, searchingSince: Self.at(0), isLocalNetworkDenied: denied,
                at: Self.at(now)) == want)
    }
}
