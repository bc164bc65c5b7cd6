// SPDX-License-Identifier: Apache-2.0

import Policy
import Synchronization
import Testing

@testable import SystemBus

/// A logind on a bus of its own, and a watcher that follows it.
private final class Desk: Sendable {
    private let logind: Mutex<FakeLogind>
    /// Members that are not answered.
    private let unanswered = Mutex<Set<String>>([])
    /// Signals that leave right before the next `GetAll` is answered.
    private let beforeGetAll = Mutex<[BusSignal]>([])
    private let peer = Mutex<TestPeer?>(nil)
    let witnesses: Told<LockPolicy.Witness>
    let problems: Told<String>

    init(_ logind: FakeLogind = .desktop) throws {
        self.logind = Mutex(logind)
        witnesses = try Told()
        problems = try Told()
    }

    var reports: LogindWatcher.Reports { .init(witness: witnesses.add, problem: problems.add) }

    /// logind comes to the bus.
    func come(to daemon: TestDaemon) throws {
        let peer = try TestPeer(daemon.address, name: Logind.name) { [weak self] call in
            self?.reply(call) ?? .silence
        }
        self.peer.withLock { $0 = peer }
    }

    func leave() {
        let leaving = peer.withLock { peer in
            let leaving = peer
            peer = nil
            return leaving
        }
        leaving?.stop()
    }

    /// Changes it and sends the signals of the change.
    func change(_ body: @Sendable (inout FakeLogind) -> [BusSignal]) {
        let signals = logind.withLock { body(&$0) }
        peer.withLock { peer in for signal in signals { peer?.send(PeerSignal(signal)) } }
    }

    func answer(all: Bool, but members: Set<String> = []) { unanswered.withLock { $0 = all ? [] : members } }

    func sendBeforeGetAll(_ signals: [BusSignal]) { beforeGetAll.withLock { $0 = signals } }

    private func reply(_ call: PeerCall) -> PeerReply {
        if unanswered.withLock({ $0.contains(call.member) }) { return .silence }
        guard let question = LogindQuestion(call) else {
            return .error("org.freedesktop.DBus.Error.UnknownMethod")
        }
        switch logind.withLock({ $0.answer(question) }) {
        case .failure(let error): return .error(error.name)
        case .success(let values):
            guard call.member == "GetAll" else { return .values(values) }
            let signals = beforeGetAll.withLock { signals in
                let taken = signals
                signals = []
                return taken
            }
            return .after(signals.map { PeerSignal($0) }, values)
        }
    }
}

extension PeerSignal {
    init(_ signal: BusSignal, to destination: String? = nil) {
        self.init(
            path: signal.path, interface: signal.interface, member: signal.member,
            arguments: signal.arguments,
            destination: destination)
    }
}

extension LogindQuestion {
    /// The question a call puts, as logind reads it.
    init?(_ call: PeerCall) {
        switch (call.interface, call.member, call.arguments) {
        case (Logind.manager, "GetSeat", [.string("seat0")]): self = .seat
        case (Logind.manager, "GetUser", _):
            guard let user = call.arguments.first?.number else { return nil }
            self = .ownUser(user)
        case (BusLink.properties, "Get", [.string(Logind.manager), .string("PreparingForSleep")]):
            self = .sleep
        case (BusLink.properties, "Get", [.string(Logind.seat), .string("ActiveSession")]):
            self = .activeSession(seat: call.path)
        case (BusLink.properties, "Get", [.string(Logind.user), .string("Sessions")]):
            self = .sessions(user: call.path)
        case (BusLink.properties, "GetAll", [.string(Logind.session)]): self = .session(call.path)
        default: return nil
        }
    }
}

@Suite("logind on a bus")
struct LogindWatcherTests {
    /// Ends what a test began, in order.
    private func watch(
        _ desk: Desk, _ place: BusPlace, limit: Duration = .seconds(30),
        users: LogindWatcher.Users = .init(configured: nil, own: 990)
    ) throws -> Bus {
        let bus = try Bus(place)
        let reports = desk.reports
        bus.add {
            LogindWatcher($0, users, limit: limit, pauses: ReconnectPauses([.milliseconds(5)]), reports)
        }
        try bus.start()
        return bus
    }

    @Test("what logind says is told at every change of the verdict, and only then")
    func follows() throws {
        let daemon = try TestDaemon()
        let desk = try Desk()
        try desk.come(to: daemon)
        defer { desk.leave() }
        let bus = try watch(desk, daemon.place)
        defer { bus.stop() }
        try desk.witnesses.wait(for: 1)
        desk.change { $0.set(["LockedHint": .bool(true)], of: "c1") }
        try desk.witnesses.wait(for: 2)
        desk.change { $0.lock("c1") }
        desk.change { $0.set(["LockedHint": .bool(false)], of: "c1") }
        try desk.witnesses.wait(for: 3)
        desk.change { $0.set(["IdleHint": .bool(true)], of: "c1") }
        desk.change { $0.lock("c1") }
        try desk.witnesses.wait(for: 4)
        desk.change { $0.unlock("c1") }
        try desk.witnesses.wait(for: 5)
        desk.change { $0.sleep(true) }
        try desk.witnesses.wait(for: 6)
        desk.change { $0.sleep(false) }
        try desk.witnesses.wait(for: 7)
        desk.change { $0.add("c2", .init(user: 1001, type: "tty")) }
        desk.change { $0.activate("c2") }
        // Locked while it is read.
        try desk.witnesses.wait(for: 9)
        desk.change { $0.activate("c1") }
        let wanted: [LockPolicy.Witness] = [
            .unlocked, .locked, .unlocked, .locked, .unlocked, .locked, .unlocked, .locked, .silent, .locked,
            .unlocked,
        ]
        #expect(try desk.witnesses.wait(for: wanted.count) == wanted)
        #expect(desk.problems.all.isEmpty)
    }

