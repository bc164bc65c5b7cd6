// SPDX-License-Identifier: Apache-2.0

import Policy

@testable import SystemBus

/// A logind as a value: its state, its answers, the signals of each change. Tests decide when what is delivered.
struct FakeLogind: Sendable {
    struct Session: Sendable, Equatable {
        var user: UInt32
        var properties: [String: BusValue]

        init(
            user: UInt32, sessionClass: String = "user", type: String = "wayland",
            hint: BusValue? = .bool(false)
        ) {
            self.user = user
            properties = [
                "Class": .string(sessionClass), "Type": .string(type), "Active": .bool(true),
                "User": .structure([.uint32(user), .objectPath(FakeLogind.path(user: user))]),
                // What logind has beside these changes nothing.
                "Id": .string("c1"), "VTNr": .uint32(2), "IdleHint": .bool(false),
            ]
            properties["LockedHint"] = hint
        }
    }

    static let seatPath = "/org/freedesktop/login1/seat/seat0"

    static func path(session id: String) -> String { "/org/freedesktop/login1/session/_3" + id }
    static func path(user: UInt32) -> String { "/org/freedesktop/login1/user/_\(user)" }

    var hasSeat = true
    /// By ID.
    var sessions: [String: Session] = [:]
    var active: String?
    /// What `PreparingForSleep` reads.
    var isPreparing = false
    /// What the last `PrepareForSleep` said.
    var isSleepSignalled = false
    /// Told to lock, by ID.
    var toldToLock: Set<String> = []
    /// Users who stay without a session.
    var lingering: Set<UInt32> = []

    /// One unlocked desktop of user 1000, `c1`.
    static var desktop: FakeLogind {
        var logind = FakeLogind()
        logind.sessions["c1"] = Session(user: 1000)
        logind.active = "c1"
        return logind
    }

    // MARK: What it answers

    func answer(_ question: LogindQuestion) -> BusAnswer {
        switch question {
        case .signals: return .success([])
        case .sleep: return .success([.variant(.bool(isPreparing))])
        case .seat: return hasSeat ? .success([.objectPath(Self.seatPath)]) : Self.refuse("NoSuchSeat")
        case .activeSession: return hasSeat ? .success([.variant(activeValue)]) : Self.refuse("NoSuchSeat")
        case .session(let path):
            guard let session = sessions.first(where: { Self.path(session: $0.key) == path })?.value else {
                return .failure(BusError(.refused, name: "org.freedesktop.DBus.Error.UnknownObject", "gone"))
            }
            let entries = session.properties.sorted { $0.key < $1.key }
                .map { BusValue.entry(.string($0.key), .variant($0.value)) }
            return .success([.array(of: "{sv}", entries)])
        case .ownUser(let user):
            return users.contains(user)
                ? .success([.objectPath(Self.path(user: user))]) : Self.refuse("NoSuchUser")
        case .sessions(let path):
            guard let user = users.first(where: { Self.path(user: $0) == path }) else {
                return .failure(BusError(.refused, name: "org.freedesktop.DBus.Error.UnknownObject", "gone"))
            }
            let own = sessions.filter { $0.value.user == user }
                .map { BusValue.structure([.string($0.key), .objectPath(Self.path(session: $0.key))]) }
            return .success([.variant(.array(of: "(so)", own))])
        }
    }

    var users: Set<UInt32> { lingering.union(sessions.values.map(\.user)) }

    private var activeValue: BusValue {
        .structure([.string(active ?? ""), .objectPath(active.map { Self.path(session: $0) } ?? "/")])
    }

    private static func refuse(_ name: String) -> BusAnswer {
        .failure(BusError(.refused, name: "org.freedesktop.login1." + name, "as the test says"))
    }

    // MARK: What is true of it

    func facts(configured: UInt32?, own: UInt32) -> LogindFacts {
        var facts = LogindFacts()
        facts.hasSeat = hasSeat
        facts.isPreparingForSleep = isSleepSignalled
        facts.desktopUser = LogindPolicy.desktopUser(
            configured: configured, own: own, ownHasSession: sessions.values.contains { $0.user == own })
        if let active, let session = sessions[active],
            case .known(var read) = LogindModel.session(session.properties)
        {
            read.isLockSignalled = toldToLock.contains(active)
            facts.session = read
        } else if active != nil {
            facts.isUnreadable = true
        }
        return facts
    }

