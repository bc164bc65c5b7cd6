internal import Core
internal import Policy
internal import Sockets
internal import SystemBus
internal import Wire

/// logind as the core's witness of the lock (03 §13).
enum DesktopLock {
    /// The user of `--desktop-user`; nil without one. Throws when there is no such user.
    static func user(_ options: Options) throws(StartFailure) -> UInt32? {
        guard let name = options.desktopUser else { return nil }
        if let user = CurrentProcess.userID(name) { return user }
        throw StartFailure(
            exitCode: 64,
            message: "there is no user '\(name)'. Name the one whose desktop it is with --desktop-user")
    }

    /// Has the core told what logind says, from the moment the bus is there.
    static func follow(on bus: Bus, desktopUser: UInt32?, _ core: SharedCore, log: LogSink) {
        let users = LogindWatcher.Users(configured: desktopUser, own: CurrentProcess.userID)
        let reports = LogindWatcher.Reports(
            witness: { witness in core.enter { core, moment in core.logindSays(witness, moment) } },
            problem: { problem in
                log.log(
                    LogLine(
                        .warning, "logind cannot be read: the host counts as locked", [("problem", problem)]))
            })
        bus.add { LogindWatcher($0, users, reports) }
    }
}
