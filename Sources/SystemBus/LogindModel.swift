// SPDX-License-Identifier: Apache-2.0

internal import Policy

/// What is known of logind, from its answers and signals in the order they arrived. Pure, so that every race is a test.
///
/// logind sends answers and signals in the order things happened, and its signals were asked for before anything else.
/// So what a signal says is newer than any answer that was still on its way when it came: that answer is dropped, and
/// where the signal does not say it all, the question is asked again. What is being read again counts as unreadable,
/// so that no verdict is ever laxer than what logind has said.
struct LogindModel {
    /// One thing to know.
    enum Part<Value: Equatable & Sendable>: Equatable, Sendable {
        /// Asked for.
        case unread
        /// An error, no answer in time, or not what it should be.
        case failed
        case known(Value)

        var value: Value? { if case .known(let value) = self { value } else { nil } }
    }

    /// A question with its number, which its answer must come with.
    struct Asked: Equatable, Sendable {
        let question: LogindQuestion
        let number: Int
    }

    let configuredUser: UInt32?
    let ownUser: UInt32

    private var signals = Part<Bool>.unread
    var sleep = Part<Bool>.unread
    /// The path of `seat0`; nil: there is none.
    var seat = Part<String?>.unread
    /// The path of the session it shows; nil: it shows none.
    var activeSession = Part<String?>.unread
    /// Which session ``session`` is about.
    var sessionPath: String?
    var session = Part<LogindFacts.Session>.unread
    /// The path of the user this service runs as; nil: logind knows no such user, so it has no session.
    var ownUserPath = Part<String?>.unread
    var ownUserHasSession = Part<Bool>.unread
    /// Sessions that were told to lock, active or not: one entry at most for each session that logind has.
    var toldToLock: Set<String> = []

    /// Whether all was read once. Before, logind is silent (03 §13).
    private var isWhole = false
    private var pending: [LogindQuestion: Int] = [:]
    private var outbox: [Asked] = []
    private var lastNumber = 0

    /// `configuredUser` is `--desktop-user`; `ownUser` is who the service runs as.
    init(configuredUser: UInt32?, ownUser: UInt32) {
        self.configuredUser = configuredUser
        self.ownUser = ownUser
    }

    // MARK: What it comes to

    /// As the rule takes it.
    var facts: LogindFacts {
        var facts = LogindFacts()
        facts.hasSeat = isWhole && seat != .known(nil)
        facts.isUnreadable = needed.contains { $0 != .known }
        facts.isPreparingForSleep = sleep.value ?? false
        if activeSession.value != .some(nil), let path = sessionPath, var session = session.value {
            session.isLockSignalled = toldToLock.contains(path)
            facts.session = session
        }
        // Not known is not none: the careful value.
        facts.desktopUser = LogindPolicy.desktopUser(
            configured: configuredUser, own: ownUser, ownHasSession: ownUserHasSession.value ?? true)
        return facts
    }

    /// Whether an answer is missing.
    var isReading: Bool { !pending.isEmpty }

    /// Whether something could not be read, so that it is to be read again after a while.
    var hasFailed: Bool { needed.contains(.failed) || ownUser(.failed) }

    private enum Standing { case known, unread, failed }

    private func standing<Value>(_ part: Part<Value>) -> Standing {
        switch part {
        case .unread: .unread
        case .failed: .failed
        case .known: .known
        }
    }

    /// How it stands with each part that the verdict needs. Whether the own user has a session is not among them while
    /// it is unread: ``facts`` has a careful value for that, so that no login of somebody else locks for a moment.
    private var needed: [Standing] {
        var needed = [standing(signals), standing(sleep), standing(seat)]
        if seat.value != .some(nil) { needed.append(standing(activeSession)) }
        if activeSession.value != .some(nil) { needed.append(standing(session)) }
        if ownUser(.failed) { needed.append(.failed) }
        return needed
    }

    private func ownUser(_ standing: Standing) -> Bool {
        configuredUser == nil && self.standing(ownUserHasSession) == standing
    }

    // MARK: Reading

    /// logind is there: reads all of it, from the start.
    mutating func begin() {
        end()
        readAll()
    }

    /// logind is not there, or cannot be heard: nothing is known.
    mutating func end() {
        self = LogindModel(configuredUser: configuredUser, ownUser: ownUser, after: lastNumber)
    }

    /// The bus does not say whether logind is there.
    mutating func ownerUnreadable() {
        end()
        isWhole = true
        signals = .failed
    }

    /// Reads all again after a failure. What was signalled stays, and until all is read it is locked.
    mutating func readAll() {
        ask(.signals)
        // While signals come, they say more than the property: it goes back before the machine sleeps.
        if signals.value == nil || sleep.value == nil {
            sleep = .unread
            ask(.sleep)
        }
        signals = .unread
        seat = .unread
        activeSession = .unread
        forgetSession()
        ask(.seat)
        if configuredUser == nil {
            askOwnUser()
            ownUserPath = .unread
            ownUserHasSession = .unread
        }
    }