    @Test("logind comes, goes, and comes again as another")
    func comesAndGoes() throws {
        let daemon = try TestDaemon()
        let desk = try Desk()
        let bus = try watch(desk, daemon.place)
        defer { bus.stop() }
        try desk.come(to: daemon)
        #expect(try desk.witnesses.wait(for: 1) == [.unlocked])
        desk.leave()
        #expect(try desk.witnesses.wait(for: 2).last == .silent)
        desk.change { $0.set(["LockedHint": .bool(true)], of: "c1") }
        try desk.come(to: daemon)
        #expect(try desk.witnesses.wait(for: 3).last == .locked)
        desk.change { $0.set(["LockedHint": .bool(false)], of: "c1") }
        #expect(try desk.witnesses.wait(for: 4).last == .unlocked)
        desk.leave()
        #expect(try desk.witnesses.wait(for: 5).last == .silent)
    }

    @Test("a bus that dies makes logind silent, and it is read from the start when both are back")
    func busDies() throws {
        let daemon = try TestDaemon()
        let desk = try Desk()
        try desk.come(to: daemon)
        let bus = try watch(desk, daemon.place)
        defer { bus.stop() }
        try desk.witnesses.wait(for: 1)
        desk.change { $0.lock("c1") }
        try desk.witnesses.wait(for: 2)
        daemon.stop()
        #expect(try desk.witnesses.wait(for: 3).last == .silent)
        desk.leave()
        try daemon.start()
        try desk.come(to: daemon)
        defer { desk.leave() }
        #expect(try desk.witnesses.wait(for: 4) == [.unlocked, .locked, .silent, .unlocked])
    }

    @Test(
        "a logind that does not answer is locked, said once, and asked again",
        arguments: ["Get", "GetAll", "GetSeat"])
    func silentLogind(_ member: String) throws {
        let daemon = try TestDaemon()
        let desk = try Desk()
        desk.answer(all: false, but: [member])
        try desk.come(to: daemon)
        defer { desk.leave() }
        let bus = try watch(desk, daemon.place, limit: .milliseconds(100))
        defer { bus.stop() }
        #expect(try desk.witnesses.wait(for: 1) == [.locked])
        #expect(try desk.problems.wait(for: 1)[0].contains(member))
        desk.answer(all: true)
        #expect(try desk.witnesses.wait(for: 2) == [.locked, .unlocked])
        #expect(desk.problems.all.count == 1)
    }

    @Test("Lock, sent while the session is read, counts")
    func lockDuringRead() throws {
        let daemon = try TestDaemon()
        let desk = try Desk()
        var told = FakeLogind.desktop
        desk.sendBeforeGetAll(told.lock("c1"))
        try desk.come(to: daemon)
        defer { desk.leave() }
        let bus = try watch(desk, daemon.place)
        defer { bus.stop() }
        #expect(try desk.witnesses.wait(for: 1) == [.locked])
        desk.change { $0.unlock("c1") }
        #expect(try desk.witnesses.wait(for: 2) == [.locked, .unlocked])
    }

    @Test("a signal of another process, however much it looks like logind's, unlocks nothing")
    func forged() throws {
        let daemon = try TestDaemon()
        let desk = try Desk()
        try desk.come(to: daemon)
        let forger = try TestPeer(daemon.address)
        defer { desk.leave(); forger.stop() }
        let bus = try watch(desk, daemon.place)
        defer { bus.stop() }
        let told = try Told<String>()
        bus.add { link in
            Probe(link) { probe in
                let done = BusMatch(sender: forger.uniqueName, place: .at("/done"))
                let own = probe.link.ownName
                probe.kept.append(
                    probe.link.listen(done, installed: { _ in told.add(own) }) { _ in told.add("forged") })
            }
        }
        let own = try told.wait(for: 1)[0]
        try desk.witnesses.wait(for: 1)
        desk.change { $0.set(["LockedHint": .bool(true)], of: "c1") + $0.lock("c1") }
        try desk.witnesses.wait(for: 2)
        var wish = FakeLogind.desktop
        let lies =
            wish.set(["LockedHint": .bool(false)], of: "c1") + wish.unlock("c1") + wish.setSeat(false)
            + wish.sleep(false) + wish.activate("c1")
        for lie in lies { forger.send(PeerSignal(lie, to: own)) }
        for lie in lies { forger.send(PeerSignal(lie)) }
        forger.send(PeerSignal(path: "/done", interface: "org.example", member: "Done"))
        try told.wait { $0.last == "forged" }
        // What it says next is what logind says.
        desk.change { $0.setSeat(false) }
        #expect(try desk.witnesses.wait(for: 3) == [.unlocked, .locked, .silent])
    }

    @Test("whose desktop it is")
    func users() throws {
        let daemon = try TestDaemon()
        for (users, want) in [
            (LogindWatcher.Users(configured: 1001, own: 1000), LockPolicy.Witness.locked),
            (.init(configured: 1000, own: 0), .unlocked), (.init(configured: nil, own: 1000), .unlocked),
        ] {
            let desk = try Desk()
            try desk.come(to: daemon)
            let bus = try watch(desk, daemon.place, users: users)
            #expect(try desk.witnesses.wait(for: 1) == [want])
            bus.stop()
            desk.leave()
        }
    }
}
