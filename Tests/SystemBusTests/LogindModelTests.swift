// SPDX-License-Identifier: Apache-2.0

import Policy
import Testing

@testable import SystemBus

/// A model and a logind that are put in touch by hand: a question is answered from logind's state of the moment, and
/// the answer delivered when the test wants it.
private struct Talk {
    var logind: FakeLogind
    var model: LogindModel
    var waiting: [LogindModel.Asked] = []

    init(_ logind: FakeLogind = .desktop, configured: UInt32? = nil, own: UInt32 = 990) {
        self.logind = logind
        model = LogindModel(configuredUser: configured, ownUser: own)
        model.begin()
        waiting = model.takeQuestions()
    }

    /// Everything asked was answered.
    static func settled(
        _ logind: FakeLogind = .desktop, configured: UInt32? = nil, own: UInt32 = 990
    ) -> Talk {
        var talk = Talk(logind, configured: configured, own: own)
        talk.answerAll()
        return talk
    }

    var says: LockPolicy.Witness { LogindPolicy.judge(model.facts) }

    /// What is asked and not answered.
    var questions: [LogindQuestion] { waiting.map(\.question) }

    mutating func hear(_ signals: [BusSignal]) { for signal in signals { hear(signal) } }

    mutating func hear(_ signal: BusSignal) {
        model.heard(signal)
        waiting += model.takeQuestions()
    }

    /// logind looks at the oldest question; what it answers is not delivered yet.
    mutating func look() -> (LogindModel.Asked, BusAnswer) {
        let asked = waiting.removeFirst()
        return (asked, logind.answer(asked.question))
    }

    mutating func deliver(_ answer: (LogindModel.Asked, BusAnswer)) {
        model.answered(answer.0, answer.1)
        waiting += model.takeQuestions()
    }

    mutating func answerAll() { while !waiting.isEmpty { deliver(look()) } }

    /// Answers all but the last question, and gives that.
    mutating func lastLook(_ question: LogindQuestion) -> (LogindModel.Asked, BusAnswer) {
        while waiting.first?.question != question, !waiting.isEmpty { deliver(look()) }
        return look()
    }

    mutating func fail(_ question: LogindQuestion, _ answer: BusAnswer = Talk.timeOut) {
        while let asked = waiting.first {
            if asked.question == question {
                waiting.removeFirst()
                deliver((asked, answer))
            } else {
                deliver(look())
            }
        }
    }

    static let timeOut = BusAnswer.failure(BusError(.unanswered, "no answer"))
}

@Suite("logind, read and followed")
struct LogindModelTests {
    static let c1 = FakeLogind.path(session: "c1")
    static let seat = FakeLogind.seatPath

    // MARK: Reading from the start

    @Test("silent until all is read, then what is found")
    func firstReading() {
        var talk = Talk()
        #expect(talk.questions == [.signals, .sleep, .seat, .ownUser(990)])
        while !talk.waiting.isEmpty {
            #expect(talk.says == .silent)
            talk.deliver(talk.look())
        }
        #expect(talk.says == .unlocked && !talk.model.isReading && !talk.model.hasFailed)
        #expect(Talk(configured: 1000).questions == [.signals, .sleep, .seat])
    }

    @Test("no seat0 is silent, whatever else")
    func noSeat() {
        var logind = FakeLogind.desktop
        logind.hasSeat = false
        logind.isSleepSignalled = true
        #expect(Talk.settled(logind).says == .silent)
    }

    @Test("each answer that does not come, or is no answer, is locked", arguments: [Talk.timeOut] + nonsense)
    func unreadable(_ answer: BusAnswer) {
        let questions: [LogindQuestion] = [
            .signals, .sleep, .seat, .activeSession(seat: Self.seat), .session(Self.c1), .ownUser(1000),
            .sessions(user: FakeLogind.path(user: 1000)),
        ]
        for question in questions {
            if question == .signals, case .success = answer { continue }
            var talk = Talk(own: 1000)
            talk.fail(question, answer)
            #expect(talk.says == .locked, "\(question)")
            #expect(talk.model.hasFailed && !talk.model.isReading)
            // And it is read again until it can be.
            talk.model.readAll()
            talk.waiting = talk.model.takeQuestions()
            #expect(talk.says == .locked)
            talk.answerAll()
            #expect(talk.says == .unlocked && !talk.model.hasFailed, "\(question)")
        }
    }