    private init(configuredUser: UInt32?, ownUser: UInt32, after lastNumber: Int) {
        self.init(configuredUser: configuredUser, ownUser: ownUser)
        // An answer from before never looks like one to a question of now.
        self.lastNumber = lastNumber
    }

    /// The questions to put now.
    mutating func takeQuestions() -> [Asked] {
        let taken = outbox.filter { pending[$0.question] == $0.number }
        outbox = []
        return taken
    }

    mutating func ask(_ question: LogindQuestion) {
        lastNumber += 1
        pending[question] = lastNumber
        outbox.append(Asked(question: question, number: lastNumber))
    }

    /// The answer that may still come is not wanted any more.
    mutating func withdraw(_ question: LogindQuestion) { pending[question] = nil }

    /// Takes an answer.
    mutating func answered(_ asked: Asked, _ answer: BusAnswer) {
        guard pending[asked.question] == asked.number else { return }
        pending[asked.question] = nil
        let values = (try? answer.get()) ?? []
        let value = values.count == 1 ? values[0] : nil
        switch asked.question {
        case .signals:
            if case .success = answer { signals = .known(true) } else { signals = .failed }
        case .sleep: sleep = value?.held?.flag.map(Part.known) ?? .failed
        case .seat: seatAnswered(value?.path, answer)
        case .activeSession: setActiveSession(Self.activeSession(value?.held))
        case .session(let path):
            if path == sessionPath { session = Self.session(value?.properties) }
        case .ownUser: ownUserAnswered(value?.path, answer)
        case .sessions:
            ownUserHasSession = value?.held?.elements.map { .known(!$0.isEmpty) } ?? .failed
        }
        settle()
    }

    /// The first reading is over when each part is known or has failed.
    mutating func settle() {
        if !needed.contains(.unread), !ownUser(.unread) { isWhole = true }
    }

    private mutating func seatAnswered(_ path: String?, _ answer: BusAnswer) {
        if case .failure(let error) = answer, error.name == "org.freedesktop.login1.NoSuchSeat" {
            seat = .known(nil)
        } else if let path {
            setSeat(path)
        } else {
            seat = .failed
            activeSession = .failed
            session = .failed
        }
    }

    private mutating func ownUserAnswered(_ path: String?, _ answer: BusAnswer) {
        if case .failure(let error) = answer, error.name == "org.freedesktop.login1.NoSuchUser" {
            ownUserPath = .known(nil)
            ownUserHasSession = .known(false)
        } else if let path {
            ownUserPath = .known(path)
            ask(.sessions(user: path))
        } else {
            ownUserPath = .failed
            ownUserHasSession = .failed
        }
    }

    // MARK: Steps that answers and signals share

    mutating func setSeat(_ path: String) {
        withdraw(.seat)
        seat = .known(path)
        askActiveSession()
    }

    mutating func askActiveSession() {
        guard case .known(let path?) = seat else { return }
        activeSession = .unread
        ask(.activeSession(seat: path))
    }

    mutating func setActiveSession(_ part: Part<String?>) {
        if let path = seat.value ?? nil { withdraw(.activeSession(seat: path)) }
        activeSession = part
        guard let path = part.value ?? nil else {
            forgetSession()
            // Of a session that is not known nothing can be known.
            if part == .failed { session = .failed }
            return
        }
        if path == sessionPath, session.value != nil { return }
        forgetSession()
        sessionPath = path
        ask(.session(path))
    }

    mutating func forgetSession() {
        if let sessionPath { withdraw(.session(sessionPath)) }
        sessionPath = nil
        session = .unread
    }

    mutating func askSession() {
        guard let sessionPath else { return }
        session = .unread
        ask(.session(sessionPath))
    }

    mutating func askOwnUser() {
        if let path = ownUserPath.value ?? nil { withdraw(.sessions(user: path)) }
        ask(.ownUser(ownUser))
    }

    /// The value of a seat's `ActiveSession`: ID and path, an empty ID for none.
    static func activeSession(_ value: BusValue?) -> Part<String?> {
        guard let members = value?.members, members.count == 2, let id = members[0].text,
            let path = members[1].path
        else { return .failed }
        return .known(id.isEmpty ? nil : path)
    }

    /// The properties of a session.
    static func session(_ properties: [String: BusValue]?) -> Part<LogindFacts.Session> {
        guard let properties, let sessionClass = properties["Class"]?.text,
            let user = user(properties["User"]),
            let type = properties["Type"]?.text
        else { return .failed }
        return .known(
            LogindFacts.Session(
                sessionClass: sessionClass, user: user, type: type, lockedHint: properties["LockedHint"]?.flag
            ))
    }

    /// The value of a session's `User`: UID and path.
    static func user(_ value: BusValue?) -> UInt32? {
        guard let members = value?.members, members.count == 2 else { return nil }
        return members[0].number
    }
}