    // MARK: What changes it; each returns its signals

    static func manager(_ member: String, _ arguments: BusValue...) -> BusSignal {
        signal(at: Logind.path, Logind.manager, member, arguments)
    }

    static func signal(
        at path: String, _ interface: String, _ member: String, _ arguments: [BusValue] = []
    ) -> BusSignal {
        BusSignal(sender: ":1.1", path: path, interface: interface, member: member, arguments: arguments)
    }

    static func changed(
        _ path: String, _ interface: String, _ values: [String: BusValue], invalidated: [String] = []
    ) -> BusSignal {
        let entries = values.sorted { $0.key < $1.key }.map {
            BusValue.entry(.string($0.key), .variant($0.value))
        }
        return signal(
            at: path, BusLink.properties, "PropertiesChanged",
            [.string(interface), .array(of: "{sv}", entries), .strings(invalidated)])
    }

    /// With the values, or, as D-Bus allows, only naming them.
    mutating func set(_ values: [String: BusValue], of id: String, bySaying saysValues: Bool = true)
        -> [BusSignal]
    {
        sessions[id]?.properties.merge(values) { $1 }
        if values["LockedHint"] == .bool(false), saysValues { toldToLock.remove(id) }
        return [
            Self.changed(
                Self.path(session: id), Logind.session, saysValues ? values : [:],
                invalidated: saysValues ? [] : values.keys.sorted())
        ]
    }

    mutating func lock(_ id: String) -> [BusSignal] {
        toldToLock.insert(id)
        return [Self.signal(at: Self.path(session: id), Logind.session, "Lock")]
    }

    mutating func unlock(_ id: String) -> [BusSignal] {
        toldToLock.remove(id)
        return [Self.signal(at: Self.path(session: id), Logind.session, "Unlock")]
    }

    /// In logind's order: the old one, the new one, the seat.
    mutating func activate(_ id: String?, bySaying saysValue: Bool = true) -> [BusSignal] {
        let old = active
        active = id
        var signals: [BusSignal] = []
        if let old, old != id { signals += set(["Active": .bool(false)], of: old) }
        if let id { signals += set(["Active": .bool(true)], of: id) }
        signals.append(
            Self.changed(
                Self.seatPath, Logind.seat, saysValue ? ["ActiveSession": activeValue] : [:],
                invalidated: saysValue ? ["CanTTY"] : ["ActiveSession"]))
        return signals
    }

    mutating func add(_ id: String, _ session: Session) -> [BusSignal] {
        let isNewUser = !users.contains(session.user)
        sessions[id] = session
        let new = Self.manager("SessionNew", .string(id), .objectPath(Self.path(session: id)))
        let user = Self.manager("UserNew", .uint32(session.user), .objectPath(Self.path(user: session.user)))
        return isNewUser ? [user, new] : [new]
    }

    mutating func remove(_ id: String) -> [BusSignal] {
        var signals = active == id ? activate(nil) : []
        guard let session = sessions.removeValue(forKey: id) else { return signals }
        toldToLock.remove(id)
        signals.append(Self.manager("SessionRemoved", .string(id), .objectPath(Self.path(session: id))))
        if !users.contains(session.user) {
            signals.append(
                Self.manager("UserRemoved", .uint32(session.user), .objectPath(Self.path(user: session.user)))
            )
        }
        return signals
    }

    /// `isDelayed`: somebody asked for a moment before the sleep, and only then the property says what the signal does.
    mutating func sleep(_ starts: Bool, isDelayed: Bool = false) -> [BusSignal] {
        isSleepSignalled = starts
        isPreparing = starts && isDelayed
        return [Self.manager("PrepareForSleep", .bool(starts))]
    }

    mutating func setSeat(_ isThere: Bool) -> [BusSignal] {
        hasSeat = isThere
        return [
            Self.manager(
                isThere ? "SeatNew" : "SeatRemoved", .string(Logind.mainSeat), .objectPath(Self.seatPath))
        ]
    }
}