    static let nonsense: [BusAnswer] = [
        .success([]), .success([.bool(false)]), .success([.string("c1")]),
        .success([.variant(.string("no"))]),
        .success([.variant(.bool(false)), .variant(.bool(false))].reversed() + [.byte(0)]),
        .success([.variant(.structure([]))]),
        .success([.variant(.structure([.string("c1"), .string("/c1")]))]),
        .success([.array(of: "{sv}", [])]), .success([.strings(["Class"])]),
        .failure(BusError(.refused, name: "org.freedesktop.DBus.Error.AccessDenied", "no")),
        .failure(BusError(.unreadable, "rubbish")),
    ]

    struct Shape: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let name: String
        let value: BusValue?
        let want: LockPolicy.Witness
    }

    @Test(
        "properties of another type, or missing",
        arguments: [
            Shape(testDescription: "hint missing", name: "LockedHint", value: nil, want: .locked),
            Shape(
                testDescription: "hint a string", name: "LockedHint", value: .string("false"), want: .locked),
            Shape(testDescription: "hint a number", name: "LockedHint", value: .uint32(0), want: .locked),
            Shape(
                testDescription: "hint twice wrapped", name: "LockedHint", value: .variant(.bool(false)),
                want: .locked),
            Shape(testDescription: "class missing", name: "Class", value: nil, want: .locked),
            Shape(testDescription: "class a number", name: "Class", value: .uint32(1), want: .locked),
            Shape(testDescription: "type missing", name: "Type", value: nil, want: .locked),
            Shape(testDescription: "type a path", name: "Type", value: .objectPath("/tty"), want: .locked),
            Shape(testDescription: "user missing", name: "User", value: nil, want: .locked),
            Shape(testDescription: "user a bare number", name: "User", value: .uint32(1000), want: .locked),
            Shape(
                testDescription: "user signed", name: "User",
                value: .structure([.int32(1000), .objectPath("/u")]), want: .locked),
            Shape(testDescription: "a console", name: "Type", value: .string("tty"), want: .silent),
            Shape(testDescription: "something else missing", name: "VTNr", value: nil, want: .unlocked),
        ])
    func shapes(_ row: Shape) {
        var logind = FakeLogind.desktop
        logind.sessions["c1"]?.properties[row.name] = row.value
        #expect(Talk.settled(logind).says == row.want)
        // The same by a change; what is merely not mentioned does not change.
        guard let value = row.value else { return }
        var talk = Talk.settled()
        talk.hear(talk.logind.set([row.name: value], of: "c1"))
        #expect(talk.says == row.want)
    }

    @Test("no session in front, and what stands for none")
    func nobody() {
        var logind = FakeLogind.desktop
        logind.active = nil
        #expect(Talk.settled(logind).says == .locked)
        var talk = Talk.settled()
        talk.hear(talk.logind.activate(nil))
        #expect(talk.says == .locked)
        talk.answerAll()
        #expect(talk.says == .locked)
        #expect(LogindModel.activeSession(.structure([.string(""), .objectPath("/c1")])) == .known(nil))
        #expect(LogindModel.activeSession(.structure([.string("c1"), .objectPath("/c1")])) == .known("/c1"))
        #expect(LogindModel.activeSession(.structure([.objectPath("/c1")])) == .failed)
    }

    // MARK: Following

    @Test("the hint and other properties are taken as they are said, without asking")
    func properties() {
        var talk = Talk.settled()
        let steps: [([String: BusValue], LockPolicy.Witness)] = [
            (["LockedHint": .bool(true)], .locked), (["LockedHint": .bool(false)], .unlocked),
            (["Type": .string("tty")], .silent), (["Type": .string("x11")], .unlocked),
            (["Class": .string("lock-screen")], .locked),
            (["Class": .string("user"), "IdleHint": .bool(true)], .unlocked),
            (["LockedHint": .bool(true), "Type": .string("tty")], .silent),
        ]
        for (values, want) in steps {
            talk.hear(talk.logind.set(values, of: "c1"))
            #expect(talk.says == want && talk.waiting.isEmpty, "\(values)")
        }
        // Another session's do not matter, nor another interface's.
        talk = .settled()
        talk.hear(
            FakeLogind.changed(FakeLogind.path(session: "c9"), Logind.session, ["LockedHint": .bool(true)]))
        talk.hear(FakeLogind.changed(Self.c1, "org.example", ["LockedHint": .bool(true)]))
        #expect(talk.says == .unlocked && talk.waiting.isEmpty)
    }

    @Test(
        "what is only named is locked until it is read", arguments: ["LockedHint", "Class", "Type", "User"])
    func invalidated(_ name: String) {
        var talk = Talk.settled()
        talk.hear(FakeLogind.changed(Self.c1, Logind.session, [:], invalidated: [name]))
        #expect(talk.says == .locked && talk.questions == [.session(Self.c1)])
        talk.answerAll()
        #expect(talk.says == .unlocked)
    }

    @Test("a change that does not say what changed is read again")
    func malformedChange() {
        let arguments: [[BusValue]] = [
            [], [.string(Logind.session)], [.string(Logind.session), .bool(true), .strings([])],
            [.string(Logind.session), .array(of: "{sv}", []), .bool(true)],
            [.byte(1), .array(of: "{sv}", []), .strings([])],
        ]
        for arguments in arguments {
            for (path, question) in [
                (Self.c1, LogindQuestion.session(Self.c1)), (Self.seat, .activeSession(seat: Self.seat)),
            ] {
                var talk = Talk.settled()
                talk.hear(FakeLogind.signal(at: path, BusLink.properties, "PropertiesChanged", arguments))
                #expect(talk.says == .locked && talk.questions == [question])
                talk.answerAll()
                #expect(talk.says == .unlocked)
            }
        }
    }

    @Test("Lock locks until Unlock, or until the hint changes to false; Unlock does not overrule the hint")
    func lockSignals() {
        var talk = Talk.settled()
        talk.hear(talk.logind.lock("c1"))
        #expect(talk.says == .locked)
        talk.hear(talk.logind.unlock("c1"))
        #expect(talk.says == .unlocked)

        talk.hear(talk.logind.lock("c1"))
        talk.hear(talk.logind.set(["LockedHint": .bool(true)], of: "c1"))
        talk.hear(talk.logind.unlock("c1"))
        #expect(talk.says == .locked)
        talk.hear(talk.logind.set(["LockedHint": .bool(false)], of: "c1"))
        #expect(talk.says == .unlocked)

        talk.hear(talk.logind.lock("c1"))
        talk.hear(talk.logind.set(["LockedHint": .bool(true)], of: "c1"))
        #expect(talk.says == .locked)
        talk.hear(talk.logind.set(["LockedHint": .bool(false)], of: "c1"))
        #expect(talk.says == .unlocked)
        #expect(talk.waiting.isEmpty)
    }

    @Test("Lock of a session that is not in front counts when it comes to the front")
    func lockOfAnother() {
        var talk = Talk.settled()
        talk.hear(talk.logind.add("c2", .init(user: 1000)))
        talk.answerAll()
        talk.hear(talk.logind.lock("c2"))
        #expect(talk.says == .unlocked)
        talk.hear(talk.logind.activate("c2"))
        talk.answerAll()
        #expect(talk.says == .locked)
        talk.hear(talk.logind.unlock("c2"))
        #expect(talk.says == .unlocked)
        // Gone with its session: another of the same path was not told.
        talk.hear(talk.logind.lock("c2"))
        talk.hear(talk.logind.remove("c2"))
        talk.hear(talk.logind.add("c2", .init(user: 1000)))
        talk.hear(talk.logind.activate("c2"))
        talk.answerAll()
        #expect(talk.says == .unlocked)
    }

    @Test("another session in front is locked until it is read")
    func switching() {
        var talk = Talk.settled()
        talk.hear(talk.logind.add("c2", .init(user: 1001, sessionClass: "greeter")))
        talk.hear(talk.logind.add("c3", .init(user: 1001, type: "tty")))
        talk.answerAll()
        #expect(talk.says == .unlocked)
        for (id, want) in [
            ("c2", LockPolicy.Witness.locked), ("c3", .silent), ("c1", .unlocked), ("c2", .locked),
            ("c1", .unlocked),
        ] {
            for signal in talk.logind.activate(id) {
                talk.hear(signal)
                #expect(talk.says == .locked)
            }
            talk.answerAll()
            #expect(talk.says == want, "\(id)")
        }
    }

    @Test("a session that leaves the screen is not waited for to be replaced")
    func leaves() {
        var talk = Talk.settled()
        let signals = talk.logind.activate(nil)
        talk.hear(signals[0])
        #expect(talk.says == .locked && talk.questions == [.activeSession(seat: Self.seat)])
        talk.hear(Array(signals.dropFirst()))
        #expect(talk.says == .locked)
        talk.answerAll()
        #expect(talk.says == .locked)
        talk = .settled()
        talk.hear(FakeLogind.manager("SessionRemoved", .string("c1"), .objectPath(Self.c1)))
        #expect(talk.says == .locked && talk.questions.first == .activeSession(seat: Self.seat))
    }

    @Test("sleep locks until it is over, and an older answer does not overrule the signal")
    func sleep() {
        var talk = Talk.settled()
        talk.hear(talk.logind.sleep(true))
        #expect(talk.says == .locked && talk.waiting.isEmpty)
        talk.hear(talk.logind.sleep(false))
        #expect(talk.says == .unlocked)
        talk.hear(FakeLogind.manager("PrepareForSleep", .string("true")))
        #expect(talk.says == .locked && talk.model.hasFailed)

        // Begun in the middle of it.
        var logind = FakeLogind.desktop
        _ = logind.sleep(true, isDelayed: true)
        talk = .settled(logind)
        #expect(talk.says == .locked)
        // The property says no already, the signal was yes.
        talk = Talk()
        let answer = talk.lastLook(.sleep)
        talk.hear(talk.logind.sleep(true))
        talk.deliver(answer)
        talk.answerAll()
        #expect(talk.says == .locked)
        // Nor does one to a question after it, when something else has to be read again.
        talk.hear(FakeLogind.changed(Self.seat, Logind.seat, ["ActiveSession": .bool(true)]))
        #expect(talk.model.hasFailed)
        talk.model.readAll()
        talk.waiting = talk.model.takeQuestions()
        talk.answerAll()
        #expect(talk.says == .locked && !talk.model.hasFailed)
        talk.hear(talk.logind.sleep(false))
        #expect(talk.says == .unlocked)
    }

    @Test("the seat comes and goes; other seats do not matter")
    func seats() {
        var talk = Talk.settled()
        talk.hear(talk.logind.setSeat(false))
        #expect(talk.says == .silent)
        talk.hear(talk.logind.setSeat(true))
        #expect(talk.says == .locked)
        talk.answerAll()
        #expect(talk.says == .unlocked)
        talk.hear(FakeLogind.manager("SeatRemoved", .string("seat1"), .objectPath("/seat1")))
        talk.hear(FakeLogind.manager("SeatNew", .string("seat1"), .objectPath("/seat1")))
        #expect(talk.says == .unlocked && talk.waiting.isEmpty)
    }

    // MARK: Whose desktop

    @Test("the configured user, the service's own, or whoever is there")
    func users() {
        #expect(Talk.settled(configured: 1000).says == .unlocked)
        #expect(Talk.settled(configured: 1001).says == .locked)
        #expect(Talk.settled(own: 1000).says == .unlocked)
        #expect(Talk.settled(own: 1001).says == .unlocked)
        var logind = FakeLogind.desktop
        logind.sessions["c2"] = .init(user: 1001)
        #expect(Talk.settled(logind, own: 1001).says == .locked)
        #expect(Talk.settled(logind, configured: 1000, own: 1001).says == .unlocked)
        // A user without a session, who only lingers, has no desktop.
        logind = .desktop
        logind.lingering = [1001]
        #expect(Talk.settled(logind, own: 1001).says == .unlocked)
    }

    @Test("the service's own user logs in and out")
    func ownUser() {
        var talk = Talk.settled(own: 1001)
        for signal in talk.logind.add("c2", .init(user: 1001, type: "tty")) {
            talk.hear(signal)
            #expect(talk.says == .locked)
        }
        talk.answerAll()
        #expect(talk.says == .locked)
        for signal in talk.logind.remove("c2") { talk.hear(signal) }
        #expect(talk.says == .locked)
        talk.answerAll()
        #expect(talk.says == .unlocked)
        // One who lingers is known already, so any new session may be its.
        talk.logind.lingering = [1001]
        talk.hear(FakeLogind.manager("UserNew", .uint32(1001), .objectPath(FakeLogind.path(user: 1001))))
        talk.answerAll()
        #expect(talk.says == .unlocked)
        talk.hear(talk.logind.add("c2", .init(user: 1001, type: "tty")))
        #expect(talk.says == .locked)
        talk.answerAll()
        #expect(talk.says == .locked)
    }

    @Test("somebody else's login does not lock for a moment")
    func strangers() {
        var talk = Talk.settled()
        for id in ["s1", "s2", "s3"] {
            for signal in talk.logind.add(id, .init(user: 1500, type: "tty")) {
                talk.hear(signal)
                #expect(talk.says == .unlocked)
            }
            if id == "s2" { talk.answerAll() }
        }
        for id in ["s1", "s2", "s3"] {
            for signal in talk.logind.remove(id) {
                talk.hear(signal)
                #expect(talk.says == .unlocked)
            }
        }
        talk.answerAll()
        #expect(talk.says == .unlocked)
        // Nor when the desktop is the own user's.
        talk = .settled(own: 1000)
        talk.hear(talk.logind.add("s1", .init(user: 1500, type: "tty")))
        #expect(talk.says == .unlocked)
        // And with a configured user nobody's login is looked at.
        talk = .settled(configured: 1000)
        talk.hear(talk.logind.add("s1", .init(user: 990)) + talk.logind.remove("s1"))
        #expect(talk.says == .unlocked && talk.waiting.isEmpty)
    }

    // MARK: Races

    @Test("a property that changes while it is read: the older answer is dropped and asked again")
    func changeWhileReading() {
        var talk = Talk()
        let old = talk.lastLook(.session(Self.c1))
        talk.hear(talk.logind.set(["LockedHint": .bool(true)], of: "c1"))
        talk.deliver(old)
        #expect(talk.says != .unlocked && talk.questions == [.session(Self.c1)])
        talk.answerAll()
        #expect(talk.says == .locked)
    }

    @Test("Lock while the session is read counts, though the answer says nothing of it")
    func lockWhileReading() {
        var talk = Talk()
        let old = talk.lastLook(.session(Self.c1))
        talk.hear(talk.logind.lock("c1"))
        talk.deliver(old)
        talk.answerAll()
        #expect(talk.says == .locked)
        talk.hear(talk.logind.unlock("c1"))
        #expect(talk.says == .unlocked)
    }

    @Test("Lock before anything is known of the session counts")
    func lockFirst() {
        var talk = Talk()
        talk.deliver(talk.look())
        talk.hear(talk.logind.lock("c1"))
        talk.answerAll()
        #expect(talk.says == .locked)
    }

    @Test("another session comes to the front while the first is read")
    func switchWhileReading() {
        var talk = Talk()
        talk.logind.sessions["c2"] = .init(user: 42, sessionClass: "greeter")
        let old = talk.lastLook(.session(Self.c1))
        talk.hear(talk.logind.activate("c2"))
        talk.deliver(old)
        #expect(talk.says != .unlocked)
        talk.answerAll()
        #expect(talk.says == .locked)
    }

    @Test("the seat's answer is older than its signal")
    func seatAnswerIsOld() {
        var talk = Talk()
        talk.logind.sessions["c2"] = .init(user: 42, sessionClass: "greeter")
        let old = talk.lastLook(.activeSession(seat: Self.seat))
        talk.hear(talk.logind.activate("c2"))
        talk.deliver(old)
        talk.answerAll()
        #expect(talk.says == .locked)
    }

    @Test("back and forth while reading, each answer late")
    func backAndForth() {
        var talk = Talk.settled()
        talk.logind.sessions["c2"] = .init(user: 42, sessionClass: "greeter")
        talk.hear(talk.logind.activate("c2"))
        let greeter = talk.look()
        talk.hear(talk.logind.activate("c1"))
        talk.hear(talk.logind.set(["LockedHint": .bool(true)], of: "c1"))
        talk.deliver(greeter)
        #expect(talk.says == .locked)
        talk.answerAll()
        #expect(talk.says == .locked)
        talk.hear(talk.logind.set(["LockedHint": .bool(false)], of: "c1"))
        #expect(talk.says == .unlocked)
    }

    @Test("the own user's login while its absence is on its way")
    func ownUserWhileReading() {
        var talk = Talk(own: 1001)
        let old = talk.lastLook(.ownUser(1001))
        talk.hear(talk.logind.add("c2", .init(user: 1001, type: "tty")))
        talk.deliver(old)
        talk.answerAll()
        #expect(talk.says == .locked)
    }

    @Test("an answer from before logind went away is not one to a question of now")
    func answerFromBefore() {
        var talk = Talk()
        let old = talk.lastLook(.session(Self.c1))
        talk.model.end()
        #expect(talk.says == .silent && !talk.model.isReading)
        talk.model.begin()
        talk.waiting = talk.model.takeQuestions()
        talk.logind.sessions["c1"]?.properties["LockedHint"] = .bool(true)
        talk.deliver(old)
        #expect(talk.says == .silent)
        talk.answerAll()
        #expect(talk.says == .locked)
    }

    @Test("what was signalled is kept when a failed reading begins again, and forgotten when logind goes")
    func keepsSignals() {
        var talk = Talk.settled()
        talk.hear(talk.logind.lock("c1"))
        talk.model.readAll()
        talk.waiting = talk.model.takeQuestions()
        talk.answerAll()
        #expect(talk.says == .locked)
        talk.model.begin()
        talk.waiting = talk.model.takeQuestions()
        talk.answerAll()
        #expect(talk.says == .unlocked)
    }

    @Test("a bus that does not say who logind is, is locked")
    func ownerUnreadable() {
        var model = LogindModel(configuredUser: nil, ownUser: 0)
        model.ownerUnreadable()
        #expect(LogindPolicy.judge(model.facts) == .locked && model.hasFailed && !model.isReading)
        model.end()
        #expect(LogindPolicy.judge(model.facts) == .silent)
    }

    @Test("signals that are not logind's words change nothing")
    func unknownSignals() {
        var talk = Talk.settled()
        talk.hear(FakeLogind.manager("PrepareForShutdown", .bool(true)))
        talk.hear(FakeLogind.manager("SeatNew", .bool(true)))
        talk.hear(FakeLogind.manager("SessionRemoved"))
        talk.hear(FakeLogind.signal(at: Self.c1, Logind.manager, "PrepareForSleep", [.bool(true)]))
        talk.hear(FakeLogind.signal(at: Self.c1, Logind.session, "PauseDevice", [.uint32(1)]))
        talk.hear(FakeLogind.signal(at: Self.c1, "org.example", "Lock"))
        #expect(talk.says == .unlocked)
    }
}
