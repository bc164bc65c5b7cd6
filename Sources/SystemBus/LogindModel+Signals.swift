// SPDX-License-Identifier: Apache-2.0

internal import Policy

/// What logind says unasked.
extension LogindModel {
    /// Takes a signal that logind sent.
    mutating func heard(_ signal: BusSignal) {
        switch signal.interface {
        case Logind.manager where signal.path == Logind.path: managerSays(signal.member, signal.arguments)
        case Logind.session: sessionSays(signal.member, signal.path)
        case BusLink.properties where signal.member == "PropertiesChanged": changed(signal)
        default: return
        }
        settle()
    }

    private mutating func managerSays(_ member: String, _ arguments: [BusValue]) {
        let path = arguments.count == 2 ? arguments[1].path : nil
        switch member {
        case "PrepareForSleep":
            // The property goes back before the machine sleeps: no answer overrules this.
            withdraw(.sleep)
            sleep = arguments.count == 1 ? arguments[0].flag.map(Part.known) ?? .failed : .failed
        case "SeatNew":
            if arguments.first?.text == Logind.mainSeat, let path { setSeat(path) }
        case "SeatRemoved":
            if arguments.first?.text == Logind.mainSeat {
                withdraw(.seat)
                seat = .known(nil)
            }
        case "SessionNew": sessionsChanged(isMore: true)
        case "SessionRemoved":
            if let path { sessionRemoved(path) }
            sessionsChanged(isMore: false)
        case "UserNew": if arguments.first?.number == ownUser { ownUserCame() }
        case "UserRemoved": if arguments.first?.number == ownUser { sessionsChanged(isMore: false) }
        default: break
        }
    }

    private mutating func sessionSays(_ member: String, _ path: String) {
        switch member {
        case "Lock": toldToLock.insert(path)
        case "Unlock": toldToLock.remove(path)
        default: break
        }
    }

    private mutating func sessionRemoved(_ path: String) {
        toldToLock.remove(path)
        guard path == sessionPath else { return }
        forgetSession()
        askActiveSession()
    }

    // MARK: The user this service runs as

    private mutating func ownUserCame() {
        guard configuredUser == nil else { return }
        ownUserPath = .unread
        ownUserHasSession = .unread
        askOwnUser()
    }

    /// Somebody logged in or out. What is known stays while it is asked again, unless it could be laxer than the truth:
    /// a new session may be the own user's only when logind knows that user, and it tells of a new user first.
    private mutating func sessionsChanged(isMore: Bool) {
        guard configuredUser == nil else { return }
        if isMore, ownUserPath != .known(nil) { ownUserHasSession = .unread }
        askOwnUser()
    }

    // MARK: Properties

    private mutating func changed(_ signal: BusSignal) {
        let change = PropertyChange(signal.arguments)
        if change == nil || change?.interface == Logind.seat, signal.path == seat.value ?? nil {
            seatChanged(change)
        }
        if change == nil || change?.interface == Logind.session { sessionChanged(signal.path, change) }
    }

    /// nil: it does not say what changed.
    private mutating func seatChanged(_ change: PropertyChange?) {
        if let value = change?.values["ActiveSession"] {
            setActiveSession(Self.activeSession(value))
        } else if change?.invalidated.contains("ActiveSession") ?? true {
            askActiveSession()
        }
    }

    /// nil: it does not say what changed.
    private mutating func sessionChanged(_ path: String, _ change: PropertyChange?) {
        if change?.values["LockedHint"]?.flag == false { toldToLock.remove(path) }
        guard path == sessionPath else { return }
        // It is about to leave the screen; which one comes is not said yet.
        if change?.values["Active"]?.flag == false { askActiveSession() }
        guard let change, let known = session.value,
            change.invalidated.isDisjoint(with: Self.sessionProperties)
        else { return askSession() }
        session = Self.applying(change.values, to: known)
    }

    private static let sessionProperties: Set = ["Class", "User", "Type", "LockedHint"]

    private static func applying(
        _ values: [String: BusValue], to known: LogindFacts.Session
    ) -> Part<LogindFacts.Session> {
        var session = known
        if let value = values["LockedHint"] { session.lockedHint = value.flag }
        if let value = values["Class"] {
            guard let text = value.text else { return .failed }
            session.sessionClass = text
        }
        if let value = values["Type"] {
            guard let text = value.text else { return .failed }
            session.type = text
        }
        if let value = values["User"] {
            guard let user = user(value) else { return .failed }
            session.user = user
        }
        return .known(session)
    }
}

/// What `PropertiesChanged` says.
private struct PropertyChange: Equatable {
    let interface: String
    let values: [String: BusValue]
    /// Changed as well, to what is not said.
    let invalidated: Set<String>

    init?(_ arguments: [BusValue]) {
        guard arguments.count == 3, let interface = arguments[0].text, let values = arguments[1].properties,
            case .array("s", let names) = arguments[2]
        else { return nil }
        self.interface = interface
        self.values = values
        invalidated = Set(names.compactMap(\.text))
    }
}
