// SPDX-License-Identifier: Apache-2.0

/// org.freedesktop.login1(5)'s names.
enum Logind {
    static let name = "org.freedesktop.login1"
    static let path = "/org/freedesktop/login1"
    static let manager = "org.freedesktop.login1.Manager"
    static let seat = "org.freedesktop.login1.Seat"
    static let session = "org.freedesktop.login1.Session"
    static let user = "org.freedesktop.login1.User"
    /// The seat with the machine's own screen; logind gives it no other name.
    static let mainSeat = "seat0"
}

/// What logind is asked.
enum LogindQuestion: Hashable, Sendable {
    /// To send all its signals.
    case signals
    /// Whether the machine is about to sleep.
    case sleep
    /// Where `seat0` is.
    case seat
    /// Which session a seat shows.
    case activeSession(seat: String)
    /// All about one session.
    case session(String)
    /// Where the user is that this service runs as.
    case ownUser(UInt32)
    /// Which sessions a user has.
    case sessions(user: String)

    /// As a call to logind by its unique name; nil for ``signals``, which the bus answers.
    func call(to owner: String) -> BusCall? {
        switch self {
        case .signals: nil
        case .sleep: get("PreparingForSleep", of: Logind.manager, at: Logind.path, owner)
        case .seat: manager("GetSeat", .string(Logind.mainSeat), owner)
        case .activeSession(let seat): get("ActiveSession", of: Logind.seat, at: seat, owner)
        case .session(let session):
            BusCall(
                to: owner, path: session, interface: BusLink.properties, member: "GetAll",
                [.string(Logind.session)])
        case .ownUser(let user): manager("GetUser", .uint32(user), owner)
        case .sessions(let user): get("Sessions", of: Logind.user, at: user, owner)
        }
    }

    private func get(_ name: String, of interface: String, at path: String, _ owner: String) -> BusCall {
        BusCall(
            to: owner, path: path, interface: BusLink.properties, member: "Get",
            [.string(interface), .string(name)])
    }

    private func manager(_ member: String, _ argument: BusValue, _ owner: String) -> BusCall {
        BusCall(to: owner, path: Logind.path, interface: Logind.manager, member: member, [argument])
    }
}
